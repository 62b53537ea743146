"""What a provider's cache reads, writes and costs, over requests made by hand; and what ended a common beginning."""

from base64 import b64encode
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.diag.frozen import replace
from promptc.economy import (
    Common,
    ReadRequest,
    RequestRun,
    account_turns,
    compare_requests,
    find_break,
    list_flaps,
    list_trials,
    read_request,
)
from promptc.model.messages import PROVIDERS, Caching
from promptc.text.counters.counter import Meter
from promptc.text.counters.exact import load_counter
from tests.contract.sources import ROOT

_METER = Meter(load_counter("o200k_base", folder=""))
_PREFIX = Caching(by="prefix", least=10, step=4, minutes=5, read=10, write=100)
_MARKS = Caching(by="marks", lookback=3, minutes=5, read=10, write=125)


def _make(words: str, caching: Caching = _PREFIX, least: int = 10) -> ReadRequest:
    """A request whose runs are the words: of five tokens each, one of which opens it; `!` behind a word is a breakpoint."""
    runs = tuple(RequestRun(("user", "text"), word.rstrip("!"), 1, 4, ends="main" if word.endswith("!") else "") for word in words.split())
    return ReadRequest(runs, _METER, None, caching, least)  # type: ignore[arg-type]


def _account(*turns: str, caching: Caching = _PREFIX, gap: int = 1) -> list[tuple[int, int, int | None]]:
    return [(one.read, one.written, one.cost) for one in account_turns([_make(words, caching) for words in turns], gap)]


def test_a_beginning_is_kept_in_whole_steps_and_from_the_least_on():
    assert _account("a b c", "a b c d") == [(0, 15, 1500), (12, 8, 12 * 10 + 800)]  # 15 alike, in steps of 4
    assert _account("a b c", "a x y") == [(0, 15, 1500), (0, 15, 1500)]  # 5 alike: under the least
    assert _account("a", "a") == [(0, 0, 500), (0, 0, 500)]  # too short to be kept at all


def test_any_turn_that_lives_may_help():
    back = _account("a b c", "x y z", "a b c")
    assert back[2] == (12, 3, 12 * 10 + 300)
    gone = _account("a b c", *["x y z"] * 6, "a b c")
    assert gone[-1][0] == 0
    kept = _account("a b c", "x y z", "x y z", "a b c", "x y z", "x y z", "x y z", "a b c")
    assert kept[-1][0] == 12  # reading it gave it another five minutes


def test_the_gap_is_counted():
    assert [read for read, _, _ in _account("a b c", "a b c", gap=5)] == [0, 12]
    assert [read for read, _, _ in _account("a b c", "a b c", gap=6)] == [0, 0]


def test_only_the_beginning_that_was_read_lives_on():
    assert _account("a b c d e", "a b c x y", "a b c d e", gap=5)[2][0] == 12
    assert _account("a b! c d!", "a b! x!", "a b! c d!", caching=_MARKS, gap=5)[2][0] == 10
    far = replace(_MARKS, lookback=9)
    assert _account("a b! c!", "a b c y!", "a b x!", caching=far, gap=5)[2][0] == 10  # in the turn before, this was part of what was read


def test_marks_keep_what_ends_at_a_breakpoint():
    turns = _account("a b! c", "a b! x y", caching=_MARKS)
    assert turns == [(0, 10, 500 + 1250), (10, 0, 100 + 1000)]
    assert _account("a b c", "a b c", caching=_MARKS) == [(0, 0, 1500), (0, 0, 1500)]
    assert _account("a b! c", "a x! c", caching=_MARKS)[1] == (0, 10, 500 + 1250)


def test_marks_are_looked_for_a_few_blocks_back():
    assert _account("a b!", "a b c d!", caching=_MARKS)[1][0] == 10  # two blocks back
    assert _account("a b!", "a b c d e!", caching=_MARKS)[1][0] == 0  # three: one too many
    assert _account("a b!", "a b! c d e!", caching=_MARKS)[1][0] == 10


def test_a_provider_with_a_mark_of_its_own_keeps_whole_requests():
    own = Caching(by="marks", has_own_mark=True, read=10, write=125)
    assert _account("a b", "a b c d e f", caching=own) == [(0, 10, 1250), (10, 20, 100 + 2500)]
    assert _account("a b x", "a b y", caching=own)[1] == (0, 15, 1875)  # what is alike ends at no breakpoint


def test_no_price_is_no_cost():
    assert _account("a b c", "a b c", caching=Caching(by="prefix"))[1] == (15, 0, None)


_WORDS = st.lists(st.sampled_from("a b c d! e!".split()), min_size=1, max_size=6).map(" ".join)


@given(st.lists(_WORDS, min_size=1, max_size=8), st.sampled_from([_PREFIX, _MARKS]), st.integers(1, 4))
def test_what_is_read_was_sent_before_and_nothing_is_counted_twice(turns: list[str], caching: Caching, gap: int) -> None:
    requests = [_make(words, caching) for words in turns]
    for at, turn in enumerate(account_turns(requests, gap)):
        alike = [compare_requests(old, requests[at]).tokens for old in requests[:at]]
        assert 0 <= turn.read <= max(alike, default=0) <= turn.tokens
        assert turn.read + turn.written <= turn.tokens
        assert turn.same == (alike[-1] if at else 0)
        assert turn.cost is not None and 10 * turn.tokens <= turn.cost <= 125 * turn.tokens


