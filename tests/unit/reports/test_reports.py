"""What other programs read is what their own readers understand, whatever the findings hold."""

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped
from sarif_pydantic import Sarif

from promptc.cli.reports import MARK, MOST_ANNOTATIONS, render_github, render_json, render_junit, render_markdown, render_sarif
from promptc.diag.findings import Diagnostic, Level, Span
from promptc.golden.verdicts.verdict import Figures, GoldenDifference, Mover, Status, Verdict

_LEVELS: tuple[Level, ...] = ("error", "warn", "note")
_STATUSES: tuple[Status, ...] = ("passed", "failed", "new", "obsolete", "broken")
_TEXTS = st.text(st.sampled_from("ab \n\t%:,|`<>&\"'\x00\x1b\ud800é\u2028*_[]@#"), min_size=1, max_size=12)
_SPANS = st.none() | st.builds(Span, _TEXTS, st.integers(1, 9), st.integers(1, 9), _TEXTS)
_FOUND = st.builds(Diagnostic, st.sampled_from(["PC0531", "PC0920", "PC0999"]), _TEXTS, _SPANS, _TEXTS, st.sampled_from(_LEVELS))
_FIGURES = st.none() | st.builds(
    Figures,
    st.none() | st.integers(0, 99999),
    st.none() | _TEXTS,
    st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    st.just({}),
    st.just({}),
    st.dictionaries(_TEXTS, st.tuples(_TEXTS), max_size=3),
)
_VERDICTS = st.builds(
    Verdict,
    _TEXTS,
    st.sampled_from(_STATUSES),
    st.just("/r"),
    st.just("/r/f"),
    _TEXTS,
    _TEXTS,
    _TEXTS,
    st.lists(_FOUND, max_size=3).map(tuple),
    st.just((GoldenDifference("text", "f/golden.txt", b"a", b"b", "f/golden.txt.new"),)),
    st.just(()),
    st.none() | _FOUND,
    _FIGURES,
    _FIGURES,
    st.lists(st.builds(Mover, _TEXTS, _SPANS), max_size=2).map(tuple),
    st.sampled_from(["", "an edit", "another"]),
    microseconds=st.integers(0, 10**9),
)


@given(st.lists(_FOUND, max_size=6))
def test_sarif_is_what_its_types_say(found: list[Diagnostic]) -> None:
    run = Sarif.model_validate_json(render_sarif(found).encode()).runs[0]
    assert run.results is not None and len(run.results) == len(found)
    rules = run.tool.driver.rules or []
    for one, result in zip(found, run.results, strict=True):
        assert result.rule_index is not None and rules[result.rule_index].id == one.code == result.rule_id
        assert bool(result.locations) == (one.span is not None)
        assert str(getattr(result.level, "value", result.level)) == {"error": "error", "warn": "warning", "note": "note"}[one.level]


def test_a_sarif_that_is_wrong_is_refused() -> None:
    """That the types do judge."""
    text = render_sarif([Diagnostic("PC0531", "x", Span("a b/ü.yaml", 3, 4))])
    assert "a%20b/%C3%BC.yaml" in text
    with pytest.raises(ValueError, match="level"):
        Sarif.model_validate_json(text.replace('"level": "error"', '"level": "fatal"'))


@given(st.lists(_VERDICTS, max_size=5), st.booleans())
def test_junit_can_be_read_back(verdicts: list[Verdict], is_ci: bool) -> None:
    text = render_junit(verdicts, is_ci=is_ci)
    read = JUnitXml.fromroot(JUnitXml.fromstring(text.encode())._elem)
    cases = [case for suite in read for case in suite]
    assert len(cases) == len(verdicts)
    kinds = {Failure: "failure", Error: "error", Skipped: "skipped"}
    wanted = {"broken": "error", "failed": "failure", "passed": None}
    by_suite: dict[str, list[Verdict]] = {}
    for one in verdicts:
        by_suite.setdefault(one.name.partition("/")[0], []).append(one)
    for one, case in zip([one for some in by_suite.values() for one in some], cases, strict=True):
        kind = kinds[type(case.result[0])] if case.result else None
        assert kind == wanted.get(one.status, "failure" if is_ci else "skipped")
    assert f'tests="{len(verdicts)}"' in text


