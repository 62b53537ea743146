"""What no render may depend on: being the second one, the hash seed, the folder, the order of keys, line ends."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import promptc
from promptc.diag.frozen import replace
from promptc.frontend.json import JsonDocument, load_json
from promptc.golden.case import Case, CaseRun
from promptc.golden.discover import load_case
from promptc.golden.resources import SuiteResources
from tests.cases.case import ROOT, load_cases
from tests.cases.run_case import digest, find_report, run_case, run_once

CASES = load_cases()
GOOD = [case for case in CASES if case.exit == 0 and case.kind not in ("check", "run")]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_good_case = pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)


@pytest.fixture(scope="session")
def crlf_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packs and the packs of cases, in another folder, every text with CRLF."""
    root = tmp_path_factory.mktemp("crlf")
    for folder in ("packs", "fixtures"):
        shutil.copytree(ROOT / folder, root / folder)
    for path in _iter_pack_files(root):
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    return root


def _iter_pack_files(root: Path) -> Iterator[Path]:
    endings = {".yaml", ".md", ".j2", ".json", ".txt"}
    for case in GOOD:
        own = root / case.pack
        texts = (path for path in own.rglob("*") if path.suffix in endings and not path.name.startswith(("golden.", "case.")))
        yield from (path for path in texts if "prompt_index" not in path.parts)  # a built index is no text: .gitattributes says so


@pytest.fixture(scope="session")
def other_processes() -> list[dict[str, str]]:
    """The digests of every case in two processes with hash seeds of their own, started elsewhere."""
    return [_run_elsewhere(seed) for seed in ("1", "4242")]


def _run_elsewhere(seed: str) -> dict[str, str]:
    paths = os.pathsep.join((str(ROOT / "compiler"), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-m", "tests.cases.render_all"],
        capture_output=True,
        check=False,
        cwd=Path(sys.executable).anchor,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": paths, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": "Asia/Kolkata"},
    )
    assert done.returncode == 0, done.stderr.decode()
    digests: dict[str, str] = json.loads(done.stdout)
    return digests


class Shuffled(SuiteResources):
    """Reads states with their keys in another order."""

    def load_state(self, path: str, shown: str, span: Any) -> JsonDocument:
        document = super().load_state(path, shown, span)
        return load_json(json.dumps(_reverse_keys(json.loads(document.source.text))).encode(), shown)


class Absolute(SuiteResources):
    """Loads packs by absolute paths."""

    def load_pack(self, root: str, path: str) -> promptc.Pack:
        return super().load_pack(root, os.path.join(root, path))  # noqa: PTH118


@each_case
def test_rendered_twice(case: Case) -> None:
    assert digest(run_case(case)) == digest(run_once(case.name))


@each_case
def test_other_hash_seeds_and_folder(case: Case, other_processes: list[dict[str, str]]) -> None:
    assert [digests[case.name] for digests in other_processes] == [digest(run_once(case.name))] * 2


@each_good_case
def test_shuffled_keys(case: Case) -> None:
    """But for the lines of an archive, which keep the keys as they stood."""
    assert digest(_sort_archive(run_case(case, start=Shuffled))) == digest(_sort_archive(run_once(case.name)))


def _sort_archive(ran: CaseRun) -> CaseRun:
    return replace(ran, turns=tuple(replace(turn, archive=_sort_lines(turn.archive)) for turn in ran.turns))


def _sort_lines(archive: bytes | None) -> bytes | None:
    """Every line with its keys in order."""
    return b"\n".join(json.dumps(json.loads(line), sort_keys=True).encode() for line in archive.splitlines()) if archive else archive


@each_good_case
def test_line_ends_and_place_of_the_pack(case: Case, crlf_copy: Path) -> None:
    copied = load_case(str(crlf_copy / Path(case.folder).relative_to(ROOT)))
    assert copied.root == str(crlf_copy)
    assert digest(run_case(copied)) == digest(run_once(case.name))


@each_good_case
def test_no_folder_is_in_the_report(case: Case) -> None:
    """A pack named by an absolute path gives the report that a relative one gives."""
    absolute, relative = run_case(case, start=Absolute), run_once(case.name)
    assert list(map(find_report, absolute.turns)) == list(map(find_report, relative.turns))


def _reverse_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reverse_keys(value[key]) for key in reversed(value)}
    return [_reverse_keys(one) for one in value] if isinstance(value, list) else value
