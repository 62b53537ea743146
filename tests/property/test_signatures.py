"""What `check` says of a call's arguments and what a run does: where one is content, so is the other, for calls drawn at random."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError
from promptc.template import signatures as table
from tests.unit.template.signatures_run import judge, judge_all, run

CONSTANTS = st.sampled_from(
    """
    'a' '' 'word' 'key' 0 1 -1 3 2.5 101 2001 true false none [] [1] ['a'] ('a',) ('a','b') {'a':1} '2026-11-22' 'upper' 'odd' 'eq' 'x|y'
    ['tel:'] [1]|first 1+1 range(3)
    """.split()
)
HOLDERS = st.sampled_from(["'a b'", "''", "7", "2.5", "[1, 2]", "['a', 'B']", "[['a', 1]]", "{'a': 1}", "'2026-11-22'", "range(3)", "[]"])
OF_ARGUMENTS = frozenset({"PC0424", "PC0422", "PC0430", "PC0415"})
"""What a run fails with where an argument is wrong; of another sort (PC0414, PC0411, PC0416) are values."""


@st.composite
def calls(draw):
    """A call of anything on the lists, with names of its parameters and others."""
    sort = draw(st.sampled_from(["filter", "test", "function", "method"]))
    kind = draw(st.sampled_from([str, dict, list]))
    signatures = {"filter": table.FILTERS, "test": table.TESTS, "function": table.FUNCTIONS, "method": table.METHODS[kind]}[sort]
    name = draw(st.sampled_from(sorted(one for one in signatures if one.isidentifier())))
    names = [one.name for one in signatures[name].parameters] + ["nonesuch", "attribute"]
    args = draw(st.lists(CONSTANTS, max_size=4))
    args += [f"{key}={draw(CONSTANTS)}" for key in draw(st.lists(st.sampled_from(names), max_size=2, unique=True))]
    given = f"({', '.join(args)})"
    holder = draw(HOLDERS)
    if sort == "function":
        return f"[{name}{given}] | length"
    return {"filter": f"[{holder} | {name}{given}]", "test": f"({holder}) is {name}{given}", "method": f"[({holder}).{name}{given}]"}[sort]


@pytest.mark.dear
def test_check_and_a_run_say_the_same_of_arguments(draws):
    seen: Counter[str] = Counter()

    @settings(max_examples=draws(20_000), suppress_health_check=list(HealthCheck))
    @given(calls())
    def compare(text: str) -> None:
        try:
            said, failed = judge(text), run(text)
        except PromptcError:  # refused when it is loaded
            return
        if said:
            assert failed is not None, f"a false alarm: {text} works, and check says {said}"
        if failed is not None and failed[0] in OF_ARGUMENTS:
            assert said or "kind" in judge_all(text), f"{text} fails with {failed}, and check says {said}"
        seen["wrong" if said else "right" if failed is None else "values"] += 1

    compare()
    assert seen["wrong"] and seen["right"], seen
