"""The tables of `jinja_cases/`: each line prints what Jinja prints, or fails in both, or differs for a reason of the closed list.

A line is a template, `⏎ ␍ ␉ ␠` standing for line feed, carriage return, tab and a space at an end; then, if it does not print the same
in both, two spaces, an arrow and `fails`, or `differs:` and the name of the deviation.
"""

from pathlib import Path

import pytest

from tests.unit.template.deviations import BY_NAME
from tests.unit.template.oracle import ask_jinja, ask_promptc
from tests.unit.template.rich_names import FILES, NAMES

_SIGNS = str.maketrans({"⏎": "\n", "␍": "\r", "␉": "\t", "␠": " "})
_TABLES = sorted((Path(__file__).parent / "jinja_cases").glob("*.txt"))


def _load_cases():
    for path in _TABLES:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line and not line.startswith("# "):
                text, _, expected = line.partition("  →  ")
                yield pytest.param(text.translate(_SIGNS), expected or "equal", id=f"{path.stem}-{number}")


CASES = list(_load_cases())


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_prints_what_jinja_prints(text, expected):
    jinja, ours = ask_jinja(text, NAMES, FILES), ask_promptc(text, NAMES, FILES)
    if expected == "equal":
        assert (ours.text, ours.why) == (jinja.text, "")
        # Promptc computes no constant before it runs: in Jinja, too, that changes no output.
        assert ask_jinja(text, NAMES, FILES, is_folding=False) == jinja
    elif expected == "fails":
        assert (ours.text, jinja.text) == (None, None)
        assert all(found.help for found in ours.findings)
    else:
        deviation = BY_NAME.get(expected.removeprefix("differs: "))
        assert deviation is not None, f"deviations.py has no `{expected}`: correct the name here, or add the deviation there"
        assert ours.text != jinja.text
        assert deviation.recognises(text, NAMES, FILES, jinja, ours), (jinja, ours)


def test_the_tables_are_as_large_as_promised():
    expected = [case.values[1] for case in CASES]
    assert expected.count("equal") >= 700 and expected.count("fails") >= 300
    assert len(CASES) == len({case.values[0] for case in CASES}), "a line stands twice"


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_every_deviation_has_a_case(name):
    assert any(case.values[1] == f"differs: {name}" for case in CASES), f"add a line `...  →  differs: {name}` to a file of jinja_cases"


def test_a_deviation_does_not_swallow_a_wrong_text():
    """What is printed otherwise than by Jinja is no deviation unless escaping or a file's own signs explain it."""
    jinja, ours = ask_jinja("{{ 1 + 1 }}", NAMES, FILES), ask_promptc("{{ 1 + 2 }}", NAMES, FILES)
    assert not [one.name for one in BY_NAME.values() if one.recognises("{{ 1 + 1 }}", NAMES, FILES, jinja, ours)]
    failed = ask_promptc("{{ nope }}", NAMES, FILES)
    assert not [one.name for one in BY_NAME.values() if one.recognises("{{ nope }}", NAMES, FILES, failed, ours)]
