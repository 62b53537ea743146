"""Answers of a model that could not be used, kept for the next try."""

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import replace
from promptc.files.atomic import write_file
from promptc.text.json import render_digest

_DIGITS = slice(len("sha256:"), len("sha256:") + 12)


def keep_answers(state: str, answers: Mapping[str, str], wrong: DiskError) -> DiskError:
    """Writes each answer to `<state>.answers/<name>.<digest>.txt`, and gives the error with the flags that go on with them."""
    try:
        files = [f"--answer {name}={shlex.quote(str(path))}" for name, path in _write(Path(os.path.realpath(state)), answers)]
    except OSError:
        return wrong
    except DiskError:
        return wrong
    kept = f"the answers are kept; go on with {' '.join(files)}"
    return type(wrong)([*(_with(one, kept) for one in wrong.diagnostics)])


def _write(state: Path, answers: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    folder = state.with_name(f"{state.name}.answers")
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in answers.items():
        data = text.encode("utf-8", "surrogatepass")
        path = folder / f"{name}.{render_digest(data)[_DIGITS]}.txt"
        write_file(str(path), data)
        yield name, path


def _with(found: Diagnostic, help: str) -> Diagnostic:
    return replace(found, help=f"{found.help}; {help}" if found.help else help)
