"""Messages speak of values as an author writes them: no word of Python's, whatever stands in a state, a pack or a part of a message. They
are short and plain."""

import ast
import json
import re

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.operations.run import run_operation
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore
from tests.contract.sources import ROOT, list_tracked, load_modules
from tools.measure_prose import list_message_sentences, measure_ease

WORDS = re.compile(r"\b(?:None|True|False|NoneType|dict|str|int|float|bool|tuple|repr)\b|<class|<function| object at 0x")
SOURCE = re.compile(r"^ +(?:\d+ \||\|)", re.MULTILINE)
QUOTED = re.compile("`[^`]*`")
VALUES = (None, True, False, 0, 7, -3, 1.5, "", "ten", "7", [], [None, True], ["a", 1.5], {}, {"a": None, "b": [False]}, 10**18)
PARTS = (*VALUES, *({"type": one, "text": one} for one in VALUES))

PACK = """\
promptc: 1
name: values
version: 1.0.0
tokenizer: cl100k_base
budget: 2000
output: {format: messages}
"""
# Each says a place where an expression gives a value that a message may show.
PLACES = {
    "band": "let: {a: {band: state.v, of: {low: 0, high: 9}}}\nsections: [{id: a, text: x}]\n",
    "assign": "let: {a: {assign: state.v, of: {low: 1, high: 9}}}\nsections: [{id: a, text: x}]\n",
    "axis": "variants: {a: {select: state.v, cases: {low: {}, high: {}}}}\nsections: [{id: a, text: x}]\n",
    "previous": (
        "strain: {count: [a], previous: state.v, tiers: [{name: calm, at: 0}, {name: full, at: 0.5}]}\n"
        "sections: [{id: a, text: x, budget: 90}]\n"
    ),
    "fence": "sections: [{id: a, text: x, fence: {open: '{{ state.v }}', close: end}}]\n",
    "band of a list": "sections: [{id: a, text: '{{ state.v | sum }}'}]\n",
    **{
        f"items: {keys}": f"sections: [{{id: a, items: {{from: [[from]], text: x, {keys}}}}}]\n".replace(
            "[[from]]", "state.v" if keys == "limit: 2" else "'[state.v, state.v]'"
        )
        for keys in (
            "limit: 2",
            "id: item",
            "number: item",
            "sort: item",
            "group: {by: item}",
            "dedupe: {by: item}",
            "window: {last: state.v}",
            "limit_per: {by: item, caps: {low: 1}}",
        )
    },
    "rank": "sections: [{id: a, budget: 1, items: {from: '[state.v, state.v]', text: x y z}, overflow: [{evict: {by: item}}]}]\n",
    "role": "sections: [{id: a, items: {from: '[state.v]', message: {role: item, content: \"'x'\"}}}]\n",
    "content": "sections: [{id: a, items: {from: '[state.v]', message: {role: \"'user'\", content: item}}}]\n",
    **{
        f"segments: {keys}": (
            "stores: {main: {url_env: PROMPTC_VALUES}}\n"
            f"sections: [{{id: a, items: {{from: {{segments: {{scope: npc, {keys}}}}}, text: '{{{{ item.id }}}}'}}}}]\n"
        )
        for keys in ("each: state.v", "ref: state.v", "locale: state.v", "version: state.v")
    },
    **{
        f"template: {text}": f'sections: [{{id: a, text: "{{{{ {text} }}}}"}}]\n'
        for text in (
            "state.v | days_since('2026-11-22')",
            "'2026-11-22' | days_since(state.v)",
            "state.v | timestamp",
            "state.v | truncate_at('word', chars=state.v)",
            "'a b' | truncate_at('word', chars=state.v)",
            "'a b' | truncate_at(state.v, chars=3)",
            "state.v | pick(state.v)",
            "'a' | mentions(state.v)",
            "state.v | round(1, state.v)",
            "state.v + 1",
            "state.v ~ (state.v + 'x')",
            "state.v.a.b",
            "state.v[state.v]",
            "-state.v",
            "'x' * state.v",
            "range(state.v) | list",
            "state.v | items | list",
            "state.v | dictsort",
            "state.v | indent(state.v)",
            "state.v | wordwrap(state.v)",
            "state.v | join(state.v)",
            "state.v | sort | first",
            "state.v | groupby(state.v) | list",
            "state.v | batch(state.v) | list",
            "state.v | default(state.w)",
            "'x'.split(state.v)",
            "'x'.startswith(state.v)",
            "state.v in state.v",
            "state.v < state.v",
            "dict(state.v)",
            "state.v | xmlattr",
            "state.v | urlize(target=state.v)",
            "state.v | filesizeformat",
            "state.v | tojson(indent=state.v)",
            "state.v | format(state.v)",
            "'%d' | format(state.v)",
        )
    },
}
TURN = (
    "sections: [{id: log, items: {from: state.log, message:"
    " {role: item.role, content: item.content, parts: [text, tool_use, tool_result]}}}]\n"
)
EDITS = ("set: /v, to: state.v", "append: /n, each: state.v", "append: /v, to: state.v", "keep: /n, last: state.v", "remove: /v")
SCHEMA_RULES = (
    *({"type": kind} for kind in ("string", "integer", "number", "boolean", "null", "object", "array")),
    {"enum": [None, True, "ten", {"a": None}]},
    {"const": {"a": [True, None]}},
    {"minLength": 9},
    {"minimum": 9},
    {"pattern": "^x$"},
    {"format": "date-time"},
    {"minItems": 3},
    {"required": ["z"]},
    {"anyOf": [{"type": "string", "minLength": 5}, {"type": "integer", "minimum": 50}]},
    {"not": {}},
)


