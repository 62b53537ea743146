"""The schema of manifests, and its findings: one for one mistake, at the key or value that is wrong, with what would mend it."""

import copy
import functools
import json
import operator
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.files.paths import name_shipped
from promptc.frontend import sections, shape
from promptc.frontend.manifest import apply_variation, index_sections
from promptc.frontend.schema.check import Verdicts
from promptc.frontend.schema.lint import iter_schemas, lint_schema
from promptc.frontend.shape import check_effective_shape, check_pack_shape
from promptc.frontend.yaml import load_yaml
from tests.unit.frontend.manifests import EXTENDING, LEAST, WHOLE

MEASURES = "`budget` of section `main` takes one of `tokens`, `chars`, `from` with `max`, or `min`, `max` and `grow`"


def check(text):
    return check_pack_shape(load_yaml(text.encode(), "pack.yaml", Path()))


def found_in(text):
    (found,) = check(text)
    return found


def in_section(keys):
    """A pack with one section `main` of the given keys, which begin at line 8, column 5."""
    return LEAST.replace('  - {id: input, text: "{{ state.input }}"}', f"  - id: main\n    {keys}").strip() + "\n"


def with_key(lines):
    return f"{LEAST.strip()}\n{lines}\n"


@pytest.mark.parametrize(
    ("text", "code", "message", "help", "place"),
    [
        (with_key("outptu: {}"), "PC0201", "unknown key `outptu`", "did you mean `output`?", (8, 1)),
        (
            in_section("text: |\n      Rules:\n    Note: be brief"),
            "PC0201",
            "unknown key `Note` in section `main`",
            "did you mean `note`? Or indent the line further, if it belongs to the text that begins in line 8",
            (10, 5),
        ),
        (in_section("budgt: 3\n    text: x"), "PC0201", "unknown key `budgt` in section `main`", "did you mean `budget`?", (8, 5)),
        (
            in_section("items: {from: state.x, text: a, window: {lats: 3}}"),
            "PC0201",
            "unknown key `lats` in `window` of `items` of section `main`",
            "did you mean `last`?",
            (8, 46),
        ),
        (
            in_section("items: {from: state.x, text: a, window: {first: 3}}"),
            "PC0201",
            "unknown key `first` in `window` of `items` of section `main`",
            "write, for example, `last: 12`",
            (8, 46),
        ),
        (
            in_section("items: {from: state.x, text: a, group: {by: item.day, zzz: 3}}"),
            "PC0201",
            "unknown key `zzz` in `group` of `items` of section `main`",
            "one more key is possible: `header`",
            (8, 59),
        ),
        (
            in_section("items: {from: state.x, txt: a}"),
            "PC0201",
            "unknown key `txt` in `items` of section `main`",
            "did you mean `text`?",
            (8, 28),
        ),
        (
            with_key("variants: {mood: {select: state.m, cases: {calm: {strain: {}}}}}"),
            "PC0201",
            "unknown key `strain` in case `calm` of axis `mood`",
            "`strain` belongs to the manifest, next to `variants`",
            (8, 51),
        ),
        (
            with_key("strain: {tiers: [{name: low, at: 0, budget: 3}]}"),
            "PC0201",
            "unknown key `budget` in tier `low`",
            "`budget` belongs to the manifest, next to `strain`",
            (8, 37),
        ),
        (
            with_key("patches: {p: {sections: {q: {itms: {}}}}}"),
            "PC0201",
            "unknown key `itms` in section `q` of patch `p`",
            "did you mean `items`?",
            (8, 30),
        ),
        (
            LEAST.replace("budget: 100\n", ""),
            "PC0202",
            "the manifest is missing the key `budget`",
            "write `budget: 8000`, or `{context, reserve}`",
            (2, 1),
        ),
        (
            in_section("items: {text: a}"),
            "PC0202",
            "`items` of section `main` is missing the key `from`",
            "write, for example, `from: state.transcript`",
            (8, 12),
        ),
        (
            LEAST.replace("id: input, ", ""),
            "PC0202",
            "section number 1 is missing the key `id`",
            "write, for example, `id: recent`",
            (8, 5),
        ),
        (
            with_key("truncate: [{drop: {}}]"),
            "PC0202",
            "`drop` of step 1 of `truncate` is missing the key `section`",
            "add `section: …` with the id of a section; only a step in a section's own `overflow` needs none",
            (8, 19),
        ),
        (
            with_key("strain: {tiers: [{name: low, at: 0, do: [{trim: {section: input, at: word}}]}]}"),
            "PC0202",
            "`trim` of step 1 of `do` of tier `low` is missing the key `to`",
            "write, for example, `to: {chars: 800}`",
            (8, 49),
        ),
        (
            in_section("text: x\n    pinned: yes"),
            "PC0203",
            "`pinned` of section `main` must be true or false, not `yes`",
            "write `true`",
            (9, 13),
        ),
        (
            LEAST.replace("1.0.0", "1.10"),
            "PC0203",
            "`version` must be a version of three numbers, such as 1.0.0, not 1.10",
            'quote it, with three numbers: `"1.10.0"`',
            (4, 10),
        ),
        (
            in_section("text: 12"),
            "PC0203",
            "`text` of section `main` must be a string (an inline template), not 12",
            'quote it: `"12"`',
            (8, 11),
        ),
        (
            in_section("text: x\n    header:"),
            "PC0203",
            "`header` of section `main` must be a string (an inline template), not null",
            'write, for example, `header: "So far in this scene:"`',
            (9, 12),
        ),
        (
            with_key('output: {warn: {chars: "20"}}'),
            "PC0203",
            '`chars` of `warn` of `output` must be a whole number from 1, not `"20"`',
            "write the number alone, without quotes: `chars: 20`",
            (8, 24),
        ),
        (
            in_section("text: x\n    budget: [1]"),
            "PC0203",
            "`budget` of section `main` must be a size, {from, max}, or {min, max, grow, over}, not a list",
            "write, for example, `budget: 3500`",
            (9, 13),
        ),
        (
            LEAST.replace("- {id: input", "input: {title: x"),
            "PC0203",
            "`sections` must be a list of sections (a mapping by id only with `extends`), not a mapping",
            "write a list, each section with its `id`: `- {id: rules, text: Be brief.}`",
            (8, 3),
        ),
        ("- a\n", "PC0203", "a manifest is a mapping of keys, not a list", "begin with `promptc: 1`", (1, 1)),
        (
            in_section("text: x\n    role: sytem"),
            "PC0204",
            "`role` of section `main` must be `system`, `developer`, `user` or `assistant`, not `sytem`",
            "did you mean `system`?",
            (9, 11),
        ),
        (
            in_section("items: {text: x, from: {segments: {scope: npc, missing: nope}}}"),
            "PC0204",
            "`missing` of `segments` of `from` of `items` of section `main` must be `warn`, `error` or `ignore`, not `nope`",
            "",
            (8, 61),
        ),
        (
            in_section("items: {text: x, from: {segments: {scope: npc, missing: warning}}}"),
            "PC0204",
            "`missing` of `segments` of `from` of `items` of section `main` must be `warn`, `error` or `ignore`, not `warning`",
            "did you mean `warn`?",
            (8, 61),
        ),
        (
            in_section("text: x\n    overflow: [{trim: {at: sentance}}]"),
            "PC0203",
            "`at` of `trim` of step 1 of `overflow` of section `main` must be "
            "paragraph, sentence, line, word or token, or a list of these, not `sentance`",
            "did you mean `sentence`?",
            (9, 28),
        ),
        (
            in_section("text: x\n    overflow: [{trim: {at: [line, sentance]}}]"),
            "PC0204",
            "entry 2 of `at` of `trim` of step 1 of `overflow` of section `main` must be "
            "`paragraph`, `sentence`, `line`, `word` or `token`, not `sentance`",
            "did you mean `sentence`?",
            (9, 35),
        ),
        (
            LEAST.replace("id: input", "id: Input-1"),
            "PC0205",
            "`id` of section `Input-1` must be an id: lower-case letters, digits and `_`, beginning with a letter, not `Input-1`",
            "write `input_1`",
            (8, 10),
        ),
        (
            with_key("let: {Hot: 1}"),
            "PC0205",
            "the key `Hot` must be an id: lower-case letters, digits and `_`, beginning with a letter, not `Hot`",
            "write `hot`",
            (8, 7),
        ),
        (
            LEAST.replace("budget: 100", "budget: -5"),
            "PC0206",
            "`budget` must be at least 1, not -5",
            "write, for example, `budget: 13000`",
            (6, 9),
        ),
        (
            with_key("strain: {tiers: [{name: low, at: 1.5}]}"),
            "PC0206",
            "`at` of tier `low` must be at most 1, not 1.5",
            "write, for example, `at: 0.85`",
            (8, 34),
        ),
        (
            in_section("text: x\n    template: y.md"),
            "PC0207",
            "section `main` takes exactly one of `template`, `text` and `items`, and has `text` and `template`",
            "keep one of them",
            (9, 5),
        ),
        (
            in_section("title: x"),
            "PC0207",
            "section `main` takes exactly one of `template`, `text` and `items`, and has none of them",
            "give one of them",
            (7, 5),
        ),
        (
            in_section("items: {from: state.x, text: a, forms: [b]}"),
            "PC0207",
            "`items` of section `main` takes exactly one of `text`, `template`, `forms` and `message`, and has `text` and `forms`",
            "keep one of them",
            (8, 37),
        ),
        (
            in_section("text: x\n    overflow: [{trim: {to: 3, floor: 4}}]"),
            "PC0207",
            "`trim` of step 1 of `overflow` of section `main` takes at most one of `to` and `floor`, and has `to` and `floor`",
            "keep one of them",
            (9, 31),
        ),
        (
            in_section("text: x\n    overflow: [{evict: {by: a, order: [b]}}]"),
            "PC0207",
            "`evict` of step 1 of `overflow` of section `main` takes at most one of `order` and `by`, and has `by` and `order`",
            "keep one of them",
            (9, 32),
        ),
        (
            in_section("text: x\n    before: y"),
            "PC0207",
            "section `main` takes no `before` or `after`, for its place in the list decides, and has `before`",
            "remove it",
            (9, 5),
        ),
        (
            in_section("text: x\n    budget: {chars: 3, max: 4}"),
            "PC0207",
            f"{MEASURES}, and has `chars` and `max`",
            "keep one of them",
            (9, 24),
        ),
        (
            in_section("text: x\n    budget: {from: state.n, max: 4, grow: 1}"),
            "PC0207",
            f"{MEASURES}, and has `from`, `max` and `grow`",
            "keep one of them",
            (9, 37),
        ),
        (
            in_section("text: x\n    when: [state.a]"),
            "PC0208",
            "`when` of section `main` must be an expression, not a list",
            'write `when: state.a`; or quote a Jinja list or mapping: `"[…]"`, `"{…}"`',
            (9, 11),
        ),
        (
            with_key("let: {a: {b: c}}"),
            "PC0208",
            "let `a` must be an expression, {band, of} or {assign, of}, not a mapping",
            'quote a Jinja list or mapping: `"[…]"`, `"{…}"`',
            (8, 10),
        ),
        (
            in_section("items: {from: [1], text: a}"),
            "PC0208",
            "`from` of `items` of section `main` must be an expression, {segments: …} or {retrieve: …}, not a list",
            'quote a Jinja list or mapping: `"[…]"`, `"{…}"`',
            (8, 19),
        ),
        (
            in_section("text: x\n    title: ''"),
            "PC0209",
            "`title` of section `main` must have at least 1 character, and has 0",
            "write, for example, `title: Recent blocks`",
            (9, 12),
        ),
        (
            with_key("strain: {tiers: []}"),
            "PC0209",
            "`tiers` of `strain` must have at least 1 element, and has 0",
            "write, for example, `tiers: [{name: normal, at: 0}, {name: high, at: 0.85, leave: 0.8}]`",
            (8, 17),
        ),
        (
            in_section("text: x\n    overflow: [{evct: {}}]"),
            "PC0210",
            "`evct` is not a step in step 1 of `overflow` of section `main`",
            "did you mean `evict`?",
            (9, 17),
        ),
        (
            in_section("text: x\n    overflow: [{trim: {}, drop: {}}]"),
            "PC0210",
            "step 1 of `overflow` of section `main` has 2 keys, `trim` and `drop`; it takes one",
            "begin each step with its own `-`",
            (9, 27),
        ),
        (
            with_key("strain: {tiers: [{name: low, at: 0, do: [{evict: {section: input}}]}]}"),
            "PC0210",
            "`evict` is not a step in step 1 of `do` of tier `low`",
            "choose one of `drop`, `fail`, `recap`, `replace`, `trim`, `use`",
            (8, 43),
        ),
        (
            LEAST.replace("promptc: 1", "promptc: 2"),
            "PC0211",
            "the pack is written in version 2 of the language; this promptc reads version 1",
            "write `promptc: 1`, or install a newer promptc",
            (2, 10),
        ),
    ],
)
def test_a_mistake_is_one_finding(text, code, message, help, place):
    found = found_in(text)
    assert (found.code, found.message, found.help) == (code, message, help)
    assert (found.span.line, found.span.column) == place