def test_only_whole_tokens_of_a_text_are_alike():
    def request(text: str) -> ReadRequest:
        part: Any = promptc  # anything that says the chunk is a text
        return ReadRequest((RequestRun(("user", "text"), text, 3, _METER.count(text), (part,)),), _METER, None, _PREFIX, 0)  # type: ignore[arg-type]

    found = compare_requests(request("one two threaded"), request("one two three and"))
    assert found == Common(0, len("one two thre"), 3 + 2)


# --- what ended it ---

_PACK = """\
promptc: 1
name: talk
version: 1.0.0
tokenizer: o200k_base
budget: 60
sections:
  - {id: clock, text: "It is {{ state.now }}.", when: state.now}
  - {id: rules, text: "Be brief.", pinned: true}
  - id: lines
    items:
      from: state.lines
      id: item.id
      forms: [{text: "{{ item.text }} {{ item.text }}"}, {text: "{{ item.text }}"}]
      window: {last: 6}
    overflow: [{shorten: {}}, {evict: {}}]
    budget: 30
strain: {tiers: [{name: calm, at: 0}, {name: tense, at: 0.9, do: [{drop: {section: clock}}]}]}
"""


def _line(name: str, text: str) -> dict[str, str]:
    return {"id": name, "text": text}


@pytest.fixture
def render(tmp_path: Path):
    (tmp_path / "pack.yaml").write_text(_PACK, encoding="utf-8")
    pack = promptc.load(tmp_path)

    def make(lines: list[dict[str, str]], now: str = "") -> ReadRequest:
        return read_request(pack.compile({"now": now, "lines": lines}))

    return make


_A, _B, _C = _line("a", "ash"), _line("b", "birch"), _line("c", "cedar")


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (([_A], "ten"), ([_A], "nine"), "clock changed, state key /now"),
        (([_A], ""), ([_A], "nine"), "clock came, it was off before"),
        (([_A], "nine"), ([_A], ""), "clock went, it is off"),
        (([_A, _B], ""), ([_B], ""), "lines/a went, the state no longer has it"),
        (([_A, _B], ""), ([_A, _C, _B], ""), "lines/c came"),
        (([_A, _B], ""), ([_B, _A], ""), "lines/a moved"),
        (([_A, _B], ""), ([_line("a", "alder"), _B], ""), "lines/a changed, state key /lines/0/text"),
        (([_line(str(n), str(n)) for n in range(6)], ""), ([_line(str(n), str(n)) for n in range(7)], ""), "lines/0 went, by window"),
    ],
)  # fmt: skip
def test_a_break_is_named(render, before, after, says):
    found = find_break(render(*before), render(*after))
    assert found is not None and found.describe() == says


def test_cuts_and_tiers_are_named(render):
    long = [_line(str(n), "a wide old oak at the ford") for n in range(3)]
    found = find_break(render(long[:1]), render([*long[:1], _line("x", "birch " * 9)]))
    assert found is not None and (found.section, found.item, found.what) == ("lines", "0", "shortened")
    assert found.why == "form 1 → 2" and found.tier == "calm → tense"


def test_what_goes_on_is_no_break(render):
    assert find_break(render([_A]), render([_A])) is None


@pytest.mark.parametrize("form", ["text", "messages", "openai", "anthropic"])
def test_blanks_at_the_end_of_a_text_are_a_change(tmp_path, form):
    """Not the line end that depends on what follows."""
    manifest = "promptc: 1\nname: a\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 400\nsections:\n"
    manifest += '  - {id: a, role: system, text: "{{ state.x }}"}\n  - {id: b, role: user, text: Hello.}\n'
    (tmp_path / "pack.yaml").write_text(manifest, encoding="utf-8")
    pack = promptc.load(tmp_path)
    found = find_break(*(read_request(pack.compile({"x": text}, format=form)) for text in ("Be nice", "Be nice ")))
    assert found is not None and found.describe() == "a changed, state key /x"


@pytest.mark.parametrize("form", ["text", "messages", "openai", "anthropic"])
@pytest.mark.parametrize("text", ["Hello {{ state.x }}", "Hello {{ state.x }}!", "{{ state.x }}", "{{ state.x }} and {{ state.y }}"])
@pytest.mark.parametrize("short", ["Ada", ""])
def test_a_value_that_lost_its_end_is_a_change_of_its_key(form, text, short, tmp_path):
    manifest = "promptc: 1\nname: a\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 400\nsections:\n"
    manifest += f'  - {{id: a, role: user, text: "= {text}"}}\n  - {{id: b, role: user, text: Go on.}}\n'
    (tmp_path / "pack.yaml").write_text(manifest, encoding="utf-8")
    pack = promptc.load(tmp_path)
    longer, shorter = (read_request(pack.compile({"x": name, "y": "Bo"}, format=form)) for name in ("Ada B", short))
    for pair in ((longer, shorter), (shorter, longer)):
        found = find_break(*pair)
        assert found is not None and found.describe() == "a changed, state key /x"