def _list_said(make):
    """What the findings say, messages and help."""
    try:
        made = make()
    except PromptcError as wrong:
        return [f"{one.code} {one.message} / {one.help}" for one in wrong.diagnostics]
    return [f"{one.code} {one.message} / {one.help}" for one in getattr(made, "warnings", ())]


def _judge(said):
    wrong = [one for one in said if WORDS.search(one)]
    assert not wrong, f"say it in the words of YAML and of authors, not as Python prints it: {wrong}"


@pytest.fixture
def load(tmp_path):
    def call(text, **files):
        (tmp_path / "pack.yaml").write_text(PACK + text, encoding="utf-8")
        for name, value in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        return promptc.load(tmp_path)

    return call


@pytest.fixture
def store(tmp_path):
    url = f"sqlite:{tmp_path}/segments.db"
    SegmentStore(read_address(url)).write([])
    return {"main": url}


@pytest.mark.parametrize("place", PLACES)
def test_what_an_expression_gives(load, place, store):
    pack = load(PLACES[place])
    said = [
        one
        for value in VALUES
        for one in _list_said(lambda value=value: pack.render({"v": value}, stores=store if "stores" in PLACES[place] else None))
    ]
    _judge(said)


@pytest.mark.parametrize("format", ["anthropic", "openai", "gemini"])
def test_what_stands_in_a_part(load, format):
    pack = load(TURN)
    use, result = {"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"type": "tool_result", "tool_use_id": "a", "content": "x"}
    turns = [
        *([part] for part in PARTS),
        *([{**use, key: value}, result] for key in ("id", "name", "input") for value in VALUES),
        *([use, {**result, key: value}] for key in ("tool_use_id", "content", "is_error") for value in VALUES),
    ]
    said = []
    for first, *rest in turns:
        log = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": [first]}]
        log += [{"role": "user", "content": rest}] if rest else []
        said += _list_said(lambda log=log: pack.render({"log": log}, format=format).build_payload(format))
    assert len(said) > 20
    _judge(said)


def test_a_result_of_no_use_is_one_finding(load):
    pack = load(TURN)
    for id, what in (
        (None, "without `tool_use_id`"),
        ("", "whose `tool_use_id` must be a string"),
        (5, "whose `tool_use_id` must be a string"),
    ):
        log = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]}]
        (said,) = _list_said(lambda log=log: pack.render({"log": log}, format="anthropic").build_payload("anthropic"))
        assert what in said


