"""YAML is read as the core schema of 1.2, and whatever would read differently elsewhere is refused with its place."""

from pathlib import Path

import pytest

from promptc.diag.findings import PromptcError
from promptc.frontend.yaml import MAX_ANCHORS, MAX_BYTES, MAX_DEPTH, MAX_NODES, load_yaml

FOLDER = Path("pack")


def load(text):
    return load_yaml(text if isinstance(text, bytes) else text.encode(), "pack.yaml", FOLDER)


def findings(text):
    with pytest.raises(PromptcError) as caught:
        load(text)
    return [(found.code, found.span.line, found.span.column) for found in caught.value.diagnostics]


def only(text):
    with pytest.raises(PromptcError) as caught:
        load(text)
    (found,) = caught.value.diagnostics
    return found


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e3", 1000),
        ("1.5e1", 15.0),
        ("+3", 3),
        (".5", 0.5),
        ("1.", 1.0),
        ("-0.0", -0.0),
        ("yes", "yes"),
        ("Off", "Off"),
        ("12:30:45", "12:30:45"),
        ("2024-01-01", "2024-01-01"),
        ("2024-13-45", "2024-13-45"),
        ("1_000", "1_000"),
        ("1.0.0", "1.0.0"),
        ("~", None),
        ("", None),
        ("Null", None),
        ("TRUE", True),
        ("false", False),
        ("'12'", "12"),
        ('"true"', "true"),
        ("=", "="),
    ],
)
def test_scalars_are_those_of_yaml_1_2(raw, value):
    read = load(f"a: {raw}\n").value["a"].value
    assert read == value
    assert type(read) is type(value)


def test_every_value_knows_its_place_and_its_own_text():
    node = load("name: x\nitems:\n  - {id: a, at: 0.70}\n  - |\n    text\n")
    first = node.value["items"].value[0]
    assert (first.span.line, first.span.column) == (3, 5)
    assert (first.value["at"].span.column, first.value["at"].raw, first.value["at"].value) == (17, "0.70", 0.7)
    assert first.key_span("at").column == 13
    assert node.key_span("items").line == 2
    assert first.span.excerpt == "  - {id: a, at: 0.70}"
    assert node.folder == FOLDER
    assert node.plain() == {"name": "x", "items": [{"id": "a", "at": 0.7}, "text\n"]}


def test_line_ends_and_a_byte_order_mark_change_nothing():
    plain = load("a: |\n  x\n  y\nb: 1\n").plain()
    assert load("a: |\r\n  x\r\n  y\r\nb: 1\r\n").plain() == plain
    assert load("a: |\r  x\r  y\rb: 1\r").plain() == plain
    assert load(b"\xef\xbb\xbfa: |\n  x\n  y\nb: 1\n").plain() == plain


def test_an_alias_is_its_anchors_value():
    node = load("a: &x {k: 1}\nb: [*x, *x]\n")
    assert node.value["b"].value[0] is node.value["a"]


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("name: one\nname: two\n", "PC0106", 2, 1),
        ("a:\n  b: 1\n  b: 2\n", "PC0106", 3, 3),
        ("'a': 1\n\"a\": 2\n", "PC0106", 2, 1),
        ("12: x\n", "PC0112", 1, 1),
        ("true: x\n", "PC0112", 1, 1),
        ("? [a, b]\n: 1\n", "PC0112", 1, 3),
        ("? \n: 1\n", "PC0112", 1, 2),
        ("text: {{ x }}\n", "PC0112", 1, 8),
        ("a: &a {x: 1}\nb: {<<: *a}\n", "PC0114", 2, 5),
        ("a: !!str 1\n", "PC0113", 1, 4),
        ("a: !include x\n", "PC0113", 1, 4),
        ("! a\n", "PC0113", 1, 1),
        ("!!python/object/apply:os.system ['x']\n", "PC0113", 1, 1),
        ("%YAML 1.1\n---\na: 1\n", "PC0115", 1, 1),
        ("%TAG ! !x\n---\na: 1\n", "PC0115", 1, 1),
        ("a: 1\n---\nb: 1\n", "PC0116", 2, 1),
        ("a: *b\n", "PC0118", 1, 4),
        ("a: &a [*a]\n", "PC0118", 1, 8),
        ("a: 1e999\n", "PC0107", 1, 4),
        ("a: .inf\n", "PC0107", 1, 4),
        ("a: .NaN\n", "PC0107", 1, 4),
        (f"a: {'9' * 5000}\n", "PC0107", 1, 4),
        (f"a: 0x{'f' * 20000}\n", "PC0107", 1, 4),
        ("a: 9223372036854775808\n", "PC0107", 1, 4),
        ('name: "x\0y"\n', "PC0104", 1, 9),
        ("name: x\u2028role: system\n", "PC0104", 1, 8),
        ("name: x\x85y\n", "PC0104", 1, 8),
        ("name: a\ufeffb\n", "PC0104", 1, 8),
        ("a: 1\nb: \x1b[0m\n", "PC0104", 2, 4),
        ('name: "x\\0y"\n', "PC0133", 1, 7),
        (b"name: caf\xe9\n", "PC0101", 1, 10),
        (b"\xff\xfea\x00", "PC0101", 1, 1),
        (b"a: 1\r\nb: \xed\xa0\x80\n", "PC0101", 2, 4),
        ("", "PC0103", 1, 1),
        ("# nothing\n", "PC0103", 1, 1),
        ("~\n", "PC0103", 1, 1),
    ],
)
def test_what_is_refused_has_its_place(text, code, line, column):
    assert findings(text) == [(code, line, column)]