def test_a_step_without_settings_is_told_how_it_is_written():
    found = found_in(in_section("text: x\n    overflow: [drop]"))
    assert found.help == "write `drop: {}`"


def test_a_key_is_told_as_it_is_written():
    told = [one.message for one in check(in_section('text: x\n    overflow: [{"trim or cut": {}, drop: {}}]'))]
    assert "step 1 of `overflow` of section `main` has 2 keys, `trim or cut` and `drop`; it takes one" in told


# contract 5.28
def test_an_unknown_step_elsewhere_lists_what_there_is():
    (found,) = check(in_section("text: x\n    overflow: [{use: short}]"))
    assert found.code == "PC0210"


def test_findings_are_in_the_order_of_the_file():
    found = check(with_key("outptu: {}").replace("budget: 100", "budget: -5").replace("1.0.0", "x"))
    assert [one.span.line for one in found] == [3, 5, 8]


def test_no_key_of_the_language_can_be_misspelt():
    """Of a manifest that uses them all, every one renamed is noticed."""
    whole = load_yaml(WHOLE.encode(), "pack.yaml", Path()).plain()
    valid = Verdicts(json.loads(name_shipped("schemas", "pack.schema.json").read_text(encoding="utf-8")))
    for path, around in list(_iter_keys(whole)):
        if around not in OPEN:
            broken = copy.deepcopy(whole)
            *way, key = path
            inside = functools.reduce(operator.getitem, way, broken)
            inside[f"zq_{key}"] = inside.pop(key)
            assert not valid.make_check(valid.root)(broken, [10**6]), path


