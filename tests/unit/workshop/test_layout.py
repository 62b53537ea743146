"""`format_yaml`: what it writes anew and what it leaves; and for drawn YAML, that values and comments stay, judged by PyYAML."""

import time

import pytest
import yaml
from hypothesis import given, reject
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError
from promptc.files.reading import decode_text
from promptc.frontend.yaml import MAX_BYTES
from promptc.workshop.layout import LayoutError, format_yaml, lay_out
from tests.contract.sources import ROOT
from tests.size import take_part

OURS = sorted(path for folder in ("packs", "starters", "fixtures") for path in (ROOT / folder).rglob("*.yaml") if path.is_file())


def list_events(text):
    return [(type(one).__name__, *(getattr(one, key, None) for key in ("value", "anchor", "tag", "style"))) for one in yaml.parse(text)]


def list_comments(text):
    """What stands behind a `#` outside of PyYAML's tokens, or on the first line of a text after `|` or `>`."""
    gaps, end = [], 0
    for token in yaml.scan(text):
        gaps.append(text[end : token.start_mark.index])
        if getattr(token, "style", None) in ("|", ">"):
            gaps.append(text[token.start_mark.index : token.end_mark.index].partition("\n")[0])
        end = max(end, token.end_mark.index)
    lines = "\n".join([*gaps, text[end:]]).split("\n")
    return [line.partition("#")[2].strip() for line in lines if "#" in line]


def check(text):
    """The text laid out, when that is safe and done once."""
    done = lay_out(text)
    assert list_events(done) == list_events(text)
    assert list_comments(done) == list_comments(text)
    assert lay_out(done) == done
    return done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\ufeffa: 1\r\nb: 2\r\n", "a: 1\nb: 2\n"),
        ("a: 1", "a: 1\n"),
        ("\n\n# one\n\n\n\na: 1  \n\n\n", "# one\n\na: 1\n"),
        ("a:     1\nlonger:  2\n", "a: 1\nlonger: 2\n"),
        ("a: 1 # one\nb: 2     # two\n", "a: 1  # one\nb: 2     # two\n"),
        ("#one\n#!two\n##\na: 1 #3\n", "# one\n#!two\n##\na: 1  # 3\n"),
        ("a: {b:   1,  c: [x,y]}\n", "a: {b: 1,  c: [x,y]}\n"),
        ("a: |\n  x  \n\n\n  # no comment\n\n\n\nb: 1\n", "a: |\n  x  \n\n\n  # no comment\n\nb: 1\n"),
        ("a: |\n  x\n  y \n\n\n", "a: |\n  x\n  y \n"),
        ("a: |+\n  x\n\n\nb: 1\n", "a: |+\n  x\n\n\nb: 1\n"),
        ("a: |+\n  x\n\n\n", "a: |+\n  x\n\n\n"),
        ("a: >-\n  x\n\n\n", "a: >-\n  x\n"),
        ("a: |   \n  x\nb: >-  #note   \n  y\n", "a: |\n  x\nb: >-  # note\n  y\n"),
        ("a: |2- # 1\n  x\n\n\n\nb: |+  \n  y\n\n", "a: |2-  # 1\n  x\n\nb: |+\n  y\n\n"),
        ("a: |  # no +\n  x\n\n\n\nb: |  # nor -\n  y\n\n", "a: |  # no +\n  x\n\nb: |  # nor -\n  y\n"),
        ("b:   1\na: |\n  x", "b: 1\na: |\n  x"),
        ("b:   1\na: >-\n  x", "b: 1\na: >-\n  x\n"),
        ('a: "x  \n\n\n  #y"   \n', 'a: "x  \n\n\n  #y"\n'),
        ("a:   &one {b: 1}\nc:   *one\n", "a: &one {b: 1}\nc: *one\n"),
        ("a:\n    -   b: 1\n        c: 2\n", "a:\n    -   b: 1\n        c: 2\n"),
    ],
)
def test_what_is_written_anew(before, after):
    assert format_yaml(before.encode(), "pack.yaml").decode() == after
    assert format_yaml(after.encode(), "pack.yaml").decode() == after


