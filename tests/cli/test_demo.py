"""`make demo` shows a prompt and its meter on one screen: 24 lines of 80 columns, with the line where the next command is typed."""

import re

from tests.cli.conftest import ROOT


def test_the_demo_fits_a_screen_and_warns_of_nothing(run, golden, monkeypatch):
    monkeypatch.chdir(ROOT)
    (arguments,) = re.findall(r"^DEMO := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    shown = ""
    for command in ("render", "explain"):
        done = run(command, *arguments.split())
        assert (done.code, done.err) == (0, "")
        shown += f"$ promptc {command} {arguments}\n{done.out}"
    assert len(shown.splitlines()) < 24 and max(map(len, shown.splitlines())) <= 80
    golden("demo.txt", shown)