OPEN = (
    "caps",
    "of",
    "cases",
    "defaults",
    "args",
    "define",
    "let",
    "patches",
    "variants",
    "stores",
    "indexes",
    "pools",
    "operations",
    "asks",
    "sections",
    "watch",
)
"""Mappings whose keys are the author's."""


def _iter_keys(value, path=(), around=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key), around
            yield from _iter_keys(inner, (*path, key), key)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _iter_keys(inner, (*path, place), "")


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("sections: {main: {items: {window: {min: 3}}}}", "`window` of `items` of section `main` is missing the key `last`"),
        ("sections: {main: {fence: {open: x}}}", "`fence` of section `main` is missing the key `close`"),
        ("sections: {main: {items: {from: null}}}", "`items` of section `main` is missing the key `from`"),
        (
            "sections: {main: {items: null}}",
            "section `main` takes exactly one of `template`, `text` and `items`, and has none of them",
        ),
        ("budget: null", "the manifest is missing the key `budget`"),
        ("sections: {more: {text: x, after: main}}", None),
        ("sections: {main: {title: x}}", None),
    ],
)
def test_what_variations_leave_is_whole(patch, message):
    base = load_yaml(in_section("items: {from: state.x, text: a}").encode(), "pack.yaml", Path())
    found: list = []
    varied = apply_variation(index_sections(base, found), load_yaml(patch.encode(), "pack.yaml", Path()), {}, found)
    assert found == []
    assert [one.message for one in check_effective_shape(varied)] == ([message] if message else [])