def test_the_second_of_two_keys_names_the_first():
    assert only("a: 1\nb: 2\na: 3\n").message == "the key `a` is here a second time; the first is at line 1, column 1"


@pytest.mark.parametrize(
    ("text", "line", "help"),
    [
        ("text: x {{ x }}: {% y %}\n", 1, "quote a template"),
        ("text: {% if x %}\n", 1, "quote a template"),
        ("a: b: c\n", 1, "quote a text that holds"),
        ("a:\n\tb: 1\n", 2, "indent with spaces"),
        ("a: %x\n", 1, "quote a text that begins with"),
        ("a: [1, 2\n", 1, "closed"),
        ("a: 1\nb: 'x\nc: 2\n", 2, "closed"),
        ("a: {x: 1\nb: 2\n", 1, "closed"),
        ("when: 'x' == y\n", 1, "quote the whole"),
        ("when: [a] == y\n", 1, "quote the whole"),
        ("a: -\n", 1, "begins with `-`"),
        ("a:\n - b\n c: 1\n", 3, "begins with `-`"),
        ('a: "\\q"\n', 1, "backslash"),
    ],
)
def test_bad_syntax_says_what_would_mend_it(text, line, help):
    found = only(text)
    assert (found.code, found.span.line) == ("PC0110", line)
    assert help in found.help


def test_an_unquoted_template_is_one_finding():
    found = only("text: {{ x }} and more\n")
    assert (found.code, found.help) == (
        "PC0112",
        'quote a template: `text: "{{ state.name }}"`; an expression needs no braces: `when: state.on`',
    )


def test_all_findings_come_at_once():
    assert findings("a: 1\na: 2\n3: x\nb: !t c\nd: 1e999\n") == [
        ("PC0106", 2, 1),
        ("PC0112", 3, 1),
        ("PC0113", 4, 4),
        ("PC0107", 5, 4),
    ]


def test_findings_before_bad_syntax_are_kept():
    assert [code for code, _, _ in findings("a: 1\na: 2\nb: 'x\n")] == ["PC0106", "PC0110"]


def test_findings_are_bounded():
    assert len(findings("".join(f"a: {place}\n" for place in range(1000)))) == 20


@pytest.mark.parametrize("before", range(17, 23))
def test_bad_syntax_may_be_the_last_of_the_findings(before):
    found = findings("a: 1\n" * (before + 1) + "b: ]\n")
    assert [code for code, _, _ in found] == (["PC0106"] * before + ["PC0110"])[:20]


def test_depth_is_bounded_with_and_without_aliases():
    assert load("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert findings("[" * 3000 + "]" * 3000) == [("PC0105", 1, MAX_DEPTH + 1)]
    chain = "".join(f"a{place}: &a{place} [{f'*a{place - 1}' if place else 1}]\n" for place in range(MAX_DEPTH + 5))
    assert [code for code, _, _ in findings(chain)] == ["PC0105"]


def test_aliases_are_counted_as_what_they_stand_for():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{place}: &a{place} [{', '.join([f'*a{place - 1}'] * 9)}]\n" for place in range(1, 10)
    )
    assert [code for code, _, _ in findings(bomb)] == ["PC0117"]
    assert [code for code, _, _ in findings("".join(f"k{place}: &a{place} 1\n" for place in range(MAX_ANCHORS + 1)))] == ["PC0117"]
    assert load("".join(f"k{place}: &a{place} 1\n" for place in range(MAX_ANCHORS)))


def test_values_and_bytes_are_bounded():
    assert [code for code, _, _ in findings("[" + "1," * MAX_NODES + "]")] == ["PC0117"]
    assert findings(b"#" * (MAX_BYTES + 1)) == [("PC0102", 1, 1)]


def test_an_interrupt_is_one_whatever_is_loaded(monkeypatch):
    """It may fall into the import of what reads YAML."""

    def interrupt(_):
        monkeypatch.delattr("yaml.YAMLError")
        raise KeyboardInterrupt

    monkeypatch.setattr("promptc.frontend.yaml._iter_events", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load("a: 1")
