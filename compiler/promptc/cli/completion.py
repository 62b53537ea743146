"""Completion with the Tab key: the protocol of the scripts of four shells, and the values that a pack, its state or its cases offer.

A script, such as `completion.bash` next to this module, runs `promptc` with `_PROMPTC_COMPLETE` set to its shell, and reads lines of
`KIND<tab>VALUE<tab>HELP`. KIND is `plain`, `open` for a value that continues, or `file` or `dir`, which the shell completes itself
(PowerShell completes files itself if it is offered nothing). Completion only reads files, and runs nothing of a pack. A pack with a mistake
offers no values, because completion cannot show messages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import click
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

from promptc.cli.terminal import escape_controls, write_stdout
from promptc.diag.findings import FAMILIES, PromptcError, load_codes
from promptc.diag.typed import Any
from promptc.files.paths import read_pack_file
from promptc.files.reading import read_given
from promptc.frontend.json import load_json
from promptc.frontend.manifest import iter_numbers, load_manifest
from promptc.model.pack import MANIFEST
from promptc.model.state import Node
from promptc.text.json import extend_pointer, find_at

_VARIABLE = "_PROMPTC_COMPLETE"
_LINE, _WORDS, _WORD = "_PROMPTC_LINE", "_PROMPTC_WORDS", "_PROMPTC_WORD"
_SAFE = re.compile(r"[\w./=~+:@%-]+")
"""The values that may be offered: a name from someone else's file must not have a meaning in a shell. Nor may it be an option."""

_BREAKS = "=:"
"""The characters at which bash, unlike the other shells, ends a word."""

_MOST_STATE = 1_000_000
_MOST = 500
_MOST_HELP = 60
_DEEPEST = 32
_CASES = ("fixtures", "packs")

Offer = tuple[str, str]
"""A value and its description. A value that ends in `=` or `/` continues."""


# --- the protocol ---


def answer_shell(group: click.Group, shell: str) -> int:
    """Print the completions for the words in the shell's variables; nothing for an invalid command line. Returns 0."""
    typed, word, current = _read_words(shell)
    words = list(map(os.path.expanduser, typed))
    try:
        items = _Completer(group, {"obj": words[1:]}, "promptc", _VARIABLE).get_completions(words[1:], word)
    except (PromptcError, click.ClickException, click.exceptions.Exit, OSError, ValueError):
        items = []
    cut = len(word) - len(current) if word.endswith(current) else 0
    write_stdout("".join(_render(item, cut) for item in items).encode())
    return 0


def _read_words(shell: str) -> tuple[list[str], str, str]:
    """Return the words before the word to complete, that word, and the part of it that the shell treats as the word."""
    if shell != "bash":
        word = os.environ.get(_WORD, "")
        return os.environ.get(_WORDS, "").split("\n"), word, word
    line = os.environ.get(_LINE, "")
    words = split_arg_string(line)
    word = words.pop() if words and not line[-1:].isspace() else ""
    current = os.environ.get(_WORD, "")
    return words, word, "" if current in _BREAKS else current


class _Completer(ShellComplete):
    """A completer that offers the values of `--name=value` as whole words, as shells expect."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return click's completions, with the option's name before the values of `--name=value`."""
        name, equals, _ = incomplete.partition("=")
        lead = f"{name}=" if equals and name.startswith("--") else ""
        items = super().get_completions(args, incomplete)
        return [CompletionItem(f"{lead}{one.value}", type=one.type, help=one.help) if _is_value(one) else one for one in items]


def _is_value(item: CompletionItem) -> bool:
    return item.type in ("plain", "open")


def _render(item: CompletionItem, cut: int) -> str:
    if not _is_value(item):
        return f"{item.type}\t\t\n"
    if not _SAFE.fullmatch(str(item.value)):
        return ""
    help = escape_controls(" ".join((item.help or "").split()))[:_MOST_HELP]
    return f"{item.type}\t{str(item.value)[cut:]}\t{help}\n"


# --- the offers ---