# --- `schemas/pack.schema.json` takes the whole language, explains every key, and is what its tool makes ---
SCHEMA = json.loads(name_shipped("schemas", "pack.schema.json").read_text(encoding="utf-8"))
ROOT = Path(__file__).resolve().parents[3]


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert lint_schema(SCHEMA) == []


def test_every_key_is_described_with_examples_that_are_valid():
    for pointer, schema in iter_schemas(SCHEMA):
        for name, inner in schema.get("properties", {}).items() if isinstance(schema, dict) else ():
            assert inner.get("description", "").endswith("."), f"{pointer}/properties/{name}"
            assert inner.get("examples"), f"{pointer}/properties/{name}"
            validator = jsonschema.Draft202012Validator({**inner, "$defs": SCHEMA["$defs"]})
            assert [example for example in inner["examples"] if not validator.is_valid(example)] == [], f"{pointer}/properties/{name}"
            if "default" in inner:
                assert validator.is_valid(inner["default"]), f"{pointer}/properties/{name}"


def test_every_mapping_is_closed_or_says_what_its_values_are():
    for pointer, schema in iter_schemas(SCHEMA):
        if isinstance(schema, dict) and schema.get("type") == "object" and pointer not in ("/if", *FREE):
            assert "additionalProperties" in schema, pointer