def test_a_text_of_a_list_that_a_step_cut_is_no_change_of_a_key(tmp_path):
    """Though another item is at its place in the state before."""
    manifest = "promptc: 1\nname: a\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 12\nsections:\n"
    manifest += (
        '  - {id: a, items: {from: state.a, id: item.id, text: "{{ item.text }}"}}\n  - {id: b, text: "{{ state.b }}", pinned: true}\n'
    )
    (tmp_path / "pack.yaml").write_text(f"{manifest}truncate: [{{trim: {{section: a, at: word}}}}]\n", encoding="utf-8")
    pack, last = promptc.load(tmp_path), {"id": "z", "text": "one two three four five six"}
    before, after = {"a": [last], "b": "x"}, {"a": [{"id": "y", "text": ""}, last], "b": "x " * 8}
    found = find_break(*(read_request(pack.compile(one)) for one in (before, after)))
    assert found is not None and found.describe() == "a/z changed, by truncate[0]"


@pytest.mark.parametrize("form", ["messages", *PROVIDERS])
def test_a_picture_is_shared_as_a_whole_or_not_at_all(tmp_path, form):
    """Its bytes are not what is counted."""
    manifest = "promptc: 1\nname: a\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 9000\noutput: {format: messages}\nsections:\n"
    message = "{role: item.role, content: item.content, parts: [text, image], media: {tokens: '85'}}"
    manifest += f"  - {{id: a, items: {{from: state.t, message: {message}}}}}\n"
    (tmp_path / "pack.yaml").write_text(manifest, encoding="utf-8")
    pack = promptc.load(tmp_path)

    def read(last: bytes) -> ReadRequest:
        head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x40\x00\x00\x00\x40\x08\x02"
        source = {"type": "base64", "media_type": "image/png", "data": b64encode(head + b"\0" * 9000 + last).decode()}
        content = [{"type": "text", "text": "Look at this."}, {"type": "image", "source": source}]
        return read_request(pack.compile({"t": [{"role": "user", "content": content}]}, format=form))

    one, other = read(b"one"), read(b"two")
    (turn,) = account_turns([one, other])[1:]
    assert 0 < turn.same < turn.tokens and turn.same == other.count(next(at for at, run in enumerate(other.runs) if not run.is_counted))
    assert compare_requests(one, read(b"one")).tokens == one.tokens


def test_a_session_of_texts_is_looked_at_once_a_turn(tmp_path, monkeypatch):
    manifest = "promptc: 1\nname: a\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 400\nsections:\n"
    (tmp_path / "pack.yaml").write_text(manifest + "  - {id: a, items: {from: state.t, text: '{{ item }}'}}\n", encoding="utf-8")
    pack = promptc.load(tmp_path)
    requests = [read_request(pack.compile({"t": [f"line {at}" for at in range(turn)] + ["end"]})) for turn in range(20)]
    asked = []
    ends = type(requests[0].meter.counter).token_ends
    monkeypatch.setattr(type(requests[0].meter.counter), "token_ends", lambda own, text: asked.append(text) or ends(own, text))
    assert account_turns(requests)[-1].same > 0 and len(asked) <= len(requests)


def test_flaps_are_what_comes_back(render):
    requests = [render(lines) for lines in ([_A, _B], [_A], [_A, _B], [_A, _B], [_B], [_A, _B])]
    assert [(one.turn, one.what) for one in list_flaps(requests)] == [(2, "lines/b"), (5, "lines/a")]


def test_trials_are_yaml_of_patches(render, tmp_path):
    requests = [render([_line(str(n), "oak") for n in range(last)], f"{last}") for last in range(7, 10)]
    trials = list_trials(requests)
    assert any(one.edit == "move `clock` after `lines`" for one in trials)
    pack = promptc.load(tmp_path)
    for one in trials:
        assert pack.tried((), [one.patch]).compile({"now": "x", "lines": [_A]}).emitted is not None
    assert all(first.edit != second.edit for first, second in pairwise(trials))


@pytest.mark.parametrize("name", ["album", "dispatch"])
def test_the_runs_of_a_request_are_all_of_its_tokens(name):
    """Pictures, tool calls and their results among them, for every provider that takes them."""
    compared = 0
    for manifest in sorted((ROOT / "fixtures" / name).rglob("pack.yaml")):
        pack = promptc.load(manifest)
        for state in sorted(manifest.parent.glob("*.json")):
            for form in ("messages", *PROVIDERS):
                try:
                    outcome = pack.compile(state.read_bytes(), format=form)
                    request = read_request(outcome) if outcome.emitted is not None else None
                except promptc.PromptcError:
                    continue  # a file that is no state, or what the provider does not take
                if request is not None:
                    assert request.tokens == outcome.tokens, (manifest, state.name, form)
                    compared += 1
    assert compared >= 5
