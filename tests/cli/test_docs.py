"""docs/reference/commands.md shows what happens: its commands are run, in order and in one folder, and it names all there are."""

import re
import shlex
from pathlib import Path

from promptc.cli.group import COMMANDS, GROUPS
from tests.cli.conftest import ROOT

DOCUMENT = ROOT / "docs" / "reference" / "commands.md"
_BLOCK = re.compile(r"^```console\n\$ promptc ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_outputs_shown_are_the_outputs(run, tmp_path, monkeypatch, accepting):
    monkeypatch.chdir(tmp_path)
    text = DOCUMENT.read_text(encoding="utf-8")
    made = _BLOCK.sub(lambda shown: f"```console\n$ promptc {shown[1]}\n{_run(shown[1], run)}```", text)
    if accepting:
        DOCUMENT.write_text(made, encoding="utf-8", newline="\n")
    assert made == DOCUMENT.read_text(encoding="utf-8"), "run `make accept` and read the difference"


# contract 12.1
def test_every_command_is_documented():
    text = DOCUMENT.read_text(encoding="utf-8")
    found = re.findall(r"^(###?) (.*)$", text, re.MULTILINE)
    groups = [title for level, title in found if level == "##"]
    assert groups == ["Rules for all commands", *GROUPS]
    assert [title for level, title in found if level == "###" and title in COMMANDS] == list(COMMANDS)
    assert all(f"$ promptc {name} --help\n" in text for name in COMMANDS)


def _run(line: str, run) -> str:
    line, _, source = line.partition(" < ")
    done = run(*shlex.split(line), stdin=Path(source).read_bytes() if source else b"")
    assert done.code != 70, done.err
    return "".join(f"{one.rstrip()}\n" for one in (done.out + done.err).splitlines())