FREE = ("/$defs/index/properties/defaults", "/$defs/operation/properties/args", *(
    f"/$defs/{name}_part/properties/{key}/anyOf/0" for name, key in (("index", "defaults"), ("operation", "args"))
))  # fmt: skip


def test_every_definition_is_used():
    text = json.dumps(SCHEMA)
    assert [name for name in SCHEMA["$defs"] if f'"#/$defs/{name}"' not in text] == []


def test_what_is_made_is_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_pack_schema.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_list_of_steps_has_the_steps_of_the_schema():
    step = SCHEMA["$defs"]["ladder_step"]
    names = list(step["properties"])
    report = json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    ruled = report["$defs"]["cut"]["properties"]["rule"]["enum"]
    lists = {
        "`_STEP_NAMES` of compiler/promptc/frontend/shape.py": list(shape._STEP_NAMES),
        "`_LOADERS` of compiler/promptc/frontend/sections.py": list(sections._LOADERS),
        "`title` of `ladder_step` in schemas/pack.schema.json": step["title"].partition("one of ")[2].split(", "),
        "`rule` of a cut in schemas/report.schema.json": [name for name in ruled if name != "use"],
    }
    wrong = [f"{place}: name {', '.join(names)}, in this order" for place, listed in lists.items() if listed != names]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("manifest", [LEAST, WHOLE, EXTENDING], ids=["least", "whole", "extending"])
def test_the_language_is_taken(manifest):
    node = load_yaml(manifest.encode(), "pack.yaml", Path())
    assert check_pack_shape(node) == []
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(node.plain())


def test_the_whole_manifest_uses_every_key():
    used = set()
    _collect(load_yaml(WHOLE.encode(), "x", Path()).plain(), used)
    known = {name for _, schema in iter_schemas(SCHEMA) if isinstance(schema, dict) for name in schema.get("properties", {})}
    unused = known - used - {"extends"}
    assert not unused, f"in the schema and not in WHOLE: use it in tests/unit/frontend/manifests.py: {sorted(unused)}"


def _collect(value, used):
    if isinstance(value, dict):
        used.update(value)
        for inner in value.values():
            _collect(inner, used)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, used)


# --- Values of a kind that cannot be looked up where a name is due ---
_BODY = "promptc: 1\nname: x\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 10\nsections: [{id: a, text: x, overflow: [%s]}]\n"


@pytest.mark.parametrize("step", ["{}", "{evict: {}, drop: {}}", "[drop]", "{drop: {}, fail: {}, trim: 3}"])
def test_a_step_that_is_no_step_is_a_finding(tmp_path, step):
    (tmp_path / "pack.yaml").write_text(_BODY % step)
    with pytest.raises(PromptcError) as caught:
        promptc.load(tmp_path)
    assert all(found.span is not None for found in caught.value.diagnostics)


@pytest.mark.parametrize(("key", "meant"), [(key, meant) for key, all_meant in shape._ALIASES.items() for meant in all_meant])
def test_what_an_alias_stands_for_is_a_key_of_the_language(key, meant):
    schema = json.loads(name_shipped("schemas", "pack.schema.json").read_text(encoding="utf-8"))["$defs"]
    places = [schema[place]["properties"] for place in ("pack", "section", "items", "assert", "pool", "edit")]
    assert any(meant in place and key not in place for place in places)


