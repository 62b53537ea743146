"""The command line in a process of its own: exit codes, streams, signals, bytes."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import KEEP, command, environment

PACK, STATE = "tests/cli/keep", "tests/cli/keep/state.json"


# contract 12.3
def test_a_prompt_is_all_that_stdout_gets(start):
    done = start("render", PACK, STATE)
    assert done.code == 0
    assert done.out.startswith("<rules>\n") and done.out.endswith("</input>\n")
    assert done.err == ""


# contract 12.2 and 12.3
@pytest.mark.parametrize(
    ("code", "arguments", "says"),
    [
        (2, ["render", PACK, STATE, "--bugdet", "3"], "PC0720"),
        (2, ["render", PACK], "`STATE` is missing"),
        (2, ["rendr", PACK], "did you mean `render`?"),
        (2, ["render", PACK, STATE, "--budget", "0"], "whole number"),
        (2, ["render", PACK, STATE, "--mood", "clam"], "did you mean `calm`?"),
        (3, ["render", PACK, STATE, "--set", "/turn=true"], "--set /turn:1:1: PC0302"),
        (3, ["render", PACK, STATE, "--budget", "20"], "PC0532"),
        (4, ["render", PACK, "no-such-state.json"], "PC0724"),
        (4, ["render", "no-such-pack", STATE], "cannot read the pack `no-such-pack`"),
        (4, ["render", PACK, STATE, "-o", "no-such-folder/prompt.txt"], "PC0725"),
        (4, ["render", PACK, STATE, "-o", "no-such-folder/"], "name a file: this is a folder"),
    ],
)
def test_a_failure_has_its_code_and_nothing_on_stdout(code, arguments, says, start):
    done = start(*arguments)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_state_from_standard_input(start):
    raw = (KEEP / "state.json").read_bytes()
    assert start("render", PACK, "-", stdin=raw) == start("render", PACK, STATE)
    assert "stdin:1:1: PC0103" in start("render", PACK, "-").err


# contract 3.16
def test_line_ends_of_pack_and_state_do_not_matter(tmp_path, start):
    for path in KEEP.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert start("render", str(tmp_path), str(tmp_path / "state.json")).out == start("render", PACK, STATE).out


# contract 12.3
@pytest.mark.parametrize("arguments", [["render", PACK, STATE], ["explain", PACK, STATE], ["--help"], ["rule", "--all"]])
def test_a_closed_pipe_ends_it_quietly(arguments):
    running = subprocess.Popen(command(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=KEEP.parents[2])
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert (running.wait(), err) == (0, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_ends_it_quietly(closed):
    line = f'exec "$@" {closed}'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command(["render", PACK, STATE])],
        capture_output=True,
        env=environment(),
        cwd=KEEP.parents[2],
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("closed", [">&-", "<&-"])
def test_an_editor_that_opens_no_streams_is_told(closed):
    pytest.importorskip("pygls")
    line = f'exec "$@" {closed}'
    done = subprocess.run(["sh", "-c", line, "sh", *command(["lsp"])], capture_output=True, env=environment(), check=False, text=True)
    assert done.returncode == 2 and done.stderr.startswith("PC0723 ")


# contract 12.2
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [["render", PACK, STATE], ["--help"], ["rule", "--all"], ["test", "--help"]])
def test_a_full_disk_is_no_bug(arguments):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command(arguments), stdout=full, stderr=subprocess.PIPE, env=environment(), cwd=KEEP.parents[2], check=False, text=True
        )
    assert done.returncode == 4 and "No space left on device" in done.stderr


# contract 12.2
def test_an_interrupt_ends_it_without_a_word():
    probe = (
        "import signal, sys; from promptc.cli import main, request; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "  # whoever runs the tests may have it ignored
        "request.read_stdin = lambda: signal.raise_signal(signal.SIGINT); sys.exit(main.main(sys.argv[1:]))"
    )
    arguments = [command([])[0], "-c", probe, "render", PACK, "-"]
    done = subprocess.run(arguments, capture_output=True, env=environment(), cwd=KEEP.parents[2], check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


# contract 12.2
def test_an_interrupt_while_modules_are_imported_ends_it_without_a_word():
    probe = (
        "import signal, sys; from promptc.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_): return signal.raise_signal(signal.SIGINT) if name == 'promptc.cli.options' else None\n"
        "sys.meta_path.insert(0, Finder()); sys.exit(main.main(sys.argv[1:]))"
    )
    arguments = [command([])[0], "-c", probe, "render", PACK, STATE]
    done = subprocess.run(arguments, capture_output=True, env=environment(), cwd=KEEP.parents[2], check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


# contract 12.2
@pytest.mark.parametrize("arguments", [["test"], ["init", "new"], ["matrix", str(KEEP)], ["pending"]])
def test_a_folder_that_was_removed_is_no_bug(arguments, tmp_path):
    line = 'cd gone && rmdir ../gone && exec "$@"'
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command(arguments)], capture_output=True, env=environment(), cwd=tmp_path, check=False, text=True
    )
    assert (done.returncode, done.stdout) == (4, "") and done.stderr.startswith("PC0154 the current folder was removed\n")


# contract 12.2
def test_a_process_that_may_open_too_few_files_is_no_bug():
    line = 'ulimit -n 5; exec "$@"'
    done = subprocess.run(
        ["bash", "-c", line, "sh", *command(["test", "tests/cli/keep"])],
        capture_output=True,
        env=environment(),
        cwd=KEEP.parents[2],
        check=False,
        text=True,
    )
    assert done.returncode == 4 and "Too many open files" in done.stderr


def test_arguments_that_are_no_text_are_findings(start):
    for arguments in (["render", PACK, b"no\xff"], ["eval", PACK, STATE, b"'\xff'"], [b"\xff"], ["rule", b"PC\xff"]):
        done = start(*arguments)
        assert done.code in (2, 4) and done.out == ""
        assert "\\udcff" in done.err or "UTF-8" in done.err


def test_the_locale_and_the_terminal_do_not_matter(start):
    plain = subprocess.run(
        command(["explain", PACK, STATE]),
        capture_output=True,
        env=environment(LC_ALL="C", COLUMNS="20", PYTHONUTF8="0"),
        cwd=KEEP.parents[2],
        check=False,
    )
    assert plain.stdout.decode() == start("explain", PACK, STATE).out


# contract 12.5
def test_findings_as_json_lines(start):
    done = start("render", PACK, STATE, "--diagnostics", "json", "--set", '/turn="x"', "--set", "/mood=3")
    found = [json.loads(line) for line in done.err.splitlines()]
    assert [(one["code"], one["file"], one["line"], one["column"]) for one in found] == [
        ("PC0302", "--set /mood", 1, 1),
        ("PC0302", "--set /turn", 1, 1),
    ]
    usage = start("render", "--diagnostics=json", "--nothing")
    assert json.loads(usage.err)["code"] == "PC0720"


def test_the_package_can_be_run(start):
    line = [command([])[0], "-m", "promptc", "--version"]
    assert subprocess.run(line, capture_output=True, env=environment(), check=True).stdout.decode() == start("--version").out


def test_a_render_loads_nothing_it_does_not_need():
    probe = "import sys; from promptc.cli.main import main; main(sys.argv[1:]); print(sorted(sys.modules), file=sys.stderr)"
    arguments = ["-c", probe, "render", PACK, STATE]
    done = subprocess.run([command([])[0], *arguments], capture_output=True, env=environment(), cwd=KEEP.parents[2], check=True)
    loaded = done.stderr.decode()
    for name in (
        "rich",
        "hypothesis",
        "jsonschema",
        "referencing",
        "tokenizers",
        "requests",
        "promptc.check.rules.texts",
        "promptc.cli.views.meter",
    ):
        assert f"'{name}'" not in loaded
