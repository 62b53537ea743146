"""Findings, the errors that carry them, what each code means, and the words of messages.

A `Diagnostic` is one finding at a `Span`. A `PromptcError` carries the findings of a stage, and its `exit_code` is that of the command
line. `show_value`, `name_kind`, `suggest` and the like put an author's values and names into messages, which contain no word of Python's.
`check_arguments` raises findings about what a program passes to the library.
"""

from __future__ import annotations

import re
from _json import encode_basestring
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from os import PathLike, fsencode

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, ClassVar, Literal
from promptc.version import DOCUMENTATION

Level = Literal["error", "warn", "note"]
_RANKS: dict[Level, int] = {"error": 0, "warn": 1, "note": 2}
LONGEST = 60
"""The number of characters of a value that a message shows."""

_EXCERPT = 400


class PromptcError(Exception):
    """The pack, a template or the state is not valid, does not fit, or exceeds a limit.

    `diagnostics` contains every finding, errors first. `exit_code` is the exit code of the command line.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = sort_diagnostics(diagnostics)
        super().__init__("\n".join(str(found) for found in self.diagnostics))


class DiskError(PromptcError):
    """A file, a store or an index cannot be read or written."""

    exit_code: ClassVar[int] = 4


class UsageError(PromptcError):
    """The call is wrong: it names a variant, patch, section, operation or format that is not there, or an argument has the wrong type."""

    exit_code: ClassVar[int] = 2


class FitError(PromptcError):
    """The prompt does not fit its budget. `report` says what was tried, and how many tokens are missing."""

    def __init__(self, diagnostics: Iterable[Diagnostic], report: dict[str, Any]) -> None:
        super().__init__(diagnostics)
        self.report = report


class Collecting:
    """A block that adds the findings of a `PromptcError` to a list and ends there.

    A `DiskError` is raised: what cannot be read may be valid.
    """

    def __init__(self, found: list[Diagnostic]) -> None:
        self._found = found

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Return whether the error was collected."""
        if not isinstance(error, PromptcError) or isinstance(error, DiskError):
            return False
        self._found.extend(error.diagnostics)
        return True


def fail(code: str, message: str, span: Span | None = None, *, help: str = "", level: Level = "error") -> PromptcError:
    """Return the error of a single finding, for the caller to raise."""
    return PromptcError([Diagnostic(code, message, span, help, level)])


@frozen
class Diagnostic:
    """One finding. Its `str()` is one line.

    - `code`: its code, such as `PC0201`.
    - `message`: what is wrong.
    - `span`: where, with `file`, `line`, `column` and `excerpt`. It is None if the finding has no place.
    - `help`: what would fix it.
    - `level`: `error`, `warn` or `note`.
    - `removable`: a key or an entry of the manifest that can be removed without changing any prompt. It is None if that is not certain.
    """

    code: str
    message: str
    span: Span | None = None
    help: str = ""
    level: Level = "error"
    removable: Span | None = None

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span else ""
        return f"{place}{self.code} {self.message}"


