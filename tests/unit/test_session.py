"""A session changes one state, renders it as a whole state is rendered, and does not grow."""

import copy
import gc
import json
import threading
import tracemalloc
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import promptc
from benchmarks.blocks import make_sentinel_state
from promptc import session as live
from promptc.frontend.state import StateSchema
from promptc.session import share_parts
from tests.packs import load_pack
from tests.size import read_size

ROOT = Path(__file__).parents[2]
SENTINEL = "packs/sentinel"
BLOCK = {"id": 9_000, "type": "INTEL", "speaker": "ASH", "text": "The bridge is out.", "tags": []}


def open_session(blocks=30):
    state = make_sentinel_state(blocks, 20)
    session = load_pack(SENTINEL).session()
    session.render(state)
    return session, copy.deepcopy(state)


def test_nothing_is_rendered_before_there_is_a_state():
    session = load_pack(SENTINEL).session()
    assert session.state is None
    for act in (session.render, lambda: session.append("/transcript", BLOCK)):
        with pytest.raises(promptc.UsageError, match="PC0749"):
            act()


@pytest.mark.parametrize("changes", [None, 5, b"[]", {"op": "remove", "path": "/input"}], ids=["none", "number", "bytes", "one"])
def test_what_is_no_list_of_changes(changes):
    session, _ = open_session()
    with pytest.raises(promptc.UsageError, match="PC0747 a JSON Patch is a list of mappings"):
        session.update(changes)


def test_a_loaded_state_is_rendered_and_not_changed():
    session, state = open_session()
    loaded = load_pack(SENTINEL).load_state({**state, "input": "I wait."})
    assert session.render(loaded).report == load_pack(SENTINEL).render(loaded).report and session.state is loaded
    for act in (partial(session.append, "/transcript", BLOCK), partial(session.update, [{"op": "remove", "path": "/input"}])):
        with pytest.raises(promptc.UsageError, match="PC0755 the session has a `State`"):
            act()
    assert session.state is loaded
    assert session.render(state).report == load_pack(SENTINEL).render(state).report
    session.append("/transcript", BLOCK)


@pytest.mark.parametrize("odd", [5, None, 1.5, b"x", "x", [5], [("a",)], [("a", 5)], {"a": 5}, {5: "a"}, "x\0y", "\ud800"], ids=repr)
def test_no_argument_of_the_wrong_type_is_an_error_of_python(odd):
    """Each call takes it, or says what it takes."""
    pack, prompt = load_pack(SENTINEL), load_pack(SENTINEL).render(open_session()[1])
    state = open_session()[1]
    calls = (
        promptc.load,
        lambda one: promptc.load(pack.file, models=one),
        lambda one: promptc.Pack.load(pack.file, tries=one),
        pack.tried,
        lambda one: pack.tried([], one),
        lambda one: pack.load_state({"odd": float("nan")}, one),
        lambda one: pack.load_state(state, changes=one),
        pack.session,
        pack.check,
        lambda one: pack.check(models=one),
        lambda one: pack.compile(state, given=one),
        lambda one: pack.read_answer(one, "[]"),
        lambda one: pack.read_answer(prompt, one),
        lambda one: pack.ask(state, one),
        lambda one: pack.apply(state, one),
        lambda one: pack.apply_to_file(one, "checkpoint"),
        lambda one: pack.apply_to_file("state.json", "checkpoint", wait=one),
        prompt.to,
        lambda one: prompt.to("openai", one),
        prompt.restore,
    )
    for call in calls:
        with suppress(promptc.PromptcError):
            call(odd)


@pytest.mark.parametrize(
    "asked",
    [
        {"budget": 40.5},
        {"budget": 4000.0},
        {"budget": True},
        {"budget": "4000"},
        {"model": 5},
        {"variants": ["mood"]},
        {"variants": {"mood": 5}},
        {"patches": "terse"},
        {"patches": None},
        {"patches": [5]},
        {"format": 5},
        {"stores": ["main"]},
    ],
    ids=str,
)
def test_an_argument_of_the_wrong_type(asked):
    session, state = open_session()
    (name,) = asked
    for render in (partial(load_pack(SENTINEL).render, state), session.render):
        with pytest.raises(promptc.UsageError, match=f"PC0755 `{name}` is .*, not a "):
            render(**asked)
    assert session.render().report == load_pack(SENTINEL).render(state).report


