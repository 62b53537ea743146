"""`promptc render`: what is printed, written and refused."""

import json
import os
import shutil
import stat
import subprocess
import sys

import pytest

from promptc.diag.findings import DiskError
from promptc.files.atomic import write_file
from tests.cli.conftest import KEEP

STATE = "keep/state.json"


def test_messages_are_a_json_array(keep, run):
    done = run("render", "keep", STATE, "--format", "messages")
    messages = json.loads(done.out)
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[0]["content"].startswith("<rules>")
    assert done.out.endswith("]\n") and done.code == 0


def test_only_prints_sections_of_the_whole_render(keep, run):
    whole = run("render", "keep", STATE).out
    lore, both = run("render", "keep", STATE, "--only", "lore").out, run("render", "keep", STATE, "--only", "input", "--only", "lore").out
    assert lore in whole and lore.startswith("<lore>\n") and lore.endswith("</lore>\n")
    assert both == lore + "<input>\nMay I see the keys?\n</input>\n", "in the order of the prompt"
    messages = json.loads(run("render", "keep", STATE, "--only", "input", "--format", "messages").out)
    assert messages == [{"role": "user", "content": "<input>\nMay I see the keys?\n</input>"}]


def test_only_of_an_absent_section_says_so(keep, run):
    done = run("render", "keep", STATE, "--only", "quiet", "--set", "/turn=4")
    assert (done.code, done.out) == (0, "")
    assert "nothing of `quiet` is in the prompt" in done.err
    assert run("render", "keep", STATE, "--only", "quite").code == 2


# contract 6.7
def test_choices(keep, run):
    assert "Be stern." in run("render", "keep", STATE, "--mood", "stern").out
    assert run("render", "keep", STATE, "--mood", "stern") == run("render", "keep", STATE, "--variant", "mood=stern")
    assert run("render", "keep", STATE, "--patch", "brief").out.count("[...]") > run("render", "keep", STATE).out.count("[...]")
    assert len(run("render", "keep", STATE, "--budget", "100").out) < len(run("render", "keep", STATE).out)
    both = run("render", "keep", STATE, "--mood", "stern", "--variant", "mood=calm")
    assert both.code == 2 and "is given two cases" in both.err
    assert "there is no section" not in run("render", "keep", STATE, "--variant", "mood").err


def test_set_changes_the_state_before_it_is_checked(keep, run):
    assert "Who?" in run("render", "keep", STATE, "--set", '/input="Who?"').out
    assert "[ghost] Boo." in run("render", "keep", STATE, "--set", '/turns/-={"id": "t99", "who": "ghost", "text": "Boo."}').out
    done = run("render", "keep", STATE, "--set", "/turns/0/id=7", "--set", "/turns/1/id=8")
    assert done.code == 3 and done.out == ""
    assert "--set /turns/0/id:1:1: PC0302" in done.err and "--set /turns/1/id:1:1: PC0302" in done.err


# contract 13.1
def test_the_report_is_canonical_and_the_same_as_explain_prints(keep, run, tmp_path):
    report = tmp_path / "report.json"
    assert run("render", "keep", STATE, "--report", str(report)).code == 0
    text = report.read_text(encoding="utf-8")
    assert text == run("explain", "keep", STATE, "--json").out
    assert text == json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


# contract 5.33 and 13.8
def test_what_does_not_fit_shows_the_meter_and_still_writes_the_report(keep, run, tmp_path):
    report, output = tmp_path / "report.json", tmp_path / "prompt.txt"
    done = run("render", "keep", STATE, "--budget", "20", "--report", str(report), "-o", str(output))
    assert (done.code, done.out) == (3, "")
    assert not output.exists()
    assert "PC0532" in done.err and "does not fit 20 tokens" in done.err and "rules" in done.err
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["tokens"] is None and found["error"]["code"] == "PC0532" and found["error"]["missing"] > 0
    assert "does not fit" not in run("render", "keep", STATE, "--budget", "20", "--quiet").err.replace("the prompt does not fit", "")
    lines = run("render", "keep", STATE, "--budget", "20", "--diagnostics", "json").err.splitlines()
    assert all(json.loads(line)["code"].startswith("PC05") for line in lines)


def test_warnings_are_told_unless_quiet(keep, run):
    loud, quiet = (run("render", "keep", STATE, "--budget", "190", *more) for more in ([], ["--quiet"]))
    assert loud.out == quiet.out and loud.out
    assert "PC0540 warning: " in loud.err
    assert quiet.err == ""


def test_a_file_is_replaced_in_one_step(keep, run, tmp_path):
    output = tmp_path / "prompt.txt"
    output.write_text("old", encoding="utf-8")
    output.chmod(0o640)
    assert run("render", "keep", STATE, "-o", str(output)) == run("render", "keep", STATE, "-o", str(output))
    assert output.read_text(encoding="utf-8") == run("render", "keep", STATE).out
    assert stat.S_IMODE(output.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["prompt.txt"]


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("render", "{here}", "{here}/state.json", "-o"), "state.json"),
        (("render", "{here}", "{here}/state.json", "--report"), "pack.yaml"),
        (("render", "{here}", "{here}/state.json", "-o", "{here}/new.txt", "--report"), "new.txt"),
        (("map", "{here}", "-o"), "pack.yaml"),
    ],
)
def test_what_is_read_is_not_written_over(arguments, path, run, tmp_path):
    shutil.copytree(KEEP, tmp_path, dirs_exist_ok=True)
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    done = run(*(one.format(here=tmp_path) for one in arguments), str(tmp_path / path))
    assert (done.code, done.out) == (2, "") and "PC0720" in done.err and f"name another file after `{arguments[-1]}`" in done.err
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.txt").symlink_to("there/real.txt")
    write_file(str(tmp_path / "link.txt"), b"one")
    assert (tmp_path / "link.txt").is_symlink() and (tmp_path / "there" / "real.txt").read_bytes() == b"one"
    write_file(os.devnull, b"two")
    assert not os.path.isfile(os.devnull)  # noqa: PTH113


@pytest.mark.parametrize("name", ["", ".", "missing/file", "nul\0"])
def test_what_cannot_be_written_is_a_disk_error(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DiskError) as wrong:
        write_file(name, b"x")
    assert wrong.value.diagnostics[0].code == "PC0725"
    assert not list(tmp_path.iterdir())


_TERMINATED = """\
import os, signal, sys
from promptc.cli.main import main
replace = os.replace
def interrupted(old, new):
    if str(new).endswith("out.txt"):
        os.kill(os.getpid(), signal.SIGTERM)
    replace(old, new)
os.replace = interrupted
sys.exit(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM ends a process at once elsewhere")
def test_a_render_that_is_asked_to_end_leaves_the_old_file_and_no_other(keep, tmp_path):
    (tmp_path / "out.txt").write_text("old")
    done = subprocess.run([sys.executable, "-c", _TERMINATED, "render", "keep", STATE, "--output", str(tmp_path / "out.txt")], timeout=60)
    assert done.returncode == 143
    assert [one.name for one in tmp_path.iterdir()] == ["out.txt"] and (tmp_path / "out.txt").read_text() == "old"


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "prompt.txt").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(DiskError, match="No space left on device"):
        write_file(str(tmp_path / "prompt.txt"), b"new")
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("arguments", [("render", "keep", STATE, "--report", "{loop}/x"), ("accept", "{loop}"), ("pending", "{loop}")])
def test_a_circle_of_links_is_no_bug(arguments, keep, run, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    done = run(*(one.format(loop=loop) for one in arguments))
    assert done.code in (2, 4) and done.err.startswith("PC0")