def sort_diagnostics(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort errors before warnings before notes, each by file, line, column, code and message, and keep equal ones once.

    Findings without a place come last in their level.
    """
    return tuple(sorted(dict.fromkeys(found), key=_place))


def _place(found: Diagnostic) -> tuple[int, bool, str, int, int, str, str]:
    span = found.span
    return (
        _RANKS[found.level],
        span is None,
        span.file if span else "",
        span.line if span else 0,
        span.column if span else 0,
        found.code,
        found.message,
    )


@frozen
class Span:
    """One place: a file as shown to its author, a line and a column (both from 1, in characters), and the text of the line.

    The excerpt of a long line is a part of it, after `skipped` characters.
    """

    file: str
    line: int
    column: int
    excerpt: str = ""
    skipped: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@frozen
class Source:
    """A text file: the name by which its author knows it, and its text, with line ends as `\\n`."""

    name: str
    text: str

    def span(self, line: int, column: int) -> Span:
        """Return the place at `line` and `column`, both from 1. Its excerpt is empty if there is no such line."""
        lines = self.text.split("\n", line)
        return Span(self.name, line, column, lines[line - 1][:_EXCERPT] if 0 < line <= len(lines) else "")


# --- words of messages ---


def count_noun(number: float, noun: str) -> str:
    """Return a count for a sentence: `1 token`, `2 tokens`, `1.5 seconds`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def show_plural(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 item`, `2 items`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"


def show_share(share: int) -> str:
    """Return parts per million as a percentage, exact and as short as possible: `99.9 %`."""
    whole, rest = divmod(share, 10_000)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".") + " %"


def show_reason(wrong: Exception) -> str:
    """Return why a call of the system failed, without the number and the path of the error."""
    return getattr(wrong, "strerror", None) or str(wrong)


def suggest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return `did you mean \\`x\\`?` for the nearest known word, or else the help of `offer_names` if there are few, or else nothing.

    `cutoff` is how similar two words must be, from 0 to 1. Short words are easily similar.
    """
    names = sorted(set(known))
    near = find_near(word, names, cutoff=cutoff)
    if near is not None:
        return f"did you mean `{near}`?"
    return offer_names(names) if len(names) <= 12 else ""


def find_near(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known word that is most like `word`, or None if none is similar enough."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word[:80], sorted(set(known)), n=1, cutoff=cutoff)), None)


def offer_names(names: Iterable[str]) -> str:
    """Return the help that lists the choices: `choose one of \\`a\\`, \\`b\\``; empty if there are none."""
    shown = [*names]
    return f"choose one of {join_names(shown)}" if len(shown) > 1 else f"there is only `{shown[0]}`" if shown else ""


def join_names(names: Iterable[object]) -> str:
    """Return names as a list for a sentence: `` `a`, `b` ``."""
    return ", ".join(f"`{name}`" for name in names)


def join_some(shown: Sequence[str], most: int) -> str:
    """Return the first `most` texts as a list for a sentence, and how many there are besides: `a, b and 3 more`."""
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def shorten(text: str, longest: int = LONGEST) -> str:
    """Cut a name or text for a message, since an author's may be of any length."""
    return text if len(text) <= longest else f"{text[:longest]}…"


_WORDS = {None: "null", True: "true", False: "false"}

_NO_TEXT = (
    r"~|null|Null|NULL|[Tt]rue|TRUE|[Ff]alse|FALSE|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)"
    r"|[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
)
"""A pattern of the texts that YAML reads as something else, unless they are quoted."""

UNMADE = "a sequence that is not a list yet"
"""The name of the results of `map`, `select` and the like before `list`."""

_KINDS = {
    "NoneType": "none",
    "generator": UNMADE,
    "str": "a string",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "list": "a list",
    "tuple": "a list",
    "range": "a range",
    "Group": "a group",
    "dict": "a mapping",
    "Missing": "an undefined value",
    "Blank": "an undefined value",
    "Macro": "a macro",
    "Namespace": "a namespace",
    "Loop": "the loop",
    "Module": "an imported template",
    "Cycler": "a cycler",
    "Joiner": "a joiner",
    "function": "a function",
    "BlockCall": "a block",
    "TemplateBlocks": "the template itself",
}


def show_value(value: Any) -> str:
    """Return a value as its author writes it: `ten`, `"10"`, 10, true, null, `{"id": "ada"}`. What is not data is shown by its kind.

    The result has at most `LONGEST` characters of the value, at a cost that does not grow with the value.
    """
    if isinstance(value, str):
        return f"`{_spell(value)}`" if value else "an empty string"
    if isinstance(value, list | tuple | Mapping):
        return f"`{_write(value)}`" if value else f"an empty {'mapping' if isinstance(value, Mapping) else 'list'}"
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    return shorten(str(value)) if isinstance(value, int | float) else name_kind(value)


def _spell(text: str) -> str:
    """Return a text, quoted if it would not be the same text without quotes."""
    head = text[:LONGEST]
    is_other = head == text and re.fullmatch(_NO_TEXT, text)
    is_plain = head.isprintable() and head == head.strip() and head[0] not in "{[\"'" and not is_other
    return shorten(text if is_plain else encode_basestring(text[: LONGEST + 1]))


def _write(value: Any) -> str:
    made = ""
    for piece in _iter_json(value):
        made += piece
        if len(made) > LONGEST:
            break
    return shorten(made)


def _iter_json(value: Any) -> Iterator[str]:
    """Yield JSON in pieces. Each level begins with a piece of its own, so a caller that stops early does not go deep."""
    if isinstance(value, Mapping):
        for place, (key, inner) in enumerate(value.items()):
            yield f"{', ' if place else '{'}{encode_basestring(str(key)[: LONGEST + 1])}: "
            yield from _iter_json(inner)
        yield "}" if value else "{}"
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield ", " if place else "["
            yield from _iter_json(inner)
        yield "]" if value else "[]"
    elif isinstance(value, str):
        yield encode_basestring(value[: LONGEST + 1])
    else:
        yield show_value(value)


def name_kind(value: object) -> str:
    """Return what an author calls a value like this: "a string", "a list", "none" ..."""
    kind = type(value).__name__
    return name_type("generator" if kind not in _KINDS and hasattr(value, "__iter__") else kind)


def name_type(kind: str) -> str:
    """Return what an author calls values of the Python type of that name."""
    return _KINDS.get(kind, "something that is not data")


@frozen
class Code:
    """The documentation of a diagnostic code.

    It has the code's name, its usual level, a one-line summary, why it is a finding, an example that causes it (`bad`), how to fix it, and
    the fixed example (`good`). `good` is empty if the fix is not an edit.
    """

    name: str
    level: Level
    summary: str
    why: str
    bad: str
    fix: str
    good: str = ""

    @property
    def url(self) -> str:
        """The URL of the code's documentation, which never changes."""
        return f"{DOCUMENTATION}/reference/codes.html#{self.name.lower()}"


FAMILIES = {
    "PC01": "Reading: files, YAML, JSON, paths, stores, counters, indexes",
    "PC02": "The manifest",
    "PC03": "The state and its schema",
    "PC04": "Templates and expressions",
    "PC05": "Rendering: choosing, fitting, cutting",
    "PC06": "Advice of `promptc check`",
    "PC07": "The command line and the Python API",
    "PC08": "Operations on a state, and `promptc apply`",
    "PC09": "Cases and goldens",
}
"""The subjects of codes, by their first four characters."""


VERBOSE = frozenset({"PC0654", "PC0655", "PC0656"})
"""The codes of notes that are only shown on request: they describe a pack, and require nothing."""


def find_code(name: str) -> Code | None:
    """Return the entry of a code such as `PC0123`, or None."""
    return load_codes().get(name)


@cache
def load_codes() -> Mapping[str, Code]:
    """Return every code by its name, in order of number, from `codes.toml`.

    The file is read when the first code is looked up, since a finding itself needs none of it.
    """
    import tomllib
    from pathlib import Path

    tables = tomllib.loads(Path(__file__).with_name("codes.toml").read_text(encoding="utf-8"))
    return {name: Code(name=name, **texts) for name, texts in tables.items()}


# --- the arguments of the library's calls ---


def check_arguments(call: str = "", **given: Any) -> None:
    """Raise `UsageError` (PC0755) for arguments of the wrong type. Names that mean something else in this `call` are looked up with it."""
    found = []
    for name, value in given.items():
        is_right, wanted, example = _ARGUMENTS.get(f"{call}.{name}") or _ARGUMENTS[name]
        if not is_right(value):
            found.append(Diagnostic("PC0755", f"`{name}` is {show_value(value)}, not {wanted}", help=f"pass, for example, `{example}`"))
    if found:
        raise UsageError(found)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_path(value: Any) -> bool:
    if not isinstance(value, str | PathLike):
        return False
    try:
        return b"\0" not in fsencode(value) and (isinstance(value, str) or isinstance(value.__fspath__(), str))
    except (TypeError, UnicodeEncodeError):
        return False


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes) and all(map(_is_text, value))


def _is_list_of_pairs(value: Any) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return False
    return all(isinstance(one, list | tuple) and len(one) == 2 and all(map(_is_text, one)) for one in value)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value))


def _is_mapping_of_texts(value: Any) -> bool:
    return _is_mapping(value) and all(map(_is_text, value.values()))


def _is_whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _or_none(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_right(value)


_PAIRS = "a list of pairs of strings"

_ARGUMENTS: Mapping[str, tuple[Callable[[Any], bool], str, str]] = {
    "path": (_is_path, "a path", 'path="pack.yaml"'),
    "models": (_or_none(_is_path), "a path", 'models="models.toml"'),
    "check.models": (_is_list, "a list of strings", 'models=["gpt-4o"]'),
    "tries": (_is_list_of_pairs, _PAIRS, 'tries=[("budget", "4000")]'),
    "name": (_is_text, "a string", 'name="state.json"'),
    "changes": (_is_list_of_pairs, _PAIRS, 'changes=[("/turn", "4")]'),
    "budget": (_or_none(_is_whole_number), "a whole number", "budget=4000"),
    "model": (_or_none(_is_text), "a string", 'model="gpt-4o"'),
    "variants": (_or_none(_is_mapping_of_texts), "a mapping of strings", 'variants={"mood": "calm"}'),
    "patches": (_is_list, "a list of strings", 'patches=["terse"]'),
    "edits": (_is_list, "a list of strings", 'edits=["{budget: 900}"]'),
    "format": (_or_none(_is_text), "a string", 'format="messages"'),
    "without": (_is_list, "a list of strings", 'without=["rules"]'),
    "stores": (_or_none(_is_mapping_of_texts), "a mapping of strings", 'stores={"lore": "sqlite:lore.db"}'),
    "sources": (_or_none(_is_mapping_of_texts), "a mapping of strings", 'sources={"lore": "sqlite:lore.db"}'),
    "given": (_or_none(_is_mapping), "a mapping whose keys are strings", 'given={"answers": {}}'),
    "operation": (_is_text, "a string", 'operation="checkpoint"'),
    "args": (_or_none(_is_mapping), "a mapping whose keys are strings", 'args={"keep": 5}'),
    "answers": (_or_none(_is_mapping_of_texts), "a mapping of strings", 'answers={"summary": "They met."}'),
    "archive": (_or_none(_is_path), "a path", 'archive="archive"'),
    "wait": (_is_number, "a number", "wait=30"),
    "if_state": (_or_none(_is_text), "a string", "if_state=state.digest"),
    "prompt": (lambda value: hasattr(value, "response"), "a `Prompt`", "prompt=pack.render(state)"),
    "text": (_is_text, "a string", 'text="[]"'),
    "answer": (_is_text, "a string", 'answer="They met."'),
    "provider": (_is_text, "a string", 'provider="openai"'),
}
"""By name, perhaps after that of its call: the check of an argument, the same in words, and an example."""