@pytest.mark.parametrize("asked", [{"args": 5}, {"answers": {"summary": 5}}], ids=str)
def test_an_argument_of_an_operation_of_the_wrong_type(asked, tmp_path):
    _, state = open_session()
    pack = load_pack(SENTINEL)
    for call in (pack.ask, pack.apply, partial(pack.apply_to_file, archive=tmp_path)):
        with pytest.raises(promptc.UsageError, match="PC0755"):
            call(tmp_path / "state.json" if isinstance(call, partial) else state, "checkpoint", **asked)


def test_what_comes_or_goes_at_the_end_of_a_list_moves_nothing(monkeypatch):
    """Or else the time to append many elements grows with the square of their number."""
    session, _ = open_session()
    monkeypatch.setattr(live._Touched, "shift", None)
    session.append("/transcript", BLOCK, {**BLOCK, "id": 9_001})
    session.update([{"op": "remove", "path": "/transcript/31"}])
    assert len(session.state.value["transcript"]) == 31


def test_what_is_appended_is_rendered():
    session, state = open_session()
    session.append("/transcript", BLOCK, {**BLOCK, "id": 9_001})
    state["transcript"] += [BLOCK, {**BLOCK, "id": 9_001}]
    assert session.render().report == load_pack(SENTINEL).render(state).report
    assert session.state.digest == load_pack(SENTINEL).load_state(state).digest


def test_what_was_given_stays_as_it_was():
    session, _ = open_session()
    block = copy.deepcopy(BLOCK)
    session.append("/transcript", block)
    block["text"] = "Changed behind its back."
    session.update([{"op": "add", "path": "/transcript/30/text", "value": "The bridge holds."}])
    assert block["text"] == "Changed behind its back." and "The bridge holds." in session.render().text


def test_a_prompt_stays_as_it_was():
    session, state = open_session()
    before = session.render()
    session.append("/transcript", BLOCK)
    session.render()
    assert before.report == load_pack(SENTINEL).render(state).report


def test_a_refused_change_changes_nothing():
    session, state = open_session()
    for changes in (
        [{"op": "add", "path": "/input", "value": "I run."}, {"op": "remove", "path": "/nothing"}],
        [{"op": "add", "path": "/input", "value": "I run."}, {"op": "add", "path": "/transcript/-", "value": {"text": 1}}],
        [{"op": "replace", "path": "", "value": []}],
        [{"op": "remove", "path": ""}],
    ):
        with pytest.raises(promptc.PromptcError):
            session.update(changes)
        assert session.render().report == load_pack(SENTINEL).render(state).report


def test_findings_are_those_of_the_whole_state():
    session, state = open_session()
    state["transcript"].append({**BLOCK, "type": "SONG"})
    with pytest.raises(promptc.PromptcError) as wanted:
        load_pack(SENTINEL).load_state({key: state[key] for key in sorted(state)})
    with pytest.raises(promptc.PromptcError) as found:
        session.append("/transcript", {**BLOCK, "type": "SONG"})
    assert [one.message for one in found.value.diagnostics] == [one.message for one in wanted.value.diagnostics]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ("add", "it is `add`, not a mapping"),
        ({"path": "/input"}, "it has no `op`"),
        ({"op": "merge", "path": "/input"}, "its `op` is `merge`"),
        ({"op": "add", "value": 1}, "`add` needs a `path`"),
        ({"op": "add", "path": "/input"}, "`add` needs a `value`"),
        ({"op": "move", "path": "/input"}, "`move` needs a `from`"),
        ({"op": "add", "path": "input", "value": 1}, "`input` is no JSON pointer"),
        ({"op": "copy", "path": "/input", "from": 3}, "3 is no JSON pointer"),
        ({"op": "remove", "path": "/transcript/07"}, "there is nothing there"),
        ({"op": "add", "path": "/transcript/99", "value": 1}, "the list `/transcript` has 30 elements; its elements are 0 to 29"),
        ({"op": "add", "path": "/input/a", "value": 1}, "`/input` is `We go down.`, neither a list nor a mapping"),
        ({"op": "add", "path": "/npc/name", "value": 1}, "the state was given no key `npc`"),
        ({"op": "move", "from": "/transcript", "path": "/transcript/0"}, "a value cannot move into itself"),
        ({"op": "test", "path": "/input", "value": 3}, "fails: the value there is `We go down.`, not 3"),
    ],
)
def test_a_change_that_cannot_be_made_is_told(changes, told):
    session, _ = open_session()
    with pytest.raises(promptc.UsageError) as found:
        session.update([changes])
    assert told in found.value.diagnostics[0].message and "change 1" in found.value.diagnostics[0].message