@pytest.mark.parametrize("edit", EDITS)
def test_what_an_operation_is_given(load, edit):
    pack = load(f"sections: [{{id: a, text: x}}]\noperations: {{one: {{args: {{n: 3, t: x, b: true}}, edits: [{{{edit}}}]}}}}\n")
    said = []
    for value in VALUES:
        said += _list_said(lambda value=value: run_operation(pack, {"v": value, "n": [1]}, "one"))
        said += _list_said(lambda value=value: run_operation(pack, {"v": [], "n": []}, "one", {"n": value, "t": value, "b": value}))
    assert said
    _judge(said)


def test_what_a_state_breaks_of_its_schema(load):
    said = []
    for rule in SCHEMA_RULES:
        pack = load("state: {schema: s.json}\nsections: [{id: a, text: x}]\n", s={"type": "object", "properties": {"v": rule}})
        said += [one for value in VALUES for one in _list_said(lambda pack=pack, value=value: pack.render({"v": value}))]
    assert len(said) > 100
    _judge(said)


@pytest.mark.dear
def test_what_stands_in_a_manifest(tmp_path):
    """Every value of a manifest, and each in its place."""
    file = ROOT / "starters" / "chat"
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "rules.md.j2").write_text("x")
    (tmp_path / "state.schema.json").write_bytes((file / "state.schema.json").read_bytes())
    import yaml

    manifest = yaml.safe_load((file / "pack.yaml").read_text(encoding="utf-8"))
    said = []
    for path in _iter_paths(manifest):
        for value in VALUES:
            (tmp_path / "pack.yaml").write_text(json.dumps(_put(manifest, path, value)), encoding="utf-8")
            said += _list_said(lambda: promptc.load(tmp_path))
    assert len(said) > 200
    _judge(said)


def _iter_paths(value, path=()):
    if path:
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _iter_paths(inner, (*path, key))


def _put(value, path, new):
    if not path:
        return new
    made = list(value) if isinstance(value, list) else dict(value)
    made[path[0]] = _put(value[path[0]], path[1:], new)
    return made


# PC0391 speaks to whoever calls the library, in Python.
GOLDENS = [name for name in list_tracked() if name.endswith("golden.diagnostics.txt") and "/PC0391/" not in name]


def test_goldens_have_none():
    """In sentences; between backquotes stands what an author wrote."""
    assert len(GOLDENS) > 300
    for name in GOLDENS:
        lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if not SOURCE.match(line)]
        word = WORDS.search(QUOTED.sub("", "\n".join(lines)))
        assert not word, f"{name}: `{word and word[0]}` is a word of Python: write that of YAML where the message is made"


def test_no_sentence_of_a_message_is_long():
    sentences = list_message_sentences()
    assert {kind: len(found) > 30 for kind, found in sentences.items()} == dict.fromkeys(("error", "warning", "note", "help"), True)
    long = [one for found in sentences.values() for one in found if len(one.split()) > 35]
    assert not long, "split each of these sentences, which have more than 35 words\n" + "\n".join(long)


def test_messages_are_plain():
    """By Flesch's reading ease. textstat comes with what builds the site."""
    pytest.importorskip("textstat")
    assert measure_ease([one for found in list_message_sentences().values() for one in found]) >= 55


# What is no message: generated code, errors of a programmer, keys that are compared; and Jinja as it is to be written.
WRITERS = (
    *("frontend/schema/check.py", "diag/frozen.py", "diag/typed.py", "promptc/__init__.py"),
    *("check/rules/variants.py", "check/rules/reads.py", "template/types/", "template/lower/"),
)


@pytest.mark.dear
def test_no_message_prints_a_value_as_python_does():
    """`{value!r}` in an f-string, or the name of a value's type."""
    for module in load_modules():
        if any(one in module.path for one in WRITERS):
            continue
        for node in ast.walk(module.tree):
            assert not (isinstance(node, ast.FormattedValue) and node.conversion == ord("r")), f"{module.path}:{node.lineno}"
