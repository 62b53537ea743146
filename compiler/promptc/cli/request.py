"""What `promptc render` does, once its command line is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptc.api import Pack
from promptc.cache import open_cache
from promptc.cli.findings import Reporter
from promptc.cli.terminal import COLORS, SHAPES, read_stdin, write_stdout
from promptc.diag.findings import Diagnostic, DiskError, UsageError, join_names, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import read_beginning, read_given
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.model.messages import FORMATS, PROVIDERS
from promptc.model.stages import Selected
from promptc.model.state import State
from promptc.pipeline import Outcome
from promptc.prompt import Prompt

_DOES_NOT_FIT = 3
STDIN = "-"
_STDIN = "-"
_FLAGS = ("--no-cache", "--quiet", "--traceback")
_MANY = ("--only", "--patch", "--set", "--store", "--variant")
_MOOD = "mood"


def run_render(reporter: Reporter, given: RenderAsked) -> int:
    """Prints the prompt; the exit code. Raises `PromptcError`."""
    _check_asked(given)
    with open_pack(given.pack, is_cached=given.is_cached) as pack:
        return _render(reporter, pack, given)


def _check_asked(given: RenderAsked) -> None:
    """`UsageError` for options that do not go together (PC0708, PC0709)."""
    provider = given.asked.format if given.asked.format in PROVIDERS else None
    if provider is not None and given.only:
        help = "use `--format text` or `--format messages` with `--only`"
        raise UsageError([Diagnostic("PC0708", f"`--only` prints sections, and `--format {provider}` a whole request body", help=help)])
    if provider is None and given.model is not None:
        help = f"add `--format` with one of {join_names(PROVIDERS)}"
        raise UsageError([Diagnostic("PC0709", "`--model` stands in a request body, and no provider is asked for", help=help)])


def _render(reporter: Reporter, pack: Pack, given: RenderAsked) -> int:
    outcome = compile_asked(pack, load_state_file(pack, given.state, given.asked), given.asked)
    data, said = _encode(Prompt(outcome), given) if outcome.emitted is not None else (b"", ())
    if given.report is not None:
        _write_report(given.report, outcome)
    if outcome.emitted is None:
        return _tell_what_is_missing(reporter, outcome)
    if given.output is not None:
        from promptc.files.atomic import write_file

        write_file(given.output, data)
    else:
        write_stdout(data)
    reporter.report((*outcome.warnings, *said))
    if given.only and not data.strip(b"[]\n"):
        reporter.say(f"nothing of {join_names(given.only)} is in the prompt; `promptc explain ... --why {given.only[0]}` tells why\n")
    return 0


def _encode(prompt: Prompt, given: RenderAsked) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """The bytes to print: of the whole prompt, of some sections, or of a request body, with what was said while that was made."""
    if prompt.format == "text":
        return (prompt.find_section(*given.only) if given.only else prompt.text).encode(), ()
    if prompt.provider is None:
        return _encode_json(prompt.find_messages(*given.only) if given.only else prompt.messages), ()
    payload = prompt.build_payload(prompt.provider, given.model)
    return _encode_json(payload.body), payload.warnings


def _encode_json(value: Any) -> bytes:
    import json

    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _write_report(path: str, outcome: Outcome) -> None:
    from promptc.files.atomic import write_file
    from promptc.text.json import render_canonical_json

    write_file(path, f"{render_canonical_json(outcome.report)}\n".encode())


def _tell_what_is_missing(reporter: Reporter, outcome: Outcome) -> int:
    from promptc.cli.views.meter import render_meter

    reporter.report((*outcome.warnings, *outcome.errors))
    reporter.say("\n" + render_meter(outcome))
    return _DOES_NOT_FIT


def open_pack(path: str, *, is_cached: bool) -> Pack:
    """The pack at `path`, from the user's cache if that may be used and has it; to be used in a `with`, which keeps what is new."""
    return Pack.load(path, open_cache() if is_cached else None)


def load_state_file(pack: Pack, name: str, asked: RenderRequest) -> State:
    """The state in the file `name` (`-`: standard input) with what `--set` changes. `DiskError` (PC0724) when it cannot be read."""
    if name == STDIN:
        return pack.load_state(read_stdin(), "stdin", changes=asked.changes)
    try:
        raw = read_given(name, MAX_STATE_BYTES)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        help = "name a JSON file, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read the state `{name}`: {reason}", help=help)]) from wrong
    return pack.load_state(raw, name, changes=asked.changes)


def compile_asked(pack: Pack, state: State, asked: RenderRequest, *, without: tuple[str, ...] = (), budget: int | None = None) -> Outcome:
    """The render that was asked for; `budget` in place of the asked one."""
    return pack.compile(
        state,
        budget=budget if budget is not None else asked.budget,
        variants=asked.variants,
        patches=asked.patches,
        format=asked.format,
        without=without,
        stores=asked.stores,
    )


def find_selected(outcome: Outcome, name: str) -> Selected:
    """The section of that id as it was selected. `UsageError` (PC0704) when the pack has none."""
    selection = outcome.fitted.strained.selection
    found = selection.find_selected(name)
    if found is None:
        help = suggest(name, [one.section.id for one in selection.sections])
        raise UsageError([Diagnostic("PC0704", f"the pack has no section `{name}`", help=help)])
    return found


def read_bytes(name: str, what: str, *, limit: int) -> bytes:
    """The bytes of the file `name`, or of standard input for `-`. `DiskError` (PC0724) when it cannot be read or has more than `limit`.
    `what` says what it is for, such as `the state`.
    """
    return _read(name, what, limit, read_given)


