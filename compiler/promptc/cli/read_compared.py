"""What `promptc diff` is given: a pack, a state or a prompt, of the working folder or of a git revision."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir
from pathlib import Path

from promptc.api import Pack, Prompt
from promptc.cli.asked import Asked
from promptc.cli.compile_asked import compile_asked, load_state_file
from promptc.cli.extract_revision import extract_revision
from promptc.compare.read_side import read_side
from promptc.compare.side import Side
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError, FitError, UsageError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Literal

Kind = Literal["pack", "state", "prompt"]

_HELP = "name a pack, a state or a prompt, or REV:PATH for one of a git revision"


@frozen
class Compared:
    """One of the two. `name` is how it was given, `path` where it is looked for in `root` (None: the working folder)."""

    name: str
    kind: Kind
    path: str
    root: Path | None = None


def find_compared(name: str, stack: ExitStack) -> Compared:
    """What `name` is. Files of a revision stay until `stack` is closed. `UsageError` (PC0740) for what cannot be compared."""
    revision, colon, path = name.partition(":")
    if not colon or Path(name).exists():
        return Compared(name, _find_kind(name, Path(name)), name)
    root = stack.enter_context(extract_revision(revision))
    if not (root / path).exists():
        raise DiskError([Diagnostic("PC0742", f"`{revision}` has no `{path}`", help="paths are from the root of the repository")])
    return Compared(name, _find_kind(name, root / path), path, root)


def read_compared(one: Compared, other: str, asked: Asked) -> Side:
    """Its prompt. `other` is the state of a pack, or the pack of a state; a state is never looked for in a revision that it was not
    named with, nor is a pack.
    """
    if one.kind == "prompt":
        return _read_prompt(Path(one.root or "", one.path))
    given = str(Path(other).absolute()) if one.root is not None and Path(other).exists() else other
    with chdir(one.root or "."):
        pack, state = (one.path, given) if one.kind == "pack" else (given, one.path)
        with Pack.load(pack) as loaded:
            outcome = compile_asked(loaded, load_state_file(loaded, state, asked), asked)
    if outcome.emitted is None:
        raise FitError(outcome.errors, outcome.report)
    prompt = Prompt(outcome)
    return read_side(prompt.text if prompt.format == "text" else prompt.messages, prompt.report)


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
    return "prompt" if path.suffix != ".json" or _read_messages(path) is not None else "state"


def _read_messages(path: Path) -> Sequence[Mapping[str, Any]] | None:
    """Messages, if that is what the file holds."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    is_list = isinstance(value, list) and all(isinstance(one, dict) and "role" in one and "content" in one for one in value)
    return value if is_list else None


def _read_prompt(path: Path) -> Side:
    """With its report, where it is a golden and that lies beside it."""
    report = path.with_name("golden.report.json")
    known = json.loads(report.read_bytes()) if path.name.startswith("golden.") and report.is_file() else None
    messages = _read_messages(path) if path.suffix == ".json" else None
    return read_side(messages if messages is not None else path.read_text(encoding="utf-8", errors="replace"), known)
