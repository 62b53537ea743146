"""What `check` says of the models that a pack names."""

import json

import pytest

import promptc
from promptc.text.counters.exact import load_counter
from tests.unit.check.lint import codes, excerpts, lint

MAIN = "sections: [{id: main, text: hello}]"


def _lint(folder, budget, more="", tokenizer="o200k_base", sections=MAIN, **named):
    return lint(folder, f"{more}\n{sections}", budget=budget, tokenizer=tokenizer, **named)


# contract 8.22
@pytest.mark.parametrize(
    ("budget", "models", "found"),
    [
        ("{model: gpt-4o, reserve: 4000}", "", []),
        ("{model: gpt-4o, reserve: 4000}", "models: [gpt-4o, gpt-4.1, gpt-5-mini]", []),
        ("100000", "models: [gpt-4o]", []),
        ("200000", "models: [gpt-4o, gpt-4.1]", ["PC0624"]),
        ("{context: 128000, reserve: 4000}", "models: [gpt-4o]", []),
        ("{context: 130000, reserve: 4000}", "models: [gpt-4o]", ["PC0624"]),
        ("300000", "models: [gpt-5-mini]", ["PC0624"]),
        ("{model: gpt-4o, reserve: 4000}", "models: [gpt-4o, gpt-nine]", ["PC0524"]),
        ("1000", "models: [gpt-nine]", ["PC0524"]),
        ("{model: gpt-4o, reserve: 4000}", "models: [qwen3]", ["PC0525", "PC0546"]),
        ("{model: gpt-4o, context: 8192, reserve: 4000}", "models: [qwen3]", ["PC0658"]),
        ("{model: gpt-nine, reserve: 4000}", "", ["PC0524"]),
        ("{model: gpt-nine, context: 9000, reserve: 4000}", "", []),
        ("{model: gpt-4o, context: 900000, reserve: 4000}", "", ["PC0624"]),
        ("{model: gpt-4o, reserve: 200000}", "", ["PC0605", "PC0625"]),
    ],
)
def test_a_budget_is_held_against_the_models(tmp_path, budget, models, found):
    assert codes(_lint(tmp_path, budget, models)) == found


# contract 8.23
@pytest.mark.parametrize(
    ("tokenizer", "model", "found"),
    [
        ("o200k_base", "gpt-4o", []),
        ("cl100k_base", "gpt-4o", ["PC0626"]),
        ("chars/4", "gpt-4o", ["PC0626"]),
        ("{use: tiktoken:o200k_base, fallback: o200k_base}", "gpt-4o", []),
        ("{use: tiktoken:cl100k_base, fallback: cl100k_base}", "gpt-4o", ["PC0626"]),
        ("o200k_base", "claude-opus-5-5", ["PC0658"]),
        ("chars/4", "claude-opus-5-5", []),
    ],
)
def test_a_tokenizer_is_held_against_the_model(tmp_path, tokenizer, model, found):
    assert codes(_lint(tmp_path, f"{{model: {model}, reserve: 4000}}", tokenizer=tokenizer)) == found


@pytest.mark.parametrize(
    ("budget", "output", "found"),
    [
        ("{model: gpt-4o, reserve: 4000}", "{models: {openai: gpt-4o}}", []),
        ("{model: gpt-4.1, reserve: 4000}", "{models: {openai: gpt-4o}}", ["PC0659"]),
        ("{model: gpt-4.1, reserve: 4000}", "{models: {openai: my-deployment}}", []),
        ("{model: gpt-4.1, context: 128000, reserve: 4000}", "{models: {openai: gpt-4o}}", []),
        ("500000", "{models: {openai: gpt-4o, anthropic: claude-opus-5-5}}", ["PC0659"]),
    ],
)
def test_a_request_is_held_against_the_budget(tmp_path, budget, output, found):
    assert codes(_lint(tmp_path, budget, f"output: {output}")) == found


# contract 8.22
def test_a_finding_names_the_models_that_it_holds_for(tmp_path):
    """60 % of the smaller window is less than `min`; of the larger it is more."""
    sections = "sections: [{id: main, text: hello, budget: {min: 100000, max: 60%}}]"
    found = _lint(tmp_path, "{model: gpt-4o, reserve: 4000}", "models: [gpt-4o, gpt-4o-mini, gpt-4.1]", sections=sections)
    assert codes(found) == ["PC0606"]
    assert found[0].message.endswith("(with `gpt-4o` or `gpt-4o-mini`)")
    assert "PC0606" not in codes(_lint(tmp_path, "{model: gpt-4.1, reserve: 4000}", sections=sections))