def read_first(name: str, what: str, *, size: int) -> bytes:
    """The same, but at most the first `size` bytes of a file, and never too many."""
    return _read(name, what, size, read_beginning)


def _read(name: str, what: str, bound: int, read: Callable[[str, int], bytes]) -> bytes:
    if name == _STDIN:
        return read_stdin()
    try:
        return read(name, bound)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        help = "name a file that is there, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read {what} {name}: {reason}", help=help)]) from wrong


def is_count(given: str) -> bool:
    """Whether an argument is a whole number from 1 to 999999999."""
    return given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0


_ONE: dict[str, Callable[[str], bool]] = {
    "--budget": is_count,
    "--color": COLORS.__contains__,
    "--diagnostics": SHAPES.__contains__,
    "--format": FORMATS.__contains__,
    "--model": lambda given: True,
    "--mood": lambda given: True,
    "--output": lambda given: True,
    "--report": lambda given: True,
}


def read_render(arguments: Sequence[str]) -> RenderAsked | None:
    """What `render PACK STATE` with known long options asks for; None for any other command line, and for one that may be wrong.

    Raises `UsageError` (PC0721) for a variant or a change that is not of its form.
    """
    if not arguments or arguments[0] != "render":
        return None
    places, found = _split(arguments[1:]) or ([], {})
    if len(places) != 2 or not all(places):
        return None
    budget, format = found.get("--budget"), found.get("--format")
    asked = read_asked(
        int(budget[-1]) if budget else None,
        found.get("--variant", ()),
        _find_last(found, "--mood"),
        found.get("--patch", ()),
        format[-1] if format else None,
        found.get("--set", ()),
        found.get("--store", ()),
    )
    only, output, report = tuple(found.get("--only", ())), _find_last(found, "--output"), _find_last(found, "--report")
    model = _find_last(found, "--model")
    return RenderAsked(places[0], places[1], asked, only, output, report, "--no-cache" not in found, model)


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    """The arguments that stand by themselves, and the values of each option; None where anything is not plain."""
    places: list[str] = []
    found: dict[str, list[str]] = {}
    rest = iter(arguments)
    for one in rest:
        name, equals, value = one.partition("=")
        if one == "-" or not one.startswith("-"):
            places.append(one)
        elif one in _FLAGS:
            found[one] = []
        elif name in _MANY or name in _ONE:
            value = value if equals else next(rest, "-")
            if value.startswith("-") or not _ONE.get(name, bool)(value):
                return None
            found.setdefault(name, []).append(value)
        else:
            return None
    return places, found


def _find_last(found: dict[str, list[str]], name: str) -> str | None:
    return found[name][-1] if name in found else None


@frozen
class RenderRequest:
    """What a command line asks of a render in place of the pack's and the state's own choice."""

    budget: int | None
    variants: dict[str, str]
    patches: tuple[str, ...]
    format: str | None
    changes: tuple[tuple[str, str], ...]
    stores: dict[str, str]


@frozen
class RenderAsked:
    """The command line of a render."""

    pack: str
    state: str
    asked: RenderRequest
    only: tuple[str, ...] = ()
    output: str | None = None
    report: str | None = None
    is_cached: bool = True
    model: str | None = None


def read_asked(
    budget: int | None,
    variant: Sequence[str],
    mood: str | None,
    patch: Sequence[str],
    format: str | None,
    set: Sequence[str],
    store: Sequence[str] = (),
) -> RenderRequest:
    """The options of that name. `UsageError` (PC0721) for a variant, a change or a store that is not of its form."""
    variants = _read_variants([*variant, *([f"{_MOOD}={mood}"] if mood is not None else [])])
    return RenderRequest(budget, variants, tuple(patch), format, _read_changes(set), read_stores(store))


def _read_variants(given: Sequence[str]) -> dict[str, str]:
    variants: dict[str, str] = {}
    for one in given:
        axis, equals, case = one.partition("=")
        if not equals or not axis:
            raise _refuse("--variant", one, "AXIS=CASE")
        if variants.get(axis, case) != case:
            found = f"the axis `{axis}` is given two cases: `{variants[axis]}` and `{case}`"
            raise UsageError([Diagnostic("PC0721", found, help="give it one")])
        variants[axis] = case
    return variants


def _read_changes(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    changes = []
    for one in given:
        pointer, equals, text = one.partition("=")
        if not equals:
            raise _refuse("--set", one, "POINTER=JSON")
        changes.append((pointer, text))
    return tuple(changes)


def read_stores(given: Sequence[str]) -> dict[str, str]:
    """URLs by the names of stores. `UsageError` (PC0721) for what is not NAME=URL; a URL may hold a password, so it is not shown."""
    stores: dict[str, str] = {}
    for one in given:
        name, equals, url = one.partition("=")
        if not equals or not name or not url:
            raise UsageError(
                [Diagnostic("PC0721", "`--store` is not of the form NAME=URL", help="such as `--store main=sqlite:segments.db`")]
            )
        if stores.get(name, url) != url:
            raise UsageError([Diagnostic("PC0721", f"the store `{name}` is given two URLs", help="give it one")])
        stores[name] = url
    return stores


def _refuse(option: str, given: str, shape: str) -> UsageError:
    return UsageError([Diagnostic("PC0721", f"`{option} {given}` is not of the form {shape}", help=f"`{option} {shape}`, with an `=`")])