@pytest.mark.parametrize(("key", "inner"), shape._SHORT_FORMS.items())
def test_a_short_form_names_a_key_of_its_mapping(key, inner):
    places = [(), ("sections", 0), ("sections", 0, "items"), ("indexes", "x")]
    assert any(key in shape.list_known(path) and inner in shape.list_known((*path, key)) for path in places)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (with_key("truncation: [main]"), "promptc calls it `truncate`"),
        (with_key("schema: s.json"), "promptc calls it `state`: write `state: {schema: s.json}`"),
        (with_key("truncate: [[main]]"), "write one `-`: `- main`"),
        (with_key("asserts: [state.hp > 0]"), 'write `- {that: "state.hp > 0", else: …}`'),
        (with_key("asserts: [{that: a, message: b}]"), "promptc calls it `else`: write `else: b`"),
        (with_key("pools: {p: {sections: [a, b], budget: 50, overflow: [a]}}"), "did you mean `max`?"),
        (with_key("stores: {house: 'sqlite:x.db'}"), 'write `house: {url: "sqlite:x.db"}`'),
        (with_key("tools: [{name: find}]"), "put the tool into a file of its own, as JSON, and name the file: `tools: [tools/find.json]`"),
        (with_key("strain: {tiers: [{name: low, at: 0}, {name: high, at: 80}]}"), "write a share from 0 to 1: `at: 0.8`"),
        (with_key("strain: {tiers: [{name: low, at: 0}, {name: high, at: 80%}]}"), "write a share from 0 to 1: `at: 0.8`"),
        (with_key("patches: {p: {input: {text: a}}}"), "a section is changed under `sections`: `sections: {input: …}`"),
        (in_section("text: x\n    tiers: []"), "`tiers` belongs under `strain`, next to `sections`"),
        (in_section("text: x\n    role: human"), "write `user`"),
        (in_section("text: x\n    depth: 4"), "remove it: sections stand as they are written; a text in a list is an element"),
        (in_section("text: x\n    suffix: end"), "write a fence around the content"),
        (in_section("text: x\n    prefix: Notes"), "promptc calls it `header`: write `header: Notes`"),
        (in_section("text: x\n    max_chars: 90"), "write `budget: {chars: 2000}`"),
        (in_section("text: x\n    trim: true"), "a step is an entry of `overflow`: write `overflow: [trim: {}]`"),
        (in_section("items: {from: state.x, text: a, order: desc}"), "promptc calls it `sort`: write `sort: {by: item.score, desc: true}`"),
        (in_section("items: {from: state.x, text: a, last: 5}"), "`last` belongs under `window`: `window: {last: …}`"),
        (in_section("text: x\n    budget: 200%"), "a share is at most the whole: `budget: 100%`"),
        (in_section("text: x\n    budget: 20#tokens"), "write a space before `#`, where a comment begins: `budget: 20 #tokens`"),
        (in_section("text: x\n    overflow: [{evict: {section: main}}]"), "remove it: a step under `overflow` works on its own section"),
        (in_section("text: x\n    overflow: [{truncate: {}}]"), "promptc calls it `trim`"),
        (in_section("text: x\n    overflow: [evict by weight]"), "write, for example, `evict: {by: item.score}`"),
        (in_section("template: [a.md]"), "name one file: `template: a.md`"),
        (in_section("text: x\n    рinned: true"), "did you mean `pinned`? The key holds `р`, U+0440"),
        (in_section("items: {from: state.x, text: a, dedupe: true}"), "write, for example, `dedupe: {by: item.content}`"),
        (in_section("items: {from: state.x, text: a, keep: item.a > 3}"), 'write a list: `keep: [{where: "item.a > 3"}]`'),
        (in_section("items: {from: state.x, text: a, anchors: [{where: a}]}"), "write the mapping itself, without a list around it"),
        ('{"input": "Hello", "turns": []}', "name the pack first and the state second, as in `promptc render PACK STATE`"),
    ],
)  # fmt: skip
def test_what_to_write_instead(text, help):
    assert found_in(text).help.startswith(help)


@pytest.mark.parametrize("text", ["budget: 3k", "budget: 2_500", "budget: 1,200 tokens", 'budget: "300"'])
def test_an_amount_is_written_as_a_number_that_is_taken(text):
    found = found_in(LEAST.strip().replace("budget: 100", text) + "\n")
    mended = found.help.split("`")[1]
    assert check(LEAST.strip().replace("budget: 100", mended) + "\n") == []
