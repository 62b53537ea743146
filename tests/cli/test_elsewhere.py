"""Consoles that know no UTF-8, paths of Windows, and checkouts with CRLF: what can be tried of them on any machine."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote, urlparse

import pytest

from promptc.cli import reports
from promptc.cli.terminal import _PLAIN
from promptc.diag.findings import Diagnostic, Span
from promptc.files.reading import check_pack_path
from tests.cli.conftest import KEEP, ROOT, command, environment

PACK, STATE = "tests/cli/keep", "tests/cli/keep/state.json"
VIEWS = {
    "explain": ["explain", PACK, STATE, "--budget", "150"],
    "why": ["explain", PACK, STATE, "--budget", "150", "--why", "lore/hall"],
    "sweep": ["explain", PACK, STATE, "--sweep"],
    "values": ["explain", PACK, STATE, "--sweep", "sections.lore.budget"],
    "matrix": ["matrix", "fixtures/keeper", "--try", "pools.memory.max=60"],
    "diff": ["diff", PACK, PACK, "--state", STATE, "--budget", "150"],
    "check": ["check", PACK],
    "map": ["map", PACK],
    "rule": ["rule", "--all"],
    "help": ["help", "segments"],
    "wrong": ["render", PACK, STATE, "--mood", "grün→"],
}


def _start(arguments, **more):
    done = subprocess.run(command(arguments), cwd=ROOT, env=environment(**more), capture_output=True, check=False)
    assert b"Traceback" not in done.stderr and b"this is a bug" not in done.stderr
    return done


# --- consoles ---


@pytest.mark.sampled
@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_console_is_given_what_it_has(view, encoding):
    """The same lines; what the code page has as it is, bars and arrows in ASCII."""
    plain, shown = _start(VIEWS[view]), _start(VIEWS[view], PYTHONIOENCODING=encoding)
    assert plain.returncode == shown.returncode
    for before, after in ((plain.stdout, shown.stdout), (plain.stderr, shown.stderr)):
        lines, told = before.decode().splitlines(), after.decode(encoding).splitlines()
        assert len(lines) == len(told)
        assert not [line for line in told if "\\u25" in line or ("\\u21" in line and view != "wrong")]


def test_bars_and_arrows_are_drawn_in_ascii():
    shown = _start(VIEWS["explain"], PYTHONIOENCODING="cp1252").stdout.decode("cp1252")
    assert "|####" in shown and " -> " in shown and ".." in shown
    assert "·" in shown  # which the code page has


@pytest.mark.parametrize("arguments", [["render", PACK, STATE], ["explain", PACK, STATE, "--json"], ["explain", PACK, STATE, "--svg"]])
def test_a_prompt_and_json_are_utf8_everywhere(arguments):
    assert _start(arguments, PYTHONIOENCODING="cp1252").stdout == _start(arguments).stdout


def test_a_file_gets_utf8_whatever_the_locale_says():
    more = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert _start(VIEWS["explain"], **more).stdout == _start(VIEWS["explain"]).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no terminal to look at")
def test_a_terminal_that_knows_ascii_alone_gets_that():
    import pexpect

    arguments = [one if isinstance(one, str) else one.decode() for one in command(VIEWS["explain"])]
    own = environment(LC_ALL="POSIX", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", NO_COLOR="1")
    there = pexpect.spawn(arguments[0], arguments[1:], cwd=str(ROOT), env=own, timeout=30, dimensions=(60, 80))
    shown = there.read()
    assert b"|####" in shown and shown.isascii()


@pytest.mark.dear
def test_every_character_that_our_own_texts_draw_with_has_a_way_out():
    """Those that the code page of Western Windows does not have."""
    missing = set()
    for path in sorted((ROOT / "compiler" / "promptc").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "/cli/" in path.as_posix():
                missing |= {one for one in node.value if one > "\x7f" and not one.encode("cp1252", "ignore")}
    drawn = {one for one in missing if one.isprintable() and one < "\U00010000"}  # what is beyond ends a range of a pattern
    assert drawn and not drawn - set(_PLAIN)
    assert all(value.isascii() for value in _PLAIN.values())


# --- Windows ---


@pytest.mark.parametrize("path", ["C:\\packs\\tavern\\pack.yaml", "d:/packs/tavern/pack.yaml"])
def test_a_drive_in_a_finding_is_a_place_for_every_service(path):
    found = [Diagnostic("PC0201", "wrong", Span(path, 7, 5))]
    assert str(found[0]).startswith(f"{path}:7:5: PC0201")
    (result,) = json.loads(reports.render_sarif(found))["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert "uriBaseId" not in location
    told = urlparse(location["uri"])
    assert told.scheme == "file" and PureWindowsPath(unquote(told.path).lstrip("/")) == PureWindowsPath(path)
    escaped = path.replace(":", "%3A")
    assert f"file={escaped},line=7,col" in reports.render_github(found)


def test_a_relative_path_of_windows_is_one_below_the_repository():
    found = [Diagnostic("PC0201", "wrong", Span("packs\\my tavern\\pack.yaml", 7, 5))]
    (result,) = json.loads(reports.render_sarif(found))["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "packs/my%20tavern/pack.yaml", "uriBaseId": location["uriBaseId"]}


@pytest.mark.parametrize("path", ["C:\\packs\\tavern", "c:/packs/tavern", "C:\\a.json"])
def test_a_drive_is_no_revision(path, run):
    """`REV:PATH` has a name behind its colon."""
    done = run("diff", path, PACK, "--state", STATE)
    assert done.code == 2 and f"PC0740 `{path}` is not there" in done.err


@pytest.mark.parametrize(
    "path", ["parts\\rules.md", "C:/rules.md", "C:rules.md", "\\\\host\\share", "//host/share", "con.md", "rules.md.", "a:b"]
)
def test_a_pack_names_its_files_as_every_system_does(path):
    assert check_pack_path(path)


# --- CRLF ---


@pytest.fixture
def turned(tmp_path, run, monkeypatch):
    """A new pack that was checked out with CRLF in every file but its goldens, as its `.gitattributes` asks."""
    monkeypatch.chdir(tmp_path)
    assert run("init", "lamp").code == 0
    for path in sorted((tmp_path / "lamp").rglob("*")):
        if path.is_file() and not path.name.startswith("golden."):
            _turn(path)
    monkeypatch.chdir(tmp_path / "lamp")
    return tmp_path / "lamp"


def _turn(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def test_a_checkout_with_crlf_makes_the_same_prompts(turned, run):
    assert b"\r\n" in (turned / "pack.yaml").read_bytes() and b"\r\n" in next(turned.glob("cases/*/case.yaml")).read_bytes()
    before = run("render", str(turned), str(turned / "state.json"))
    assert before.code == 0 and "\r" not in before.out
    done = run("test", "--ci", "--no-cache")
    assert done.code == 0, done.out
    assert run("check", ".").code == 0


# contract 14.18
def test_a_golden_with_crlf_fails_and_says_why(turned, run):
    """Goldens are bytes: a model is sent these and no others."""
    for golden in turned.glob("cases/*/golden.txt"):
        _turn(golden)
    done = run("test", "--ci", "--no-cache")
    assert done.code == 1
    said = " ".join(done.out.split())
    assert "cause: only the line ends differ: the golden has CRLF" in said and "`golden.* -text` into .gitattributes" in said


def test_a_state_may_hold_line_ends_of_its_own(turned, run):
    """What a user wrote is data, and stays as it is."""
    plain = json.loads((turned / "state.json").read_text(encoding="utf-8"))
    (turned / "state.json").write_bytes(json.dumps({**plain, "input": "one\r\ntwo"}).encode())
    assert run("render", ".", "state.json", "--only", "input").out == "one\r\ntwo\n"


def test_the_folder_of_the_tests_own_pack_is_read_with_crlf(tmp_path, run):
    shutil.copytree(KEEP, tmp_path / "keep")
    for path in (tmp_path / "keep").iterdir():
        _turn(path)
    assert run("render", str(tmp_path / "keep"), str(tmp_path / "keep" / "state.json")).out == run("render", PACK, STATE).out