_COMMAND = re.compile(r"::(error|warning|notice) ([^\n]*?)::([^\n]*)")


@given(st.lists(_FOUND, max_size=40))
def test_each_annotation_is_one_line_and_there_are_no_more_than_are_shown(found: list[Diagnostic]) -> None:
    lines = render_github(found).split("\n")
    assert lines.pop() == ""
    matched = [_COMMAND.fullmatch(line) for line in lines]
    assert all(matched)
    for name, level in (("error", "error"), ("warning", "warn"), ("notice", "note")):
        shown = [one for one in matched if one is not None and one[1] == name]
        number = sum(one.level == level for one in found)
        assert len(shown) == min(number, MOST_ANNOTATIONS)
        if number > MOST_ANNOTATIONS:
            assert shown[-1][3] == f"and {number - MOST_ANNOTATIONS + 1} more; the log has them all"


def test_an_annotation_keeps_its_text() -> None:
    one = Diagnostic("PC0531", "100 %, two\nlines", Span("a,b:c.yaml", 3, 4), "mend it")
    found = "::error file=a%2Cb%3Ac.yaml,line=3,col=4,title=promptc PC0531::100 %25, two%0Alines%0Ahelp: mend it\n"
    assert render_github([one]) == found


@given(st.lists(_VERDICTS, max_size=8), st.integers(400, 4000))
def test_a_comment_has_its_mark_and_is_not_too_long(verdicts: list[Verdict], most: int) -> None:
    text = render_markdown(verdicts, {"passed": 3}, lambda group: "```\n" * 3 + group[0].name, most)
    assert text.startswith(MARK + "\n### promptc: ")
    assert len(text) <= max(most, 400)
    assert text.count("<details>") == text.count("</details>")


def test_names_cannot_write_markdown_of_their_own() -> None:
    one = Verdict("a|b`c", "failed", "/r", "/r/f", "f", "@all <img src=x> **x**")
    text = render_markdown([one], {"passed": 1}, lambda _: "````")
    assert "| <code>a\\|b\\`c</code> |" in text and "&#64;all &lt;img src=x&gt; \\*\\*x\\*\\*" in text
    assert "`````diff\n````\n`````\n" in text


@pytest.mark.parametrize(("name", "shown"), [("x\\|@b", "<code>x\\\\\\|&#64;b</code>"), ("e\x1b\u202e", "<code>e\\\\x1b\\\\u202e</code>")])
def test_a_name_stays_in_its_cell_and_controls_nothing(name: str, shown: str) -> None:
    """In a table, `\\\\|` is a backslash and the end of a cell, in code too."""
    text = render_markdown([Verdict(name, "failed", "/r", "/r/f", "f", "")], {"passed": 1}, lambda _: "")
    assert f"| {shown} | failed |" in text and not {"\x1b", "\u202e"} & set(text)
    line = render_github([Diagnostic("PC0531", f"`{name}`", Span(f"{name}/a.yaml", 1, 1))])
    assert not {"\x1b", "\u202e"} & set(line)


def test_a_message_has_neither_a_link_nor_a_placeholder() -> None:
    """SARIF 2.1.0, §3.11.5 and §3.11.6."""
    one = Diagnostic("PC0531", "`[click](https://evil.example) {0}`", None, "choose one of [a, b]")
    (result,) = json.loads(render_sarif([one], [[one]]))["runs"][0]["results"]
    said = "`[click] (https://evil.example) {{0}}`"
    assert result["message"]["text"] == f"{said}\nhelp: choose one of [a, b]"
    assert result["relatedLocations"][0]["message"]["text"] == said


@given(st.lists(_VERDICTS, max_size=4))
def test_json_holds_every_verdict(verdicts: list[Verdict]) -> None:
    read = json.loads(render_json(verdicts, {"passed": 1}))
    assert [one["status"] for one in read["cases"]] == [one.status for one in verdicts]
    assert io.StringIO(render_json(verdicts, {})).read().endswith("}\n")
