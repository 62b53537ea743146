"""Budgets that follow a model: the table, a table of the user's in front of it, and the total of a render."""

import tomllib
from datetime import date
from pathlib import Path

import pytest

import promptc
from promptc.diag.findings import Span
from promptc.model.budget import KnownModel, ModelTable, TotalBudget, load_models, settle_budget
from promptc.text.counters.bpe import VOCABULARIES
from tests.contract.sources import PACKAGE

PLACE = Span("pack.yaml", 5, 9)
HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: o200k_base\n"
SECTIONS = "sections: [{id: main, text: 'Hello there, {{ state.who }}.'}]\n"
TABLE = 'as_of = 2027-01-02\n[[model]]\nname = "mine"\ncontext = 900\ninput = 700\noutput = 300\n'


def _load(folder, budget, table=None, more=""):
    (folder / "pack.yaml").write_text(f"{HEAD}budget: {budget}\n{more}{SECTIONS}", encoding="utf-8")
    if table is not None:
        (folder / "models.toml").write_text(table, encoding="utf-8")
    return promptc.load(folder, models=folder / "models.toml" if table is not None else None)


def _report(pack, **asked):
    return pack.render({"who": "Ada"}, **asked).report


# contract 8.20
def test_every_figure_of_the_table_has_a_source():
    table = tomllib.loads((PACKAGE / "model" / "models.toml").read_text(encoding="utf-8"))
    assert type(table["as_of"]) is date
    for facts in table["model"]:
        assert facts["source"] and ("tokenizer" in facts) == ("tokenizer_source" in facts), facts["name"]
        assert facts.get("tokenizer", "o200k_base") in VOCABULARIES
        assert facts.get("output", 1) < facts.get("context", 10**9) >= facts.get("input", 1)
    assert len(load_models().models) == len(table["model"])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("qwen3:8b", "qwen3"),
        ("me/qwen3:8b", "qwen3"),
        ("gpt-4o:latest", None),
        ("gpt-4o-2024-05-13", None),
        ("", None),
    ],
)
def test_a_model_is_found_by_its_own_name(name, found):
    known = load_models().find(name)
    assert (known.name if known is not None else None) == found


# contract 8.19
@pytest.mark.parametrize(
    ("written", "asked", "total"),
    [
        (TotalBudget(0, 4000, PLACE, "gpt-4o"), None, 124_000),
        (TotalBudget(0, 4000, PLACE, "gpt-4o"), "gpt-5-mini", 272_000),
        (TotalBudget(100_000, 4000, PLACE, "gpt-4o"), None, 96_000),
        (TotalBudget(200_000, 4000, PLACE, "gpt-4o"), None, 124_000),
        (TotalBudget(8192, 1000, PLACE, "qwen3:8b"), None, 7192),
        (TotalBudget(8192, 1000, PLACE, "who-knows"), None, 7192),
        (TotalBudget(8192, 1000, PLACE), "gpt-4o", 7192),
    ],
)
def test_the_total_is_what_the_window_leaves(written, asked, total):
    settled = settle_budget(written, asked, load_models)
    assert settled.total == total and settled.reserve == written.reserve


# contract 8.21
@pytest.mark.parametrize(("name", "code"), [("who-knows", "PC0524"), ("llama3.3", "PC0525")])
def test_a_window_that_nobody_knows_is_an_error(name, code):
    with pytest.raises(promptc.PromptcError) as wrong:
        settle_budget(TotalBudget(0, 1, PLACE, name), None, load_models)
    assert [(one.code, one.span) for one in wrong.value.diagnostics] == [(code, PLACE)]
    with pytest.raises(promptc.UsageError) as asked:
        settle_budget(TotalBudget(0, 1, PLACE, "gpt-4o"), name, load_models)
    assert [(one.code, one.span) for one in asked.value.diagnostics] == [(code, None)]


def test_a_near_name_is_offered():
    with pytest.raises(promptc.PromptcError) as wrong:
        settle_budget(TotalBudget(0, 1, PLACE, "gpt-4o-minni"), None, load_models)
    assert wrong.value.diagnostics[0].help.startswith("did you mean `gpt-4o-mini`? Otherwise")


# contract 13.18
def test_the_report_names_the_figures(tmp_path):
    report = _report(_load(tmp_path, "{model: gpt-5-mini, reserve: 4000}"))
    assert report["budget"] == 272_000
    figures = {"name": "gpt-5-mini", "context": 400_000, "input": 272_000, "reserve": 4000}
    assert report["model"] == {**figures, "as_of": load_models().as_of}
    own = _report(_load(tmp_path, "{model: who-knows, context: 900, reserve: 100}"))
    assert own["model"]["as_of"] is None and own["budget"] == 800
    assert "model" not in _report(_load(tmp_path, "800"))


# contract 8.20
def test_a_table_of_the_users_goes_first(tmp_path):
    pack = _load(tmp_path, "{model: mine, reserve: 100}", TABLE.replace("mine", "gpt-4o"))
    report = _report(pack, model="gpt-4o")
    assert (report["budget"], report["model"]["as_of"]) == (700, "2027-01-02")
    assert _report(pack, model="gpt-4.1")["model"]["as_of"] == load_models().as_of
    with pytest.raises(promptc.UsageError):
        _report(promptc.load(tmp_path), model="mine")


