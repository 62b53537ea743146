"""Completion with the Tab key: what is offered, in each shell that is installed here, and for each shell by its variables."""

import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from promptc.cli.commands.pack_info import SHELLS
from promptc.cli.group import COMMANDS
from tests.cli.conftest import ROOT, START, environment

TIDEPOOL = "packs/tidepool"
STATE = "fixtures/tidepool/calm/state.json"
VALUES = {
    "promptc expl": "explain",
    "promptc index bu": "build",
    "promptc calib": "calibrate",
    "promptc calibrate packs/sentinel usage.jsonl --quan": "--quantile",
    "promptc render --bud": "--budget",
    "promptc completion po": "powershell",
    f"promptc render {TIDEPOOL} {STATE} --mood ac": "action",
    f"promptc render {TIDEPOOL} {STATE} --mood=ac": "--mood=action",
    f"promptc render {TIDEPOOL} {STATE} --variant mood=ac": "mood=action",
    "promptc map packs/companion --variant pers": "persona=juno",
    f"promptc render packs/sentinel {STATE} --only snap": "snapshot",
    f"promptc explain packs/sentinel {STATE} --without inj": "injected",
    f"promptc render {TIDEPOOL} {STATE} --set /loc": "/location=",
    f"promptc render packs/sentinel {STATE} --try sections.recent.b": "sections.recent.budget=",
    "promptc test packs/sentinel --try strain.tiers.strain_2.l": "strain.tiers.strain_2.leave=",
    f"promptc explain packs/sentinel {STATE} --sweep sections.recent.b": "sections.recent.budget",
    "promptc matrix packs/sentinel -k sentinel/block_2400": "sentinel/block_2400",
    "promptc tune packs/sentinel --try sections.recent.b": "sections.recent.budget=",
    "promptc tune packs/sentinel --weight sections.rec": "sections.recent=",
    "promptc tune packs/sentinel --pin sections.rec": "sections.recent",
    "promptc tune packs/sentinel sentinel/block_2": "sentinel/block_2400",
    "promptc serve packs/sentinel sentinel/block_2": "sentinel/block_2400",
    "promptc apply packs/sentinel comp": "compress",
    "promptc apply packs/sentinel checkpoint s.json --answer di": "digest=",
    "promptc answer packs/sentinel check": "checkpoint",
    "promptc index status packs/worldarchitect arch": "archive",
    "promptc test sentinel/block_2400": "sentinel/block_2400",
    "promptc test senti": "sentinel/",
    "promptc rule pc0531": "PC0531",
    f"promptc render {TIDEPOOL} {STATE} --model gpt-4o-m": "gpt-4o-mini",
    "promptc models claude-haiku-4": "claude-haiku-4-5",
    "promptc help seg": "segments",
    "promptc help segments exp": "export",
    "promptc schema seg": "segments",
    "promptc init mine --template ch": "chat",
}
NOTHING = (
    "promptc frobnicate ",
    "promptc render nowhere state.json --mood ",
    "promptc render packs state.json --mood ",
    "promptc render --version --mood ",
    "promptc render packs/sentinel state.json --frob ",
    "promptc help frob ",
)


def _ask(run, monkeypatch, shell, line):
    """The lines that a shell would read."""
    words = line.split(" ")
    monkeypatch.setenv("_PROMPTC_COMPLETE", shell)
    monkeypatch.setenv("_PROMPTC_LINE", line)
    monkeypatch.setenv("_PROMPTC_WORDS", "\n".join(words[:-1]))
    monkeypatch.setenv("_PROMPTC_WORD", words[-1])
    done = run()
    assert done.code == 0 and not done.err
    return [tuple(one.split("\t")) for one in done.out.splitlines()]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", VALUES)
