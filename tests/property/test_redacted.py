"""Nothing that a rule finds in the state leaves by a prompt or its report, and what was taken out can be put back exactly."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.model.section import Redaction
from promptc.passes.redact import Redactions, restore

SECRETS = (
    "ada@example.com", "b.o-x+1@mail.example.co.uk", "+49 30 1234567", "(555) 867-5309", "0171 2345678", "4111 1111 1111 1111",
    "378282246310005", "AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1B2" * 9, "AB123456", "[EMAIL_1]", "[PASSPORT_2]",
)  # fmt: skip
RULES = '[email, phone, card, key, {pattern: "[A-Z]{2}[0-9]{6}", as: passport}]'
BODY = """
sections:
  - id: about
    text: "For {{ state.about }}, {{ state.more | join(', ') }}"
  - id: by_key
    text: "{% for name, value in state.named.items() %}{{ name }} is {{ value }}; {% endfor %}"
  - id: log
    items: {from: state.log, id: item, text: "- {{ item }}", window: {last: 9}}
    overflow: [{evict: {marker: "{{ removed }} went, for {{ state.about }}"}}]
"""
HEAD = "promptc: 1\nname: desk\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100000\n"
WORDS = st.sampled_from(("and", "to", "café", "12", "\u4e16", "a", "see"))
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from(SECRETS)), min_size=1, max_size=6).map(" ".join)
STATES = st.fixed_dictionaries(
    {
        "about": TEXTS,
        "more": st.lists(TEXTS, max_size=3),
        "named": st.dictionaries(TEXTS, TEXTS, max_size=3),
        "log": st.lists(TEXTS, max_size=12),
    }
)
SHOWN = SECRETS[:-2]


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """One pack, with and without its rules."""
    found = []
    for redact in (f"redact: {RULES}\n", ""):
        folder = tmp_path_factory.mktemp("redacted")
        (folder / "pack.yaml").write_text(f"{HEAD}{redact}{BODY}", encoding="utf-8")
        found.append(promptc.load(folder))
    return found


# contract 10.19, 10.22 and 10.24
@given(state=STATES)
def test_nothing_leaves_and_all_comes_back(packs, state):
    prompt, bare = (pack.render(state) for pack in packs)
    told = prompt.text + json.dumps(prompt.report, ensure_ascii=False)
    assert not [secret for secret in SHOWN if secret in told]
    assert prompt.restore(prompt.text) == bare.text
    assert len(set(prompt.redactions.values())) == len(prompt.redactions)
    assert sum(prompt.report["redacted"].values()) == len(prompt.redactions)


# contract 10.21
@given(state=STATES, budget=st.integers(30, 300))
def test_a_smaller_budget_names_nothing_otherwise(packs, state, budget):
    pack, _ = packs
    whole = pack.render(state)
    try:
        small = pack.render(state, budget=budget)
    except promptc.FitError:
        return
    assert small.redactions.items() <= whole.redactions.items()
    assert small.tokens <= budget


# contract 10.20
@given(
    text=st.lists(st.sampled_from(("a", "b", "ab", "-", "aab")), max_size=12).map("".join),
    patterns=st.lists(st.sampled_from(("a+", "ab|b", "a-b", "aa", "b-?a")), min_size=1, max_size=3, unique=True),
)
def test_a_text_of_patterns_comes_back(text, patterns):
    rules = tuple(Redaction(f"L{at}", pattern=one) for at, one in enumerate(patterns))
    redactions = Redactions((rules,), text, lambda steps: None)
    redacted = redactions.redact(text, rules)
    assert restore(redacted, redactions.originals, is_json=False) == text
    assert json.loads(restore(json.dumps(redacted), redactions.originals, is_json=True)) == text


RULES_APART = ('[{pattern: "w[a-z]*", as: word}]', '[{pattern: "wolf gate|gate", as: place}, {pattern: "[0-9]+", as: word}]', "[email]")
APART = "sections:\n" + "".join(
    f'  - {{id: s{place}, items: {{from: state.log, text: "{{{{ item }}}}"}}, redact: {rules}}}\n'
    for place, rules in enumerate(RULES_APART)
)
LINES = st.lists(
    st.lists(st.sampled_from(("wolf", "gate", "way", "12", "7", "w@x.de", "-")), min_size=1, max_size=4).map(" ".join), max_size=4
)


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """A pack in which each section has rules of its own, which find parts of what others find."""
    folder = tmp_path_factory.mktemp("apart")
    (folder / "pack.yaml").write_text(HEAD + APART, encoding="utf-8")
    return promptc.load(folder)


# contract 10.21
@given(log=LINES, more=LINES)
def test_what_comes_later_in_the_state_changes_no_number(apart, log, more):
    short, long = [_list_items(apart, state) for state in ({"log": log}, {"log": [*log, *more]})]
    assert all(one == other[: len(one)] for one, other in zip(short, long, strict=True))


def _list_items(pack, state):
    """The lines of each section."""
    prompt = pack.render(state)
    lines = prompt.text.encode()
    return [[lines[slice(*item["range"])] for item in section["items"]] for section in prompt.report["sections"]]
