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
        ("b: {<<: *a}\n", "PC0114", 1, 5),
        ("b:\n  <<: [*a, *c]\n", "PC0114", 2, 3),
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
    assert only("a: 1\nb: 2\na: 3\n").message == "the key `a` appears twice in this mapping; the first is at line 1, column 1"


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        (
            "name: x\nsections:\n  - id: a\n    text: Rules: be brief\n",
            (4, 16),
            "the value of `text` has a `: `, which YAML reads as the end of another key",
            'quote the whole value: `text: "Rules: be brief"`',
        ),
        (
            "name: x\nsections: x\n  - id: a\n",
            (3, 5),
            "`id` is indented under `sections`, which has a value already: `x`",
            "remove that value, if the list belongs to `sections`",
        ),
        (
            "name: x\noutput: messages\n  format: messages\nsections: []\n",
            (3, 3),
            "`format` is indented under `output`, which has a value already: `messages`",
            "begin the line with `format`, like `output`; or remove that value, if `format` belongs to `output`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: {% if x %}a{% endif %}\n",
            (4, 11),
            "this template has no quotes, and YAML reads its brace as the start of a mapping",
            'quote a template: `text: "{{ state.name }}"`; an expression needs no braces: `when: state.on`',
        ),
        (
            "name: x\nsections:\n\t- id: a\n\t  text: x\n",
            (3, 1),
            "this line is indented with a tab, and YAML takes only spaces there",
            "indent with spaces; most editors can turn tabs into spaces for a whole file",
        ),
        (
            "name: x\nsections:\n  - id: a\n\ttext: x\n",
            (4, 1),
            "this line is indented with a tab, and YAML takes only spaces there",
            "indent with spaces; most editors can turn tabs into spaces for a whole file",
        ),
        (
            "name: x\nsections:\n  - id: a\n     text: x\n",
            (4, 6),
            "`text` is indented under `id`, which has a value already: `a`",
            "indent `text` by 4 spaces, like `id`; or remove that value, if `text` belongs to `id`",
        ),
        (
            "name: x\nsections:\n  - id: a\n   text: x\n",
            (4, 4),
            "`text` is indented by 3 spaces, which fits no key above it",
            "indent it by 4, like `id` (line 3), or by 0, like `sections` (line 2); a new entry of a list begins with `- `",
        ),
        (
            "name: x\nsections:\n  - id: a\n    items:\n      from: state.x\n     text: x\n",
            (6, 6),
            "`text` is indented by 5 spaces, which fits no key above it",
            "indent it by 6, like `from` (line 5), or by 4, like `items` (line 4); a new entry of a list begins with `- `",
        ),
        (
            "name: x\nsections:\n  - id: a\n  text: x\n",
            (4, 3),
            "`text` is indented by 2 spaces, which fits no key above it",
            "indent it by 4, like `id` (line 3), or by 0, like `sections` (line 2); a new entry of a list begins with `- `",
        ),
        (
            "name: x\n sections:\n  - id: a\n",
            (2, 2),
            "`sections` is indented under `name`, which has a value already: `x`",
            "begin the line with `sections`, like `name`; or remove that value, if `sections` belongs to `name`",
        ),
        (
            'name: x\nsections:\n  - id: a\n    text: "hello\n    role: user\n  - id: b\n    text: x\n',
            (4, 11),
            'the quote `"` that opens here is never closed',
            'write the second `"` where the text ends: `text: "hello"`',
        ),
        (
            'name: x\nsections:\n  - id: a\n    text: "hello\n    title: "x"\n',
            (4, 11),
            'the quote `"` that opens here closes only in line 5, in the middle of another value',
            'write the second `"` at the end of its own line',
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: 'it's me'\n",
            (4, 15),
            "the value of `text` ends at its closing quote `'`, and more follows",
            'quote the whole value: `text: "it\'s me"`',
        ),
        (
            'name: x\nsections:\n  - id: a\n    text: "say "hi" now"\n',
            (4, 17),
            'the value of `text` ends at its closing quote `"`, and more follows',
            "quote the whole value: `text: 'say \"hi\" now'`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    when: 'calm' == state.mood\n",
            (4, 18),
            "the value of `when` ends at its closing quote `'`, and more follows",
            "quote the whole value: `when: \"'calm' == state.mood\"`",
        ),
        (
            'name: x\nsections:\n  - id: a\n    when: "calm" == state.mood\n',
            (4, 18),
            'the value of `when` ends at its closing quote `"`, and more follows',
            "quote the whole value: `when: '\"calm\" == state.mood'`",
        ),
        (
            "name: x\nsections:\n  - id:a\n    text: x\n",
            (3, 8),
            "a `:` needs a space after it",
            "write `id: a`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text:x\n    role: user\n",
            (4, 10),
            "a `:` needs a space after it",
            "write `text: x`",
        ),
        (
            "name: x\nsections\n  - id: a\n    text: x\n",
            (2, 1),
            "`sections` has no `:`, so it is not a key with a value",
            "write `sections:`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    role user\n    text: x\n",
            (4, 5),
            "`role user` has no `:`, so it is not a key with a value",
            "write `role: user`",
        ),
        (
            "promptc: 1\nname: x\nversion 1.0.0\ntokenizer: c\n",
            (3, 1),
            "`version 1.0.0` has no `:`, so it is not a key with a value",
            "write `version: 1.0.0`",
        ),
        (
            "promptc 1\nname: x\nversion: 1.0.0\ntokenizer: c\n",
            (1, 1),
            "`promptc 1` has no `:`, so it is not a key with a value",
            "write `promptc: 1`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\n    Two line.\n      Three.\n  - id: b\n    text: x\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\nTwo line.\n      Three.\n  - id: b\n    text: x\n",
            (6, 1),
            "this line ends the text of `text` (line 4): it is indented by 0 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\nNote: two line.\n      Three.\n  - id: b\n    text: x\n",
            (6, 1),
            "this line ends the text of `text` (line 4): it is indented by 0 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\n     Two line.\n      Three.\n  - id: b\n    text: x\n",
            (6, 6),
            "this line ends the text of `text` (line 4): it is indented by 5 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\n    {% if state.x %}\n      Three.\n    {% endif %}\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\n{% if state.x %}\n      Three.\n{% endif %}\n",
            (6, 1),
            "this line ends the text of `text` (line 4): it is indented by 0 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\n    {{ state.x }}\n  - id: b\n    text: x\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\n    'Two'nd line.\n    role: user\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            'name: x\nsections:\n  - id: a\n    text: |\n      One line.\n    "Two line.\n    role: user\n',
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      One line.\n    {{ state.x\n    role: user\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      List:\n    - one\n    - two\n  - id: b\n    text: x\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      List:\n    # Heading\n      more\n  - id: b\n    text: x\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n      List:\n    * one\n      more\n  - id: b\n    text: x\n",
            (6, 5),
            "this line ends the text of `text` (line 4): it is indented by 4 spaces, and the text by 6",
            "indent the line by at least 6 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n        First.\n      Second.\n  - id: b\n    text: x\n",
            (6, 7),
            "this line ends the text of `text` (line 4): it is indented by 6 spaces, and the text by 8",
            "indent the line by at least 8 spaces, like the first line of the text",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\n    First.\n    Second.\n  - id: b\n    text: x\n",
            (5, 5),
            "the text of `text` (line 4) must be indented deeper than its key; this line has 4 spaces",
            "indent each line of the text by 6 spaces",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: |\nFirst.\nSecond.\n  - id: b\n    text: x\n",
            (5, 1),
            "the text of `text` (line 4) must be indented deeper than its key; this line has 0 spaces",
            "indent each line of the text by 6 spaces",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: | First.\n      Second.\n",
            (4, 13),
            "`|` begins a text that is written on the lines below it, but here more follows on the same line",
            "move the text to the next line and indent it; or leave `|` out: `text: First.`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: `code` hello\n",
            (4, 11),
            "a string that begins with a backquote needs quotes",
            'quote it: `text: "…"`',
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: *bold* hello\n",
            (4, 11),
            "a string that begins with `*` needs quotes",
            'quote it: `text: "*bold* hello"`',
        ),
        ("name: x\ncount: [*]\n", (2, 9), "a string that begins with `*` needs quotes", 'write `"*"`'),
        ("name: x\nhold: {items: >2, cut: 1}\n", (2, 15), "a string that begins with `>` needs quotes", 'write `">2"`'),
        (
            "name: x\nsections:\n  - id: a\n    pinned:\u00a0true\n",
            (4, 12),
            "YAML does not read the no-break space (U+00A0) here as a space",
            "write a plain space instead",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: [Notes] are here\n",
            (4, 19),
            "the value of `text` ends at its closing bracket `]`, and more follows",
            'quote the whole value: `text: "[Notes] are here"`',
        ),
        (
            "name: x\nsections:\n  - id: a\n    truncate: [a, b\n    text: x\n",
            (4, 15),
            "the bracket `[` that opens here is never closed",
            "write `]` where it ends, and a `,` between the values in it",
        ),
        (
            "name: x\nsections:\n  - {id: a, text: x\n  - {id: b, text: y}\n",
            (3, 5),
            "the bracket `{` that opens here is never closed",
            "write `}` where it ends, and a `,` between the values in it",
        ),
        (
            "name: x\nsections:\n  - {id: a text: x}\n",
            (3, 16),
            "a `,` is missing between two values of this `{`",
            'write `,` before `text`; or quote a string that holds `: `, such as `"Note: be brief"`',
        ),
        (
            "name: x\ntruncate: [a b]\nsections:\n  - {id: a, text: x, budget: {min: 3 max: 4}}\n",
            (4, 41),
            "a `,` is missing between two values of this `{`",
            'write `,` before `max`; or quote a string that holds `: `, such as `"Note: be brief"`',
        ),
        (
            "name: x\nsections:\n  - {id: a, text: x}}\n",
            (3, 21),
            "this `}` closes nothing",
            "remove it, or write the bracket that it closes",
        ),
        (
            "name: x\nsections:\n  - {id: a, text: Rules: be brief}\n",
            (3, 24),
            "in `{}`, a string that holds `: ` needs quotes",
            'write `"Rules: be brief"`',
        ),
        (
            "name: x\nsections:\n  - {id: a, when: state.a ? 1 : 2}\n",
            (3, 31),
            "this value has a `? :`",
            "write `if` and `else`: `'calm' if state.safe else 'tense'`",
        ),
        (
            "name: x\nsections:\n  - {id: a, text: x]\n",
            (3, 20),
            "`]` does not close the `{` before it",
            "write `}` in its place",
        ),
        (
            'name: x\nsections:\n  - id: a\n    text: "C:\\path"\n',
            (4, 14),
            "in double quotes a backslash begins an escape, and `\\p` is not one",
            "write the backslash twice, `\\\\`, or put the text into single quotes",
        ),
        (
            "name: x\nsections:\n  -id: a\n   text: x\n",
            (3, 3),
            "a `-` that begins an entry needs a space after it",
            "write `- id: a`",
        ),
        (
            "name: x\n- id: a\n  text: x\n",
            (2, 1),
            "a `-` begins an entry of a list here, among the keys of a mapping",
            "write the key of the list in a line of its own above it, such as `sections:`",
        ),
        (
            "- a\nb: 1\n",
            (2, 1),
            "`b` begins where the entries of a list do, and is no entry",
            "begin the line with `- `, or move it out of the list",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: x\n  id: b\n",
            (5, 3),
            "`id` is indented by 2 spaces, which fits no key above it",
            "indent it by 4, like `text` (line 4), or by 0, like `sections` (line 2); a new entry of a list begins with `- `",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: x\n - id: b\n   text: y\n",
            (5, 2),
            "this entry is indented by 1 space, which fits no entry above it",
            "indent it by 2, like the entry (line 3)",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: x\n   - id: b\n     text: y\n",
            (5, 4),
            "this entry is indented by 3 spaces, which fits no entry above it",
            "indent it by 2, like the entry (line 3)",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: x\n    - id: b\n      text: y\n",
            (5, 5),
            "this entry is indented by 4 spaces, which fits no entry above it",
            "indent it by 2, like the entry (line 3)",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: - one\n",
            (4, 11),
            "a string that begins with `-` needs quotes",
            'quote it: `text: "- one"`; or begin a list in the next line',
        ),
        (
            "name: x\nsections:\n  - id: a\n    items: - from: x\n",
            (4, 12),
            "a string that begins with `-` needs quotes",
            'quote it: `items: "- from: x"`; or begin a list in the next line',
        ),
        (
            "name: x\nsections:\n  - id: a\n    when: | state.on\n",
            (4, 13),
            "`|` begins a text that is written on the lines below it, but here more follows on the same line",
            "move the text to the next line and indent it; or leave `|` out: `when: state.on`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    when: > 3\n",
            (4, 13),
            "`>` begins a text that is written on the lines below it, but here more follows on the same line",
            "move the text to the next line and indent it; an expression that begins with `>` has no left side: `when: state.n > 3`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: Some words\n      and: more\n",
            (5, 7),
            "`and` is indented under `text`, which has a value already: `Some words`",
            "indent `and` by 4 spaces, like `text`; or remove that value, if `and` belongs to `text`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: Some words\n    and more\n    role: user\n",
            (5, 5),
            "`and more` has no `:`, so it is not a key with a value",
            "write `and: more`",
        ),
        (
            "name: x\nsections:\n  - id: a\n    text: x # y\n    'bad\n",
            (5, 5),
            "the quote `'` that opens here is never closed",
            "write the second `'` where the text ends: `'bad'`",
        ),
        (
            'a: \'x\'\nb: "one" or "two"\n',
            (2, 10),
            'the value of `b` ends at its closing quote `"`, and more follows',
            'quote the whole value: `b: \'"one" or "two"\'`',
        ),
        (
            " name: x\nversion: 1.0.0\n",
            (2, 1),
            "this line begins further left than `name`, the first key (line 1)",
            "begin both in the same column: remove the indent of line 1",
        ),
        (
            "{a: 3}\nb: 3",
            (2, 1),
            "what begins in line 1 ends before this line, so this line belongs to no value",
            "write a file of keys with their values, such as `promptc: 1` and `name: my-pack`",
        ),
        (
            "a: x\nwhen: state.n ? 1 : 2\n",
            (2, 19),
            "the value of `when` has a `? :`",
            "write `if` and `else`: `'calm' if state.safe else 'tense'`",
        ),
        (
            "a: {b: c, d e}\nf: {: g}\n",
            (2, 5),
            "YAML cannot read this: did not find expected node content",
            "look here and in the line above for a wrong indent, a missing quote or a bracket that is not closed",
        ),
    ],
)
def test_bad_syntax_says_what_was_probably_done_and_what_to_write(text, place, message, help):
    found = only(text)
    assert (found.code, (found.span.line, found.span.column), found.message, found.help) == ("PC0110", place, message, help)


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
    assert findings("[" * 900 + "]" * 900) == [("PC0105", 1, MAX_DEPTH + 1)]
    assert [code for code, _, _ in findings("[" * 3000 + "]" * 3000)] == ["PC0105"]  # libyaml 0.2.6 stops at 1,000, before the first event
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

    monkeypatch.setattr("promptc.frontend.yaml.iter_events", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load("a: 1")