def test_pinned_content_is_proved_for_each_model(tmp_path):
    schema = {"type": "object", "properties": {"rules": {"type": "string", "maxLength": 60_000, "default": ""}}}
    sections = "sections: [{id: main, pinned: true, text: '{{ state.rules }}'}]"
    models = "models: [gpt-4o, gpt-4.1]"
    found = _lint(tmp_path, "{model: gpt-4o, reserve: 4000}", models, sections=sections, schema=schema)
    assert codes(found) == ["PC0657"] and found[0].message.endswith("(with `gpt-4o`)")


def test_the_place_is_the_name_of_the_model(tmp_path):
    found = _lint(tmp_path, "200000", "models: [gpt-4.1, gpt-4o]")
    assert excerpts(found, "PC0624")[0].startswith("gpt-4o]")


def test_a_pack_of_an_unknown_model_is_judged_in_all_else(tmp_path):
    sections = "sections: [{id: main, text: hello, budget: {min: 60%, max: 50%, grow: 1}}]"
    assert codes(_lint(tmp_path, "{model: gpt-nine, reserve: 4000}", sections=sections)) == ["PC0524", "PC0606", "PC0618"]


# contract 8.22
@pytest.mark.parametrize(
    ("more", "places"),
    [
        ("models: [gpt-4o, gpt-4.1]", []),
        ("patches: {small: {budget: {model: gpt-4o-mini}}}", []),  # no list: nothing is promised
        ("models: [gpt-4o]\npatches: {small: {budget: {model: gpt-4o-mini}}}", ["gpt-4o-mini}}}"]),
        ("models: [gpt-4o]\npatches: {same: {budget: {model: openai/gpt-4o}}}", []),
        ("models: [gpt-4o]\npatches: {own: {budget: {model: qwen3, context: 8192}}}", []),
        ("models: [gpt-4o]\noutput: {models: {openai: gpt-4o, anthropic: claude-opus-5}}", ["claude-opus-5}}"]),
        ("models: [gpt-4.1]", ["gpt-4o, reserve: 4000}"]),
        ("models: [gpt-4o]\noutput: {models: {openai: gpt-4o}}\npatches: {bare: {output: {models: null}}}", []),
        ("models: [gpt-4o]\npatches: {bare: {output: {models: {openai: null}}, budget: {model: null, context: 9000}}}", []),
        (
            "models: [gpt-4o]\nvariants: {size: {select: state.size, cases: {big: {budget: {model: gpt-4.1}}, calm: {}}}}",
            ["gpt-4.1}}, calm: {}}}}"],
        ),
        (
            "models: [gpt-4o]\nstrain: {tiers: [{name: a, at: 0}, {name: b, at: 0.5, output: {models: {ollama: gemma3}}}]}",
            ["gemma3}}}]}"],
        ),
    ],
)
def test_a_model_that_the_list_lacks_is_told_where_it_stands(more, places, tmp_path):
    found = _lint(tmp_path, "{model: gpt-4o, reserve: 4000}", more)
    assert excerpts(found, "PC0546") == places
    assert all(one.level == "warn" and "`models: [" in one.help for one in found if one.code == "PC0546")


def test_the_model_of_media_is_one_of_them(tmp_path):
    items = "{from: state.log, message: {role: item.role, content: item.content, parts: [text, image], media: {model: gpt-5.4}}}"
    sections = f"output: {{format: messages}}\nsections: [{{id: log, items: {items}}}]"
    found = _lint(tmp_path, "{model: gpt-4o, reserve: 4000}", "models: [gpt-4o]", sections=sections)
    assert excerpts(found, "PC0546") == ["gpt-5.4}}}}]"]


def test_the_models_that_are_asked_for_change_nothing_of_it(tmp_path):
    _lint(tmp_path, "{model: gpt-4o, reserve: 4000}", "models: [gpt-4o]")
    assert "PC0546" not in codes(promptc.load(tmp_path).check(models=("gpt-4.1",)))


def test_a_model_that_is_calibrated_needs_no_note(tmp_path):
    day = "2026-11-27"
    entry = {"provider": "anthropic", "model": "claude-opus-5-5", "pairs": 500, "first": day, "last": day, "ratio": 1_170_321}
    counter = {"name": "o200k_base", "digest": load_counter("o200k_base", folder="").digest}
    whole = {"calibration": 1, "counter": counter, "entries": [entry], "quantile": 990_000}
    (tmp_path / "usage.json").write_text(json.dumps(whole))
    tokenizer = "{use: o200k_base, calibration: usage.json}"
    for model, found in (("claude-opus-5-5", []), ("claude-haiku-5-5", ["PC0658"])):
        assert codes(_lint(tmp_path, f"{{model: {model}, reserve: 4000}}", tokenizer=tokenizer)) == found
