"""Commands that are not there: those of a later version are said to be that, and nothing is suggested that was not meant."""

import re

import pytest

from promptc.cli.group import COMMANDS, LATER
from tests.contract.sources import ROOT


# contract 12.1
def test_the_later_commands_are_those_the_language_names():
    named = re.search(
        r"\*Not in this version yet:\* of the commands of §12 (.*)\.", (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    )
    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[1])) == LATER
    assert not LATER & set(COMMANDS)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("doctor", "this version has no command `doctor` yet"),
        ("rendr", "did you mean `render`?"),
        ("chck", "did you mean `check`?"),
        ("frobnicate", "`promptc help` lists the commands"),
    ],
)
def test_what_is_said(run, word, says):
    done = run(word)
    assert done.code == 2 and says in done.err
    assert "prune" not in done.err