def list_values(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the possible values of `param`, from the files that the line names so far; and files, if it can be a file."""
    try:
        named = _parse_again(ctx) if isinstance(param, click.Option) else ctx
        begun = incomplete.upper() if param.name == "code" else incomplete
        offers = list(_iter_fitting(_OFFERS[str(param.name)](named), begun))
    except (PromptcError, OSError, ValueError):
        offers = []
    items = [CompletionItem(value, type="open" if value[-1] in "=/" else "plain", help=what) for value, what in offers]
    return [*items, CompletionItem("", type="file")] if param.name in _OR_FILES else items


def _parse_again(ctx: click.Context) -> click.Context:
    """Parse the line without an option that has no value yet: click reads no arguments of a line that ends in one."""
    words = list(ctx.obj)
    for name in ctx.command_path.split()[1:]:
        words = words[words.index(name) + 1 :]
    own = words[:-1] if words and words[-1].startswith("-") else words
    return ctx.command.make_context(ctx.info_name, own, parent=ctx.parent, resilient_parsing=True)


def _iter_fitting(offers: Iterable[Offer], incomplete: str) -> Iterator[Offer]:
    """Yield the offers that begin with `incomplete`, up to their next `/`: thousands of cases are offered folder by folder."""
    met: set[str] = set()
    for value, what in offers:
        if not value.startswith(incomplete) or not _SAFE.fullmatch(value) or value.startswith("-"):
            continue
        inside, slash, rest = value[len(incomplete) :].partition("/")
        shown = (incomplete + inside + slash, "" if rest else what)
        if shown[0] not in met:
            met.add(shown[0])
            yield shown
        if len(met) == _MOST:
            return


def _read_pack(ctx: click.Context) -> Node:
    """Return the manifest of the pack that the line names (as PACK or CASES), or of the current folder."""
    return load_manifest(Path(ctx.params.get("pack") or next(iter(ctx.params.get("cases") or ()), ".")))


def _iter_keys(ctx: click.Context, key: str, what: str) -> Iterator[Offer]:
    node = _read_pack(ctx).get(key)
    yield from ((name, what) for name, _ in node.items()) if node is not None else ()


def _iter_sections(ctx: click.Context) -> Iterator[Offer]:
    for name, section in _read_pack(ctx).value["sections"].items():
        yield name, section.find_text("note") or "section"


def _iter_budgets(ctx: click.Context) -> Iterator[Offer]:
    from promptc.workshop.tune import list_knobs

    yield from ((owner, "budget") for owner in dict.fromkeys(knob.owner for knob in list_knobs(_read_pack(ctx))) if owner != "budget")


def _iter_cases(ctx: click.Context) -> Iterator[tuple[str, str]]:
    variants = _read_pack(ctx).get("variants")
    for axis, node in variants.items() if variants is not None else ():
        yield from ((axis, case) for case in node.value["cases"].value)


def _iter_indexes(ctx: click.Context) -> Iterator[Offer]:
    given = ctx.params.get("index") or ()
    yield from (one for one in _iter_keys(ctx, "indexes", "index") if one[0] not in given)


def _iter_stores(ctx: click.Context) -> Iterator[Offer]:
    """Yield values of `--store`: NAME for `promptc segments`, NAME=URL for a render."""
    is_name = "url" in ctx.params
    yield from ((name if is_name else f"{name}=", what) for name, what in _iter_keys(ctx, "stores", "store"))


def _iter_operations(ctx: click.Context) -> Iterator[Offer]:
    """Yield the operations, unless the line already has one or needs none."""
    if ctx.params.get("words") or ctx.params.get("answered") or ctx.params.get("is_list") or ctx.params.get("restore"):
        return
    operations = _read_pack(ctx).get("operations")
    for name, node in operations.items() if operations is not None else ():
        yield name, node.find_text("title") or "operation"


def _iter_of_operation(ctx: click.Context, key: str, ending: str) -> Iterator[Offer]:
    """Yield the arguments or questions of the operation that the line names, or of all operations."""
    given = [*(ctx.params.get("words") or ()), *(ctx.params.get("answered") or ())][:1]
    operations = _read_pack(ctx).get("operations")
    for name, node in operations.items() if operations is not None else ():
        found = node.get(key)
        if found is not None and (not given or name == given[0]):
            yield from ((f"{one}{ending}", f"of {name}") for one, _ in found.items())


def _iter_case_names(_: click.Context) -> Iterator[Offer]:
    """Yield the names of cases in `fixtures` and `packs`, or of the pack in the current folder."""
    from promptc.golden.cases.confine import choose_root, name_case
    from promptc.golden.cases.discover import iter_cases

    for place in iter_cases(_list_places()):
        if place.is_case:
            yield name_case(place.folder, choose_root(place.folder)), "case"


def _iter_pending(_: click.Context) -> Iterator[Offer]:
    from promptc.golden.verdicts.pending import list_pending

    yield from ((one.case, one.status) for one in list_pending(_list_places()))


def _list_places() -> list[str]:
    """Return the folders to search. Never a folder that may be a home folder, which would take too long."""
    found = [name for name in _CASES if Path(name).is_dir()]
    return found or (["."] if Path(MANIFEST).is_file() else [])


def _iter_codes(_: click.Context) -> Iterator[Offer]:
    yield from FAMILIES.items()
    yield from ((code.name, code.summary) for code in load_codes().values())


def _iter_models(_: click.Context) -> Iterator[Offer]:
    from promptc.model.budget import load_models

    yield from ((one.name, one.provider) for one in load_models().models.values())


def _iter_commands(ctx: click.Context) -> Iterator[Offer]:
    """Yield the commands of promptc, or of the group that the line names."""
    found: click.Command | None = ctx.find_root().command
    for word in ctx.params.get("asked") or ():
        found = found.get_command(ctx, word) if isinstance(found, click.Group) else None
    if isinstance(found, click.Group):
        yield from ((name, "") for name in found.list_commands(ctx))


# --- paths in a state ---


def _iter_pointers(ctx: click.Context) -> Iterator[Offer]:
    """Yield JSON pointers into a state: from its schema, then from the state itself if it is a small file."""
    manifest = _read_pack(ctx)
    state, met = manifest.get("state"), set[str]()
    node = state.get("schema") if state is not None else None
    paths: list[tuple[str, str]] = []
    if node is not None:
        schema = load_json(read_pack_file(node.folder, str(node.value), node.span), str(node.value)).value
        paths += _iter_schema(schema, schema, "", 0)
    paths += _iter_state(_read_state(str(ctx.params.get("state") or "")), "", 0)
    for pointer, what in paths:
        if pointer not in met:
            met.add(pointer)
            yield f"{pointer}=", what


def _iter_schema(schema: Any, whole: Any, pointer: str, depth: int) -> Iterator[Offer]:
    found = _follow(schema, whole)
    named = found.get("properties")
    for name, one in named.items() if isinstance(named, Mapping) and depth < _DEEPEST else ():
        inner, path = _follow(one, whole), extend_pointer(pointer, name)
        kind = inner.get("type")
        yield path, str(inner.get("description") or (kind if isinstance(kind, str) else ""))
        yield from _iter_schema(inner, whole, path, depth + 1)


def _follow(schema: Any, whole: Any) -> Mapping[str, Any]:
    """Return a schema, or the schema in the same file that it refers to."""
    found = schema
    for _ in range(_DEEPEST):
        reference = found.get("$ref") if isinstance(found, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found = find_at(whole, reference[1:])
    return found if isinstance(found, Mapping) else {}


def _read_state(path: str) -> Any:
    """Return the state, or None for a pipe (which can be read only once), a long file, or a file that is not JSON."""
    try:
        return load_json(read_given(path, _MOST_STATE), path).value if Path(path).is_file() else None
    except (PromptcError, OSError, ValueError):
        return None


def _iter_state(value: Any, pointer: str, depth: int) -> Iterator[Offer]:
    entries: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in entries if depth < _DEEPEST else ():
        path = extend_pointer(pointer, name)
        yield path, "" if isinstance(inner, dict | list) else str(inner)
        yield from _iter_state(inner, path, depth + 1)


_OFFERS: Mapping[str, Callable[[click.Context], Iterable[Offer]]] = {
    "variant": lambda ctx: ((f"{axis}={case}", "case") for axis, case in _iter_cases(ctx)),
    "mood": lambda ctx: ((case, "mood") for axis, case in _iter_cases(ctx) if axis == "mood"),
    "patch": lambda ctx: _iter_keys(ctx, "patches", "patch"),
    **dict.fromkeys(("only", "why", "stages", "without", "section", "item"), _iter_sections),
    "set": _iter_pointers,
    "sweep": lambda ctx: ((path, node.raw) for path, node in iter_numbers(_read_pack(ctx))),
    "try": lambda ctx: ((f"{path}=", node.raw) for path, node in iter_numbers(_read_pack(ctx))),
    "store": _iter_stores,
    "index": _iter_indexes,
    **dict.fromkeys(("words", "answered"), _iter_operations),
    "args": lambda ctx: _iter_of_operation(ctx, "args", "="),
    "answers": lambda ctx: _iter_of_operation(ctx, "asks", "="),
    "ask": lambda ctx: _iter_of_operation(ctx, "asks", ""),
    **dict.fromkeys(("cases", "expression", "shown", "tuned"), _iter_case_names),
    "weights": lambda ctx: ((f"sections.{name}=", what) for name, what in _iter_sections(ctx)),
    "pins": _iter_budgets,
    "patterns": _iter_pending,
    "code": _iter_codes,
    **dict.fromkeys(("model", "names"), _iter_models),
    "asked": _iter_commands,
}
"""The sources of values, by click's names of options and arguments."""

_OR_FILES = frozenset(("words", "answered", "cases", "shown", "tuned", "patterns"))