def test_our_own_files_stay_what_they_are():
    assert len(OURS) > 300
    for path in take_part(OURS):
        try:
            text = decode_text(path.read_bytes(), path.name)
            list_events(text)
        except (PromptcError, yaml.YAMLError):
            continue
        check(text)


_WORDS = st.sampled_from(["a", "b1", "'it''s # no'", '"x: #y"', "10", "~", "a#b", "http://x/#y"])
_GAPS = st.sampled_from(["", " ", "  ", "\t", " # one", "   #two", " ## three "])
_LINES = st.lists(st.sampled_from(["", "  ", "# four", "    #five", "#"]), max_size=4).map(
    lambda lines: "".join(f"{one}\n" for one in lines)
)
_BLOCKS = st.tuples(
    st.sampled_from(["|", "|-", "|+", ">", ">-", ">+", "|2"]), st.lists(st.sampled_from(["x", "", "# no", " y "]), max_size=4)
)


@st.composite
def draw_yaml(draw, depth=0):
    indent, lines = "  " * depth, []
    for at in range(draw(st.integers(1, 3))):
        lines.append(draw(_LINES))
        kind = draw(st.sampled_from(["word", "block", "flow", "list", *(["map"] if depth < 2 else [])]))
        head = f"{indent}k{at}:{draw(st.sampled_from([' ', '   ']))}"
        if kind == "word":
            lines.append(f"{head}{draw(_WORDS)}{draw(_GAPS)}\n")
        elif kind == "flow":
            lines.append(f"{head}[{draw(_WORDS)},{draw(_GAPS)}\n{indent}  {draw(_WORDS)} ]{draw(_GAPS)}\n")
        elif kind == "block":
            sign, texts = draw(_BLOCKS)
            lines.append(f"{head}{sign}{draw(_GAPS)}\n{indent}  first\n" + "".join(f"{indent}  {one}\n" for one in texts))
        elif kind == "list":
            lines.append(f"{indent}k{at}:{draw(_GAPS)}\n" + "".join(f"{indent}-  {draw(_WORDS)}{draw(_GAPS)}\n" for _ in range(2)))
        else:
            lines.append(f"{indent}k{at}:{draw(_GAPS)}\n{draw(draw_yaml(depth + 1))}")
    return "".join(lines) + draw(_LINES)


@given(draw_yaml())
def test_values_and_comments_stay(text):
    try:
        list_events(text)
        lay_out(text)
    except (LayoutError, yaml.YAMLError):
        reject()
    check(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: [1\n", "PC0110"),
        ("a:\t1\n", "PC0110"),
        ("a: 1\n---\nb: 2\n", "PC0116"),
        ("[" * 5_000 + "]" * 5_000, None),
        (
            "a: &a [x, x]\n"
            + "".join(f"k{at}: &k{at} [*{'a' if not at else f'k{at - 1}'}, *{'a' if not at else f'k{at - 1}'}]\n" for at in range(60)),
            None,
        ),
        ("a: " + "x" * MAX_BYTES, "PC0102"),
        ("", "PC0103"),
    ],
)
def test_what_cannot_be_read_is_a_finding_soon(text, code):
    began = time.monotonic()
    with pytest.raises(PromptcError) as caught:
        format_yaml(text.encode(), "pack.yaml")
    assert time.monotonic() - began < 10
    assert code in (None, caught.value.diagnostics[0].code)


def test_a_result_that_reads_otherwise_is_refused(monkeypatch):
    monkeypatch.setattr("promptc.workshop.layout.lay_out", lambda text: text.replace("1", "2"))
    with pytest.raises(PromptcError, match="other values"):
        format_yaml(b"a: 1\n", "pack.yaml")


def test_a_tab_is_told_at_its_place():
    with pytest.raises(PromptcError) as caught:
        format_yaml(b"a: 1\nb:\t2\n", "pack.yaml")
    found = caught.value.diagnostics[0]
    assert (found.span.line, found.span.column, found.help) == (2, 3, "write spaces in place of the tab")