@pytest.mark.parametrize(("pointer", "told"), [("", "the state is"), ("/input", "`/input` is `We go down.`")])
def test_only_a_list_is_appended_to(pointer, told):
    session, _ = open_session()
    before = session.state
    with pytest.raises(promptc.UsageError) as found:
        session.append(pointer, 5)
    assert found.value.diagnostics[0].code == "PC0748" and told in found.value.diagnostics[0].message and session.state is before


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", float("nan"), 10**5000, "a\0b"], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("after", [[], [{"op": "remove", "path": "/z"}], [{"op": "replace", "path": "/z", "value": 1}]])
def test_what_is_no_json_is_refused_whatever_follows(value, after):
    session, _ = open_session()
    before = session.state
    with pytest.raises(promptc.PromptcError):
        session.update([{"op": "add", "path": "/z", "value": value}, *after])
    assert session.state is before


def test_keys_are_those_of_json_for_what_follows():
    session, _ = open_session()
    with pytest.raises(promptc.PromptcError) as found:  # the schema knows no `z`; what is put into it meets no number
        session.update([{"op": "add", "path": "/z", "value": {1: 2}}, {"op": "add", "path": "/z/q", "value": 1}])
    assert "`z`" in found.value.diagnostics[0].message


def test_only_what_changed_is_checked(monkeypatch):
    """The whole is looked at only where a part is not surely valid."""
    session, _ = open_session()
    monkeypatch.setattr(live, "read_state", None)
    monkeypatch.setattr(StateSchema, "is_valid", None)
    session.append("/transcript", BLOCK)
    session.update([{"op": "remove", "path": "/transcript/0"}, {"op": "add", "path": "/window", "value": 6}])
    session.update([{"op": "remove", "path": "/window"}])
    assert session.state.value["window"] == 12
    monkeypatch.undo()
    with pytest.raises(promptc.PromptcError):
        session.append("/transcript", {})


def test_a_whole_state_shares_what_it_has_in_common():
    session, state = open_session()
    first = session.state.value
    state["transcript"] = [*state["transcript"][1:], BLOCK]
    session.render(state)
    second = session.state.value
    assert second["digest"] is first["digest"]
    assert all(one is other for one, other in zip(second["transcript"][:-1], first["transcript"][1:], strict=True))


@pytest.mark.parametrize(("old", "new"), [([1], [True]), ([1], [1.5]), ({"a": 0}, {"a": False}), ([], [[]]), ("1", 1), ([1, 2], [2, 1])])
def test_unlike_values_are_not_shared(old, new):
    assert json.dumps(share_parts(old, new)) == json.dumps(new)


def test_several_threads_take_turns():
    session, _ = open_session()
    failed = []

    def play(number):
        try:
            for turn in range(10):
                session.append("/transcript", {**BLOCK, "id": 10_000 + 100 * number + turn})
                assert session.render(budget=4_000).report["tokens"]
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed and len(session.state.value["transcript"]) == 30 + 60
    assert session.render().report == load_pack(SENTINEL).render(json.loads(json.dumps(session._live._raw))).report


