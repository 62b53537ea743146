"""The file of providers: complete, dated, with a source for every fact and no address in it."""

import json

import pytest

from promptc.diag.findings import UsageError
from promptc.frontend import output as module
from promptc.frontend.output import load_provider
from promptc.model.messages import PROVIDERS
from tests.contract.sources import ROOT

FILE = ROOT / "compiler" / "promptc" / "frontend" / "providers.json"
READ = json.loads(FILE.read_text(encoding="utf-8"))
TOKENS = ("message_tokens", "prompt_tokens", "tool_tokens", "tools_tokens", "response_tokens")


def test_every_provider_is_there_and_no_other():
    assert tuple(READ["providers"]) == PROVIDERS
    assert READ["as_of"] == "2026-11-22"
    assert module.__file__ and FILE.is_file()


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_fact_has_a_source_and_every_count_says_whether_it_is_an_estimate(name):
    facts = READ["providers"][name]
    assert all(fact["source"] and "://" not in fact["source"] for key, fact in facts.items() if key != "title")
    assert all(isinstance(facts[key]["estimate"], bool) and facts[key]["value"] >= 0 for key in TOKENS)
    assert all(facts[key]["estimate"] for key in TOKENS if "not published" in facts[key]["source"])


@pytest.mark.parametrize("name", PROVIDERS)
def test_what_is_loaded_is_what_the_file_says(name):
    facts, provider = READ["providers"][name], load_provider(name)
    assert provider.name == name and provider.title == facts["title"] and provider.as_of == READ["as_of"]
    for key in ("needs_user", "needs_limit", "keeps_thinking", "system", "counts_role", *TOKENS):
        assert getattr(provider, key) == facts[key]["value"]
    assert list(provider.roles) == facts["roles"]["value"]
    assert provider.breakpoints.count == facts["breakpoints"]["value"]
    assert set(provider.estimates) == {key for key in TOKENS if facts[key]["estimate"]}


def test_only_two_can_search_and_say_what_they_show():
    found = {name: load_provider(name).search for name in PROVIDERS}
    assert [name for name, search in found.items() if search is not None] == ["openai-responses", "anthropic"]
    for name, search in found.items():
        fact = READ["providers"][name]["search"]
        assert (search is None) == (fact["value"] == "none")
        if search is not None:
            assert (search.shown, search.tokens, dict(search.body)) == (fact["value"], fact["tokens"], fact["body"]) and fact["estimate"]


def test_an_unknown_provider_is_a_wrong_call():
    with pytest.raises(UsageError, match="PC0706"):
        load_provider("anthropics")


def test_the_minimum_is_that_of_the_models_family():
    known = load_provider("anthropic").breakpoints
    given = (
        "claude-opus-4-7",
        "claude-opus-4-5-20251101",
        "claude-sonnet-5-5",
        "claude-sonnet-5",
        "anthropic/claude-haiku-4-5",
        "other",
        None,
    )
    assert [known.choose_minimum(model) for model in given] == [2048, 4096, 512, 1024, 4096, 512, 512]
    assert load_provider("gemini").breakpoints.choose_minimum(None) == 0


def test_models_that_take_breakpoints_are_known_by_how_their_names_begin():
    known = load_provider("openai").breakpoints
    assert [known.takes(model) for model in ("gpt-5.6", "openai/gpt-5.6-mini", "gpt-5.5", "gpt-4o", "claude-opus-5", None)] == [
        True,
        True,
        *[False] * 4,
    ]
    assert load_provider("anthropic").breakpoints.takes(None) and not load_provider("ollama").breakpoints.takes("llama3.3")