def test_what_is_offered(shell, line, run, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert VALUES[line] in [value for _, value, _ in _ask(run, monkeypatch, shell, line)]


@pytest.mark.parametrize("line", NOTHING)
def test_what_nobody_can_read_offers_nothing(line, run, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert not [value for _, value, _ in _ask(run, monkeypatch, "bash", line) if value]


def test_every_command_is_offered(run, monkeypatch):
    assert [value for _, value, _ in _ask(run, monkeypatch, "zsh", "promptc ")] == list(COMMANDS)


def test_bash_is_given_what_is_behind_its_own_break(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    line = f"promptc render {TIDEPOOL} {STATE} --variant mood=ac"
    for word, value in {"ac": "action", "mood=ac": "mood=action"}.items():
        monkeypatch.setenv("_PROMPTC_COMPLETE", "bash")
        monkeypatch.setenv("_PROMPTC_LINE", line)
        monkeypatch.setenv("_PROMPTC_WORD", word)
        assert run().out == f"plain\t{value}\tcase\n"
    monkeypatch.setenv("_PROMPTC_LINE", line.removesuffix("ac"))
    monkeypatch.setenv("_PROMPTC_WORD", "=")
    assert "plain\taction\tcase\n" in run().out


def test_windows_words_are_taken_as_they_are(run, monkeypatch, tmp_path):
    """A backslash in a path is none of a shell's escapes."""
    folder = tmp_path / "my\\pack"
    shutil.copytree(ROOT / TIDEPOOL, folder)
    monkeypatch.chdir(tmp_path)
    assert ("plain", "action", "mood") in _ask(run, monkeypatch, "powershell", "promptc render my\\pack s.json --mood ac")


@pytest.fixture
def strange(tmp_path, monkeypatch):
    """A pack whose names would mean something to a shell or a terminal, and a state like that."""
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object", "properties": {"$(touch it)": {}, "plain": {"description": "a\x1b[31m\tb\nc"}, "a;b": {}, "x`y`": {}}}
    (tmp_path / "state.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    (tmp_path / "state.json").write_text(json.dumps({"|sh": 1, "deep": [{"under": 2}]}), encoding="utf-8")
    (tmp_path / "fixtures" / "x; touch it").mkdir(parents=True)
    (tmp_path / "fixtures" / "x; touch it" / "case.yaml").write_text("{}", encoding="utf-8")
    text = "promptc: 1\nname: odd\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 99\nstate: {schema: state.schema.json}\n"
    text += 'sections: [{id: one, text: "{{ 1 / 0 }}"}]\nvariants: {mood: {select: state.x, cases: {calm: {}, "a $(b)": {}}}}\n'
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_name_that_would_be_an_option_is_not_offered(strange, run, monkeypatch):
    for name in ("--report=junit=out", "plain"):
        (strange / "fixtures" / name).mkdir(parents=True)
        (strange / "fixtures" / name / "case.yaml").write_text("{}", encoding="utf-8")
    assert [value for _, value, _ in _ask(run, monkeypatch, "zsh", "promptc test ")] == ["plain", ""]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_path_from_the_home_folder_is_followed(shell, strange, run, monkeypatch):
    """No shell has expanded the words of a line that is still being typed."""
    monkeypatch.setenv("HOME", str(strange.parent))
    monkeypatch.setenv("USERPROFILE", str(strange.parent))
    monkeypatch.chdir(ROOT)
    asked = f"promptc render ~/{strange.name} s.json --mood "
    assert _ask(run, monkeypatch, shell, asked) == [("plain", "calm", "mood")]


def test_names_that_mean_something_to_a_shell_are_not_offered(strange, run, monkeypatch):
    offered = _ask(run, monkeypatch, "zsh", "promptc render . state.json --set /")
    assert offered == [("open", "/plain=", "a\\x1b[31m b c"), ("open", "/deep=", ""), ("open", "/deep/", "")]
    assert _ask(run, monkeypatch, "zsh", "promptc render . state.json --set /deep/") == [("open", "/deep/0=", ""), ("open", "/deep/0/", "")]
    assert _ask(run, monkeypatch, "zsh", "promptc render . state.json --mood ") == [("plain", "calm", "mood")]
    assert [value for _, value, _ in _ask(run, monkeypatch, "zsh", "promptc test ")] == [""]


def test_a_pack_is_read_and_not_run(strange, run, monkeypatch):
    """Its template would divide by zero; a mistake in its shape offers nothing, and says nothing."""
    assert [value for _, value, _ in _ask(run, monkeypatch, "fish", "promptc render . state.json --only ")] == ["one"]
    manifest = strange / "pack.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8") + "frob: 1\n", encoding="utf-8")
    assert not _ask(run, monkeypatch, "fish", "promptc render . state.json --only ")


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are a thing of Unix")
def test_a_pipe_is_not_read(strange, run, monkeypatch):
    os.mkfifo("pipe")
    assert [value for _, value, _ in _ask(run, monkeypatch, "fish", "promptc render . pipe --set /")] == ["/plain="]


def test_pending_goldens_are_offered(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("init", "lamp").code == 0
    monkeypatch.chdir(tmp_path / "lamp")
    assert _ask(run, monkeypatch, "bash", "promptc accept ") == [("file", "", "")]
    monkeypatch.delenv("_PROMPTC_COMPLETE")
    (tmp_path / "lamp" / "cases" / "tight" / "golden.txt").write_text("other\n", encoding="utf-8")
    assert run("test", "--no-cache").code == 1
    assert _ask(run, monkeypatch, "bash", "promptc accept cases/t")[0] == ("plain", "cases/tight", "changed")


# --- the shells themselves ---


@pytest.fixture
def typed(tmp_path):
    """Types a line and the Tab key into a shell, and gives the line that stands there then."""
    if sys.platform == "win32":
        pytest.skip("no terminal to type into")
    import pexpect

    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "promptc").write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", START])} "$@"\n', encoding="utf-8")
    (folder / "promptc").chmod(0o755)
    own = environment(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}", TERM="dumb", PS1="$ ", HOME=str(tmp_path), LC_ALL="C.UTF-8")

    def start(shell, *arguments, setup):
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed here")
        there = pexpect.spawn(shell, list(arguments), cwd=str(ROOT), env=own, encoding="utf-8", timeout=30, dimensions=(24, 300))
        for number, line in enumerate((*setup, "stty -echo" if shell == "bash" else ":")):
            there.sendline(f"{line}; echo re''ady{number}")
            there.expect_exact(f"ready{number}")

        def type_line(line):
            there.send(f"{line}\t")
            there.send("\x01echo GOT:\x05:END\r")
            there.expect(r"GOT:([^\r\n]*?):END\r?\n")
            return there.match[1]

        return type_line

    return start


TYPED = {
    "promptc expl": "promptc explain ",
    f"promptc render {TIDEPOOL} {STATE} --mood ac": f"promptc render {TIDEPOOL} {STATE} --mood action ",
    f"promptc render {TIDEPOOL} {STATE} --variant mood=ac": f"promptc render {TIDEPOOL} {STATE} --variant mood=action ",
    f"promptc render {TIDEPOOL} {STATE} --mood=ac": f"promptc render {TIDEPOOL} {STATE} --mood=action ",
    f"promptc render {TIDEPOOL} {STATE} --set /act": f"promptc render {TIDEPOOL} {STATE} --set /action=",
    "promptc check packs/senti": "promptc check packs/sentinel",
}


# contract 12.5
@pytest.mark.dear
def test_bash(typed):
    type_line = typed("bash", "--norc", "--noprofile", setup=['eval "$(promptc completion bash)"'])
    for line, then in TYPED.items():
        assert type_line(line).rstrip(" /") == then.rstrip(" /"), line


@pytest.mark.dear
def test_zsh(typed):
    type_line = typed("zsh", "-f", setup=["autoload -Uz compinit", "compinit -D -u", 'eval "$(promptc completion zsh)"'])
    for line, then in TYPED.items():
        assert type_line(line).rstrip(" /") == then.rstrip(" /"), line


def test_fish(tmp_path):
    """Fish itself says what it would offer for a line."""
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("fish is not installed here")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "promptc").write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", START])} "$@"\n', encoding="utf-8")
    (folder / "promptc").chmod(0o755)
    (tmp_path / "promptc.fish").write_bytes((ROOT / "compiler/promptc/cli/completion.fish").read_bytes())
    own = environment(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}", HOME=str(tmp_path), LC_ALL="C.UTF-8")
    for line, then in TYPED.items():
        script = f"source {tmp_path}/promptc.fish; complete -C {shlex.quote(line)}"
        done = subprocess.run([fish, "--no-config", "-c", script], cwd=ROOT, env=own, capture_output=True, text=True, check=True)
        offered = [one.split("\t")[0] for one in done.stdout.splitlines()]
        assert then.split()[-1].rstrip("/") in [one.rstrip("/") for one in offered], (line, offered, done.stderr)