def test_nothing_is_read_of_a_table_that_no_budget_names(tmp_path):
    pack = _load(tmp_path, "800", "this is no table")
    assert _report(pack)["budget"] == 800
    with pytest.raises(promptc.PromptcError) as wrong:
        _report(_load(tmp_path, "{model: mine, reserve: 1}", "this is no table"))
    assert [one.code for one in wrong.value.diagnostics] == ["PC0756"]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("", "what day"),
        ('as_of = "2027-01-02"', "what day"),
        ("as_of = 2027-01-02T10:00:00", "what day"),
        ("as_of = 2027-01-02\nmodels = []", "unknown key `models`"),
        ("as_of = 2027-01-02\n[model]\nname = 'a'", "not a list"),
        ("as_of = 2027-01-02\n[[model]]\ncontext = 5", "no `name`"),
        ("as_of = 2027-01-02\n[[model]]\nname = 'a'\ncontext = 0", "whole number"),
        ("as_of = 2027-01-02\n[[model]]\nname = 'a'\ncontext = true", "whole number"),
        ("as_of = 2027-01-02\n[[model]]\nname = 'a'\nsource = 5", "not a string"),
        ("as_of = 2027-01-02\n[[model]]\nname = 'a'\nprice = {input = 1}", "not of the form"),
        ("as_of = 2027-01-02\n[[model]]\nname = 'a'\nprice = {input = nan, output = 1}", "not of the form"),
        ("as_of = 2027-01-02\n[[model]]\nname = 'a'\nmax = 5", "unknown key `max`"),
        ("as_of = 2027-01-02\n[[model]]\nname = 'a'\n[[model]]\nname = 'a'", "twice"),
        ("a" * 2_000_000, "more than 1,000,000 bytes"),
        ("x = " + "[" * 5000, "not TOML"),
    ],
)
def test_a_table_that_is_wrong_says_where(tmp_path, table, says):
    path = tmp_path / "models.toml"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(promptc.PromptcError) as wrong:
        load_models(str(path))
    found = wrong.value.diagnostics
    assert any(says in one.message for one in found), found
    assert all(one.span is None or one.span.file == str(path) for one in found)


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(promptc.DiskError):
        load_models(str(tmp_path / "none.toml"))


# contract 8.19
def test_a_model_that_nothing_takes_up_is_refused(tmp_path):
    pack = _load(tmp_path, "800")
    with pytest.raises(promptc.UsageError) as wrong:
        pack.render({"who": "Ada"}, model="gpt-4o")
    assert [one.code for one in wrong.value.diagnostics] == ["PC0709"]
    assert pack.render({"who": "Ada"}, model="anything", format="openai").to("openai")["model"] == "anything"


# contract 8.10
@pytest.mark.parametrize(
    ("more", "asked", "named"),
    [
        ("", None, "gpt-4o"),
        ("output: {models: {openai: gpt-4.1}}\n", None, "gpt-4.1"),
        ("output: {models: {openai: gpt-4.1}}\n", "gpt-4o-mini", "gpt-4o-mini"),
    ],
)
def test_a_request_names_the_model(tmp_path, more, asked, named):
    pack = _load(tmp_path, "{model: gpt-4o, reserve: 400}", more=more)
    body = pack.render({"who": "Ada"}, format="openai", model=asked).to("openai")
    assert (body["model"], body["max_completion_tokens"]) == (named, 400)


def test_ollama_is_told_the_window(tmp_path):
    pack = _load(tmp_path, "{model: 'qwen3:8b', context: 8192, reserve: 400}")
    body = pack.render({"who": "Ada"}, format="ollama").to("ollama")
    assert (body["model"], body["options"]) == ("qwen3:8b", {"num_ctx": 8192, "num_predict": 400})


def test_a_variation_may_follow_another_model(tmp_path):
    more = "patches: {small: {budget: {model: gpt-4o}}, mine: {budget: {reserve: 9000}}, plain: {budget: 500}}\n"
    pack = _load(tmp_path, "{model: gpt-5-mini, reserve: 4000}", more=more)
    totals = [_report(pack, patches=[name])["budget"] for name in ("small", "mine", "plain")]
    assert totals == [124_000, 272_000, 500]


def test_a_kept_pack_follows_the_table_of_now(tmp_path):
    """What is kept of a pack in the cache holds no figure of a table."""
    from promptc.cache import Cache

    _load(tmp_path, "{model: mine, reserve: 100}", TABLE)
    cache = Cache(str(tmp_path / "cache"))
    totals = []
    for context in ("context = 900", "context = 500"):
        (tmp_path / "models.toml").write_text(TABLE.replace("context = 900", context), encoding="utf-8")
        with promptc.Pack.load(tmp_path, cache, models=tmp_path / "models.toml") as pack:
            totals.append(_report(pack)["budget"])
    assert totals == [700, 400]


def test_a_question_follows_the_same_table(tmp_path):
    """The pack of a question is loaded with the table of the pack that asks."""
    asks = "operations: {sum_up: {asks: {digest: {pack: ask/pack.yaml, else: {text: none}}}, edits: [{set: /d, to: answers.digest}]}}\n"
    (tmp_path / "ask").mkdir()
    question = f"{HEAD}budget: {{model: mine, reserve: 100}}\nsections: [{{id: main, role: user, text: Sum up.}}]\n"
    (tmp_path / "ask" / "pack.yaml").write_text(question, encoding="utf-8")
    pack = _load(tmp_path, "800", TABLE, more=asks)
    assert pack.ask({"who": "Ada"}, "sum_up")[0].prompt.report["budget"] == 700


def test_a_table_has_no_model_of_nothing():
    assert ModelTable().find("gpt-4o") is None
    table = ModelTable("2027-01-02", "", {"a": KnownModel("a", "", "2027-01-02", "", context=5)})
    assert Path(PACKAGE, "model", "models.toml").is_file() and table.find("x/a") is not None
