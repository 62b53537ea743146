"""From what a case's goldens are made: digests that are noted when they are accepted, and compared when they no longer hold."""

import hashlib
import json
import os
from collections.abc import Mapping

from promptc.api import Pack
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.golden.cases.case import Case
from promptc.golden.cases.confine import is_under
from promptc.golden.describe_figures import write_figures
from promptc.golden.find_cases import CASE
from promptc.golden.find_home import show_path
from promptc.golden.list_inputs import list_inputs
from promptc.golden.read_plain import MAX_PLAIN_BYTES
from promptc.golden.verdict import Figures
from promptc.version import VERSION


def describe_inputs(case: Case, pack: Pack | None) -> dict[str, Any]:
    """`files`: the identity of every file the case's outcome was made of, by its path from the root; `counter`: name and digest of what
    counted; `promptc`: the version. Nothing of the pack where it cannot be loaded.

    A file's identity is the one git gives a blob with its content, line ends as `\\n`: so `git cat-file blob` gives the content back that a
    golden was accepted with, without a search.
    """
    files = {show_path(path, case.root): identify(content) for path, content in _iter_files(case, pack).items()}
    counter = pack.counter if pack is not None else None
    described: dict[str, Any] = {"files": dict(sorted(files.items())), "promptc": VERSION}
    if counter is not None:
        described["counter"] = {"name": counter.name, "digest": counter.digest}
    return described


def identify(content: bytes) -> str:
    """The name git has for a blob of that content, line ends as `\\n`."""
    plain = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return hashlib.sha1(b"blob %d\0%b" % (len(plain), plain), usedforsecurity=False).hexdigest()


def render_inputs(inputs: Mapping[str, Any], figures: Figures | None) -> bytes:
    """The bytes of `golden.inputs.json`: the inputs, and what the prompt came to."""
    noted = {**inputs, **({"figures": write_figures(figures)} if figures is not None else {})}
    return (json.dumps(noted, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _iter_files(case: Case, pack: Pack | None) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for one in pack.inputs.files if pack is not None else ():
        files[os.path.normpath(os.path.join(case.root, one.folder, one.path))] = one.content
    for path in (os.path.join(case.folder, CASE), *list_inputs(case)):
        if not is_under(os.path.realpath(path), case.fence):
            continue
        try:
            files[path] = read_file(path, MAX_PLAIN_BYTES)
        except (OSError, ValueError):
            continue  # the run has said so
    return files