def test_it_does_not_grow():
    """Over 10 000 turns (a commit plays fewer) that keep the newest 40 blocks, as a long game does."""
    session, _ = open_session(40)
    turns = 10_000 if read_size() != "commit" else 600
    tracemalloc.start()
    held = []
    for turn in range(turns):
        block = {**BLOCK, "id": 10_000 + turn, "text": f"The bridge is out, says {turn % 7}."}
        session.update([{"op": "remove", "path": "/transcript/0"}, {"op": "add", "path": "/transcript/-", "value": block}])
        session.render()
        if turn in (turns // 4, turns - 1):
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert held[1] < held[0] + 50_000


def test_a_turn_leaves_no_cycle():
    """So a service that collects no garbage does not grow, whatever its clients send."""
    session, state = open_session()
    refused = (
        lambda: session.update([{"op": "replace", "path": "/transcript", "value": [{"id": "x"}, 5]}]),
        lambda: session.update([{"op": "remove", "path": "/nowhere"}]),
        lambda: session.render(b"{"),
        lambda: session.render({**state, "transcript": 5}),
        lambda: session.render(budget=1),
    )

    def play():
        session.append("/transcript", {**BLOCK, "id": 20_000 + len(session.state.value["transcript"])})
        assert session.render(format="openai").to("openai", model="gpt-5") and session.render().report["tokens"]
        for one in refused:
            with suppress(promptc.PromptcError):
                one()

    for _ in range(2):  # what is made at the first use stays
        play()
    gc.collect()
    gc.disable()
    try:
        play()
        assert not gc.collect()
    finally:
        gc.enable()


HEAD = "promptc: 1\nname: p\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 4000\n"
ITEMS = "items: {{from: state.list, id: item.id, {more}}}"
LIST = [{"id": name, "text": f"the {name}", "mail": f"{name}@example.com"} for name in ("gate", "tower", "gate", "well", "tower")]
FENCED = 'output: {fence: {open: "[{{ state.mood }}]", close: "(end)"}}\n'


def put(path, value):
    return {"op": "add", "path": path, "value": value}


@pytest.mark.parametrize(
    ("head", "more", "changes"),
    [
        ("", "text: '{{ item.text }} {{ state.mood }}'", [[put("/mood", "grim")], [put("/mood", "glad")]]),
        ("let: {mood: state.mood}\n", "text: '{{ item.text }} {{ mood }}'", [[put("/mood", "grim")], [put("/mood", "glad")]]),
        (FENCED, "text: '[{{ item.id }}]'", [[put("/mood", "gate")], [put("/mood", "well")]]),
        ("", "text: '{{ this.number }} {{ item.text }}'", [[{"op": "remove", "path": "/list/0"}]]),
        ("", "text: '{{ item.text }} {{ this.kept }}', keep: [{where: true, last: 1}]", [[put("/list/-", LIST[1])]]),
        ("", "text: '{{ this.id }}'", [[put("/list/0/id", "moat")], [put("/list/0/id", "gate")]]),
        ("", "where: this.number > 1, text: '{{ item.text }}'", [[{"op": "remove", "path": "/list/0"}]]),
        ("", "text: '{{ item.text }}', keep: [{where: this.number < 2}], window: {last: 1}", [[{"op": "remove", "path": "/list/0"}]]),
        ("redact: [email]\n", "text: '{{ item.mail }}'", [[put("/first", "a@example.com")], [put("/list/-", LIST[0])]]),
        ("visible: item.id != state.mood\n", "text: '{{ item.text }}'", [[put("/mood", "gate")], [put("/mood", "well")]]),
        ("", "where: item.id != state.mood, text: '{{ item.text }}'", [[put("/mood", "gate")], [put("/mood", "well")]]),
    ],
    ids=["state", "let", "fence", "number", "kept", "id", "where number", "keep number", "redact", "visible", "where"],
)
def test_what_an_element_depends_on_is_seen(tmp_path, head, more, changes):
    """The elements stay the very objects, and something else that their items depend on changes."""
    body = f"sections:\n  - id: log\n    {ITEMS.format(more=more)}\n"
    (tmp_path / "pack.yaml").write_text(HEAD + head + body, encoding="utf-8")
    pack, state = promptc.load(tmp_path), {"first": "b@example.com", "list": copy.deepcopy(LIST), "mood": "dull"}
    session = pack.session()
    assert session.render(state).report == pack.render(state).report
    for patch in changes:
        session.update(patch)
        fresh = pack.render(json.loads(json.dumps(session._live._raw)))
        assert session.render().text == fresh.text
        assert session.render().report == fresh.report


def test_a_limit_is_met_in_the_turn_in_which_a_fresh_render_meets_it(tmp_path):
    """What is remembered is paid for, too."""
    body = "limits: {steps: 20000}\nsections:\n  - {id: log, items: {from: state.list, text: '{{ item.text }}'}}\n"
    (tmp_path / "pack.yaml").write_text(HEAD + body, encoding="utf-8")
    pack = promptc.load(tmp_path)
    session, state = pack.session(), {"list": []}
    session.render(state)
    for turn in range(2_000):
        block = {"text": f"turn {turn}"}
        state["list"].append(block)
        session.append("/list", block)
        try:
            wanted = pack.render(state)
        except promptc.PromptcError as error:
            with pytest.raises(promptc.PromptcError) as found:
                session.render()
            assert found.value.diagnostics == error.diagnostics  # noqa: PT017
            return
        assert session.render().text == wanted.text
    pytest.fail("no limit was met")
