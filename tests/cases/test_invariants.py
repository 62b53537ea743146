"""What no render may depend on: being the second one, the hash seed, the folder, the order of keys, line ends."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases.case import ROOT, Case, load_cases, read_state
from tests.cases.run_case import run_case, run_once

CASES = load_cases()
GOOD = [case for case in CASES if case.exit == 0 and not case.is_check and not case.run]
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
        env={"PYTHONPATH": paths, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": "Asia/Kolkata"},
    )
    assert done.returncode == 0, done.stderr.decode()
    digests: dict[str, str] = json.loads(done.stdout)
    return digests


@each_case
def test_rendered_twice(case: Case) -> None:
    assert run_case(case) == run_once(case.name)


@each_case
def test_other_hash_seeds_and_folder(case: Case, other_processes: list[dict[str, str]]) -> None:
    assert [digests[case.name] for digests in other_processes] == [run_once(case.name).digest] * 2


@each_good_case
def test_shuffled_keys(case: Case) -> None:
    shuffled = json.dumps(_reverse_keys(json.loads(read_state(case)))).encode()
    assert run_case(case, state=shuffled).digest == run_once(case.name).digest


@each_good_case
def test_line_ends_and_place_of_the_pack(case: Case, crlf_copy: Path) -> None:
    assert run_case(case, root=crlf_copy, state=read_state(case)).digest == run_once(case.name).digest


@each_good_case
def test_no_folder_is_in_the_report(case: Case) -> None:
    """A pack and a state named by absolute paths give the report that relative ones give."""
    absolute = replace(case, pack=str(ROOT / case.pack))
    assert run_case(absolute, state=read_state(case)).report == run_once(case.name).report


def _reverse_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reverse_keys(value[key]) for key in reversed(value)}
    return [_reverse_keys(one) for one in value] if isinstance(value, list) else value
