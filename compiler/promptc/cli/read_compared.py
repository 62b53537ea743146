"""What `promptc diff` is given: a pack, a state or a prompt, of the working folder or of a git revision."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir
from pathlib import Path

from promptc.api import Pack
from promptc.cli.asked import RenderRequest
from promptc.cli.compile_asked import STDIN, compile_asked, load_state_file
from promptc.cli.extract_revision import extract_revision
from promptc.cli.read_bytes import read_bytes
from promptc.cli.terminal import read_stdin
from promptc.compare import Side, is_messages, read_json, read_report, read_side
from promptc.diag.findings import Diagnostic, DiskError, FitError, UsageError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Literal
from promptc.golden.cases.case import find_kind, name_golden
from promptc.model.state import State
from promptc.prompt import Prompt

Kind = Literal["pack", "state", "prompt"]

_MOST = 1 << 30
_HELP = "name a pack, a state or a prompt, or REV:PATH for one of a git revision"


@frozen
class Compared:
    """One of the two. `name` is how it was given, `path` where it is looked for in `root` (None: the working folder). `content` is what
    standard input held, where that is it.
    """

    name: str
    kind: Kind
    path: str
    root: Path | None = None
    content: bytes | None = None


def find_compared(name: str, stack: ExitStack) -> Compared:
    """What `name` is. Files of a revision stay until `stack` is closed. `UsageError` (PC0740) for what cannot be compared."""
    if name == STDIN:
        content = read_stdin()
        return Compared("standard input", _tell_kind(content, is_json=_is_mapping(content)), name, content=content)
    revision, colon, path = name.partition(":")
    if not colon or Path(name).exists():
        return Compared(name, _find_kind(name, Path(name)), name)
    root = stack.enter_context(extract_revision(revision))
    if not (root / path).exists():
        raise DiskError([Diagnostic("PC0742", f"`{revision}` has no `{path}`", help="paths are from the root of the repository")])
    return Compared(name, _find_kind(name, root / path), path, root)


def read_compared(one: Compared, other: str, asked: RenderRequest, piped: bytes | None = None) -> Side:
    """Its prompt. `other` is the state of a pack (`piped`: what standard input held, where it is that), or the pack of a state; a state is
    never looked for in a revision that it was not named with, nor is a pack.
    """
    if one.kind == "prompt":
        return _read_text(one.content) if one.content is not None else _read_prompt(Path(one.root or "", one.path))
    given = str(Path(other).absolute()) if one.root is not None and Path(other).exists() else other
    with chdir(one.root or "."):
        pack, state = (one.path, given) if one.kind == "pack" else (given, one.path)
        with Pack.load(pack) as loaded:
            outcome = compile_asked(loaded, _load_state(loaded, state, asked, one.content if one.content is not None else piped), asked)
    if outcome.emitted is None:
        raise FitError(outcome.errors, outcome.report)
    prompt = Prompt(outcome)
    return read_side(prompt.text if prompt.format == "text" else prompt.messages, prompt.report)


def _load_state(pack: Pack, name: str, asked: RenderRequest, piped: bytes | None) -> State:
    """Standard input is read once, whatever number of packs is given it."""
    if name == STDIN and piped is not None:
        return pack.load_state(piped, "stdin", changes=asked.changes)
    return load_state_file(pack, name, asked)


def _find_kind(name: str, path: Path) -> Kind:
    if path.is_dir() and (path / "pack.yaml").is_file():
        return "pack"
    if path.is_dir() or not path.exists():
        what = "is a folder without a pack.yaml" if path.is_dir() else "is not there"
        raise UsageError(
            [Diagnostic("PC0740", f"`{name}` {what}", help="name a pack, a state or a prompt, or REV:PATH for one of a git revision")]
        )
    if path.suffix in (".yaml", ".yml"):
        return "pack"
    return _tell_kind(_read(path) if path.suffix == ".json" else b"", is_json=path.suffix == ".json")


def _read(path: Path) -> bytes:
    return read_bytes(str(path), "the file", limit=_MOST)


def _tell_kind(content: bytes, *, is_json: bool) -> Kind:
    return "state" if is_json and _read_messages(content) is None else "prompt"


def _is_mapping(content: bytes) -> bool:
    return isinstance(read_json(content), dict)


def _read_messages(content: bytes) -> Sequence[Mapping[str, Any]] | None:
    """Messages, if that is what it holds."""
    value = read_json(content)
    return value if is_messages(value) and all("role" in one and "content" in one for one in value) else None


def _read_prompt(path: Path) -> Side:
    """With its report, where it is a golden and that lies beside it."""
    report = path.with_name(name_golden("report", find_kind(path.name)[1]))
    known = read_report(_read(report)) if path.name.startswith("golden.") and report.is_file() else None
    content = _read(path)
    messages = _read_messages(content) if path.suffix == ".json" else None
    return read_side(messages if messages is not None else content.decode("utf-8", "replace"), known)


def _read_text(content: bytes) -> Side:
    messages = _read_messages(content)
    return read_side(messages if messages is not None else content.decode("utf-8", "replace"), None)
