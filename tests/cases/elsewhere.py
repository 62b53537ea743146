"""The cases once more, in a process of its own and in circumstances that must not matter; prints one JSON object, case to digests.

`start` runs it: under another hash seed, from another folder, time zone and locale, the cases from last to first, each with nothing shared;
and what renders, from a copy with CRLF, its pack named by an absolute path, the keys of its state in another order. All of it at once:
`find_cause` tells which of these circumstances does it where a case comes to something else.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import promptc
from promptc.diag.frozen import replace
from promptc.frontend.json import JsonDocument, load_json
from promptc.golden.cases.case import Case, CaseRun
from promptc.golden.cases.discover import load_case
from promptc.golden.running.resources import SuiteResources
from tests.cases.case import ROOT, load_cases
from tests.cases.run_case import digest, run_case

ALL = ("seed", "folder", "order", "crlf", "absolute", "shuffled")
"""Another hash seed; another folder, time zone and locale; from the last case to the first; line ends; paths of packs; order of keys."""
_ENDINGS = {".yaml", ".md", ".j2", ".json", ".txt"}


def is_rendered(case: Case) -> bool:
    """Whether the case renders well: then its files and paths may be others, too. A finding tells of columns and paths."""
    return case.exit == 0 and case.kind not in ("check", "run")


def copy_with_crlf(root: Path) -> None:
    """Copies the packs and the cases to `root`, every text of a pack with CRLF."""
    for folder in ("packs", "fixtures", "starters"):
        shutil.copytree(ROOT / folder, root / folder)
    for pack in {case.pack for case in load_cases() if is_rendered(case)}:
        for path in (root / pack).rglob("*"):
            # A built index is no text: .gitattributes says so. A tokenizer is known by the digest of its bytes.
            is_exact = path.name.startswith(("golden.", "case.", "tokenizer.")) or "prompt_index" in path.parts
            if path.suffix in _ENDINGS and not is_exact:
                path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def start(names: Sequence[str], copy: Path, circumstances: Sequence[str] = ALL, seed: int = 1) -> subprocess.Popen[bytes]:
    """The process that runs these cases in these circumstances; `copy` is what `copy_with_crlf` made. `read` reads what it prints."""
    paths = os.pathsep.join((str(ROOT / "compiler"), str(ROOT)))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": paths, "PYTHONHASHSEED": str(seed if "seed" in circumstances else 0)}
    if "folder" in circumstances:
        environment |= {"LC_ALL": "C", "TZ": "Asia/Kolkata"}
    folder = Path(sys.executable).anchor if "folder" in circumstances else str(ROOT)
    command = [sys.executable, "-m", "tests.cases.elsewhere"]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps([list(names), str(copy), list(circumstances)]).encode())
    process.stdin.close()
    process.stdin = None
    return process


def read(process: subprocess.Popen[bytes]) -> dict[str, list[str]]:
    """The digests of every case that the process ran, when it is done."""
    out, wrong = process.communicate()
    assert process.returncode == 0, wrong.decode()
    digests: dict[str, list[str]] = json.loads(out)
    return digests


def digest_all(ran: CaseRun, unshuffled: CaseRun | None = None, roots: Collection[str] = ()) -> list[str]:
    """What is compared: a digest of all that came of the case but for the order of keys in its archive, and one of its archive's bytes.

    An archive keeps the keys as they stood: that of `unshuffled` counts, if it is given. `roots` are folders whose names do not count.
    """
    archives = [turn.archive for turn in (unshuffled or ran).turns]
    plain = replace(ran, turns=tuple(replace(turn, archive=_sort_lines(turn.archive)) for turn in ran.turns))
    return [digest(plain, roots), sha256(repr(archives).encode()).hexdigest()]


def find_cause(name: str, copy: Path) -> str:
    """Which circumstances change what comes of the case, tried one by one and the case alone."""
    plain, whole = read(start([name], copy, ())), read(start([name], copy))
    found = [one for one in ALL if read(start([name], copy, (one,))) != plain]
    return ", ".join(found) or ("only all of them together" if whole != plain else "only what runs before it, or the process")


def main() -> None:
    names, copy, circumstances = json.load(sys.stdin)
    wanted = set(names)
    cases = [case for case in load_cases() if case.name in wanted]
    if "order" in circumstances:
        cases.reverse()
    json.dump({case.name: _run(case, copy, circumstances) for case in cases}, sys.stdout)


def _run(case: Case, copy: str, circumstances: Sequence[str]) -> list[str]:
    if not is_rendered(case):
        return digest_all(run_case(case))
    if "crlf" in circumstances:
        case = load_case(os.path.join(copy, os.path.relpath(case.folder, ROOT)))  # noqa: PTH118
        assert case.root == copy
    named = Absolute if "absolute" in circumstances else SuiteResources
    if "shuffled" not in circumstances:
        return digest_all(run_case(case, start=named), roots=_ROOTS)
    ran = run_case(case, start=AbsoluteShuffled if "absolute" in circumstances else Shuffled)
    has_archive = any(turn.archive for turn in ran.turns)
    return digest_all(ran, run_case(case, start=named) if has_archive else None, _ROOTS)


class Shuffled(SuiteResources):
    """Reads states with their keys in another order."""

    def load_state(self, path: str, shown: str, span: Any) -> JsonDocument:
        document = super().load_state(path, shown, span)
        return load_json(json.dumps(_reverse_keys(json.loads(document.source.text))).encode(), shown)


class Absolute(SuiteResources):
    """Loads packs by absolute paths, which findings tell."""

    def load_pack(self, root: str, path: str) -> promptc.Pack:
        _ROOTS.add(root)
        return super().load_pack(root, os.path.join(root, path))  # noqa: PTH118


class AbsoluteShuffled(Absolute, Shuffled):
    """Both."""


_ROOTS: set[str] = set()


def _reverse_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reverse_keys(value[key]) for key in reversed(value)}
    return [_reverse_keys(one) for one in value] if isinstance(value, list) else value


def _sort_lines(archive: bytes | None) -> bytes | None:
    """Every line with its keys in order."""
    return b"\n".join(json.dumps(json.loads(line), sort_keys=True).encode() for line in archive.splitlines()) if archive else archive


if __name__ == "__main__":
    main()
