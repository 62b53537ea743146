"""A session gives what a render of the whole state gives: bytes, tokens, report and findings, turn after turn."""

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from promptc.diag.findings import PromptcError, Span, UsageError
from promptc.frontend.state import load_state, load_state_schema
from promptc.session import LiveState, LocalSchema
from tests.property.drawing.draws import draw_any, draw_hostile
from tests.property.drawing.state import LISTS, draw_elements, draw_turns
from tests.property.drawing.words import draw_text
from tests.property.load_drawn import Loaded
from tests.property.proof import Proof, Tally
from tests.property.test_schema_verdicts import ANY_SCHEMA, VALUES

_TURNS = 6
_FORMATS = (None, None, None, "text", "messages", "anthropic", "openai")


@pytest.mark.parametrize("draw", [draw_any, draw_hostile])
def test_a_session_is_as_fresh_renders_are(proof: Proof, draw: Any) -> None:
    tally = proof.hold(f"sessions ({draw.__name__})", judge_session, draw, 500)
    assert tally["prompts"] and tally["refused"]


def judge_session(loaded: Loaded, tally: Tally) -> str | None:
    rng = Random(repr(loaded.drawn.state))
    state = copy.deepcopy(loaded.drawn.state)
    session = loaded.pack.session()
    begun = show(lambda: session.render(copy.deepcopy(state), budget=4000))
    if begun != show(lambda: loaded.pack.render(copy.deepcopy(state), budget=4000)):
        return "the first turn is not what a render is"
    for turn in range(_TURNS):
        whole = rng.random() < 0.15
        changes = draw_changes(rng, state)
        if not whole:
            session.update(copy.deepcopy(changes))
        budget, format = rng.choice((4000, 4000, rng.randint(20, 600))), rng.choice(_FORMATS)
        given = copy.deepcopy(state) if whole else None
        found = show(lambda: session.render(given, budget=budget, format=format))  # noqa: B023
        wanted = show(lambda: loaded.pack.render(copy.deepcopy(state), budget=budget, format=format))  # noqa: B023
        tally["prompts" if wanted[0] == "prompt" else "refused"] += 1
        if found != wanted:
            return f"in turn {turn}, at {budget} for {format}, after {changes}: {found} is not {wanted}"
    return None


def show(render: Any) -> tuple[str, Any]:
    """A prompt with its report, or the findings in its place."""
    try:
        prompt = render()
    except PromptcError as error:
        return "findings", list(error.diagnostics)
    content = prompt.text if prompt.format == "text" else [prompt.messages, prompt.tools]
    return "prompt", [content, prompt.tokens, prompt.report, prompt.warnings]


def draw_changes(rng: Random, state: dict[str, Any]) -> list[dict[str, Any]]:
    """A turn's changes, which are made in `state`, too, by other means."""
    changes: list[dict[str, Any]] = []
    for _ in range(rng.randint(1, 4)):
        name = rng.choice((*LISTS, "turns"))
        if rng.random() < 0.3:
            changes += _switch(rng, state)
        elif name in state:
            changes += _change_list(rng, name, state[name])
            if rng.random() < 0.03:
                del state[name]
                changes.append({"op": "remove", "path": f"/{name}"})
    return changes


def _switch(rng: Random, state: dict[str, Any]) -> list[dict[str, Any]]:
    kind = rng.choice(("texts", "on", "tier"))
    if kind == "texts":
        state["texts"]["a"] = draw_text(rng, 10, odd=0.2)
        return [{"op": "replace", "path": "/texts/a", "value": state["texts"]["a"]}]
    state[kind] = rng.random() < 0.7 if kind == "on" else rng.choice((None, "calm", "tense", "dire"))
    return [{"op": "add", "path": f"/{kind}", "value": state[kind]}]


def _change_list(rng: Random, name: str, held: list[Any]) -> list[dict[str, Any]]:
    kind = rng.choice(("append", "append", "append", "drop", "insert", "edit", "replace"))
    fresh = draw_turns(rng, 1, 0.2, large=False)[0] if name == "turns" else draw_elements(rng, 1, 8, 0.2)[0]
    at = rng.randrange(len(held)) if held else 0
    if kind == "append" or not held:
        if name != "turns" and held:
            fresh["n"] = held[-1]["n"] + rng.randint(0, 2)
        held.append(fresh)
        return [{"op": "add", "path": f"/{name}/-", "value": fresh}]
    if kind == "drop":
        at = rng.choice((0, 0, len(held) - 1))
        del held[at]
        return [{"op": "remove", "path": f"/{name}/{at}"}]
    if kind == "edit" and name != "turns":
        held[at]["text"] = draw_text(rng, 6, odd=0.2)
        return [{"op": "add", "path": f"/{name}/{at}/text", "value": held[at]["text"]}]
    if kind == "insert":
        held.insert(at, fresh)
        return [{"op": "add", "path": f"/{name}/{at}", "value": fresh}]
    held[at] = fresh
    return [{"op": "replace", "path": f"/{name}/{at}", "value": fresh}]


BLOCK = {
    "type": "object",
    "required": ["t"],
    "additionalProperties": False,
    "properties": {
        "t": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "default": ["none"]},
        "deep": {"type": "object", "default": {}, "properties": {"n": {"default": {"m": 1}}, "t": {"default": "?"}}},
    },
}
RICH = {
    "type": "object",
    "maxProperties": 4,
    "properties": {
        "a": {"type": "array", "items": {"$ref": "#/$defs/block"}, "maxItems": 5, "default": [{"t": "first"}]},
        "b": {
            "allOf": [{"properties": {"n": {"type": "integer", "default": 3}}}, {"$ref": "#/$defs/lists"}],
            "propertyNames": {"maxLength": 2},
        },
        "c": {"type": "array", "prefixItems": [{"$ref": "#/$defs/block"}, {"type": "object", "properties": {"x": {"default": 7}}}]},
        "d": {"type": "object", "if": {"required": ["n"]}, "then": {"required": ["t"]}, "properties": {"t": {"type": "string"}, "u": {}}},
    },
    "$defs": {"block": BLOCK, "lists": {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/block"}}}}},
}
"""As schemas of states are: what holds of a list holds of each element, with defaults inside."""

BLOCKS = st.fixed_dictionaries(
    {"t": st.sampled_from(["x", "y"])},
    optional={"tags": st.lists(st.just("z"), max_size=2), "deep": st.dictionaries(st.sampled_from("nt"), st.integers(0, 2), max_size=2)},
)
WHOLE_BLOCKS = st.builds(lambda text: {"t": text, "tags": [], "deep": {"n": 1, "t": 2}}, st.sampled_from(["x", "y"]))
"""Nothing is filled into these: a list of them is the same object as it was given and as it is filled in."""

PLAIN_STATES = st.fixed_dictionaries(
    {},
    optional={
        "a": st.lists(WHOLE_BLOCKS, max_size=4) | st.lists(BLOCKS, max_size=4),
        "b": st.fixed_dictionaries({}, optional={"n": st.integers(0, 3), "a": st.lists(BLOCKS, max_size=3)}),
        "c": st.lists(BLOCKS, max_size=3),
        "d": st.fixed_dictionaries({}, optional={"n": st.just(1), "t": st.just("x")}),
    },
)
KEYS = st.sampled_from(["a", "b", "c", "d", "n", "t", "tags", "deep", "ab"])


class ChangingState(RuleBasedStateMachine):
    """A state under any schema, changed in any way: what it becomes is what loading the whole gives, its digest and its findings, too."""

    schemas: Any = ANY_SCHEMA
    states: Any = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
    values: Any = VALUES

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Without a schema, where the one that was drawn is none or lets nothing begin."""
        schema, self.value = data.draw(self.schemas), data.draw(self.states)
        try:
            self.schema: Any = load_state_schema(json.dumps(schema).encode(), "schema.json", Span("pack.yaml", 1, 1))
            load_state(self.value, self.schema, "state")
        except PromptcError:
            self.schema = None
        self.live = LiveState(LocalSchema(self.schema) if self.schema is not None else None, "state")
        self.live.load(copy.deepcopy(self.value))

    @rule(data=st.data(), count=st.integers(1, 4))
    def change(self, data: st.DataObject, count: int) -> None:
        """Some changes at once, each at a place that the ones before have left."""
        changed, patch = {"": copy.deepcopy(self.value)}, []
        for _ in range(count):
            patch.append(self._draw_operation(data, changed[""]))
            try:
                patch_plainly(changed, patch[-1])
            except (KeyError, IndexError, TypeError, ValueError):
                break
        self._change(patch)

    def _draw_operation(self, data: st.DataObject, value: Any) -> dict[str, Any]:
        ways = list(list_ways(value))
        op = data.draw(st.sampled_from(["add", "add", "add", "replace", "remove", "move", "copy"]))
        path = list(data.draw(st.sampled_from(ways)))
        inside = read(value, path)
        if op not in ("remove", "replace") and isinstance(inside, dict | list):
            path.append(data.draw(KEYS if isinstance(inside, dict) else st.sampled_from(["-", *range(len(inside) + 1)])))
        made = {"op": op, "path": spell_way(path)}
        if op in ("move", "copy"):
            return {**made, "from": spell_way(data.draw(st.sampled_from(ways)))}
        return made if op == "remove" else {**made, "value": data.draw(self.values)}

    @rule(data=st.data())
    def load(self, data: st.DataObject) -> None:
        value = data.draw(self.states)
        self._hold(lambda: self.live.load(copy.deepcopy(value)), value)

    @precondition(lambda self: self.schema is not None)
    @rule(value=st.sampled_from([10**30, "\ud800", "a\0", float("nan"), {1: 2}, (1, 2), {"a": {"b": [None]}}]))
    def put_odd(self, value: Any) -> None:
        """What has to be looked at, and what is no JSON."""
        self._change([{"op": "add", "path": "/a", "value": value}])

    def _change(self, patch: list[dict[str, Any]]) -> None:
        changed = {"": copy.deepcopy(self.value)}
        try:
            for one in patch:
                patch_plainly(changed, one)
        except (KeyError, IndexError, TypeError, ValueError):
            before = self.live.state
            with pytest.raises(UsageError):
                self.live.change(patch)
            assert self.live.state is before
            return
        self._hold(lambda: self.live.change(patch), changed[""])

    def _hold(self, change: Any, value: Any) -> None:
        before = self.live.state
        held = json.dumps(before.value) if before is not None else ""
        wanted, refused = attempt(lambda: load_state(copy.deepcopy(value), self.schema, "state"))
        state, told = attempt(change)
        # Columns, and the order of findings, follow the order of keys, which a state that changed has no more.
        assert sorted(told) == sorted(refused)
        if told:
            assert self.live.state is before
            return
        assert json.dumps(state.value) == json.dumps(wanted.value)
        assert state.digest == wanted.digest and self.live.state is state
        assert before is None or json.dumps(before.value) == held, "an earlier state changed"
        self.value = json.loads(json.dumps(value))


class ChangingPlainState(ChangingState):
    """The same under a schema as states have, and with changes that mostly leave them valid."""

    schemas = st.just(RICH)
    states = PLAIN_STATES
    values = BLOCKS | WHOLE_BLOCKS | st.just("z") | st.integers(0, 2) | st.lists(BLOCKS, max_size=2) | VALUES


TestChangingState = ChangingState.TestCase
TestChangingPlainState = ChangingPlainState.TestCase
for case in (TestChangingState, TestChangingPlainState):
    case.settings = settings(stateful_step_count=20)


def attempt(make: Any) -> tuple[Any, list[tuple[str, str]]]:
    """What it makes, and the codes and messages of what it finds wrong."""
    try:
        return make(), []
    except PromptcError as error:
        return None, [(one.code, one.message) for one in error.diagnostics]


def spell_way(way: list[Any]) -> str:
    return "".join(f"/{step}" for step in way)


def list_ways(value: Any, way: tuple[Any, ...] = ()) -> Any:
    yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from list_ways(one, (*way, key))


def read(value: Any, way: Any) -> Any:
    for step in way:
        value = value[step]
    return value


def patch_plainly(root: dict[str, Any], change: dict[str, Any]) -> None:
    """One operation of RFC 6902, made in place in what stands under the empty key. Raises where it leads nowhere."""
    op, path, value = change["op"], change["path"], copy.deepcopy(change.get("value"))
    if op in ("move", "copy"):
        holder, last = find_holder(root, change["from"])
        value = copy.deepcopy(holder[last])
        if op == "move":
            if path.startswith(f"{change['from']}/") or not change["from"]:
                raise KeyError
            del holder[last]
    holder, last = find_holder(root, path)
    if op in ("remove", "replace"):
        holder[last]
    if op == "remove":
        if not path:
            raise KeyError
        del holder[last]
    elif isinstance(holder, list) and op != "replace":
        if last > len(holder):
            raise IndexError
        holder.insert(last, value)
    else:
        holder[last] = value


def find_holder(root: Any, pointer: str) -> tuple[Any, Any]:
    """What holds the value at a pointer, and its key or place there."""
    *steps, last = pointer.split("/")
    for step in steps:
        root = root[int(step)] if isinstance(root, list) else root[step]
    if not isinstance(root, dict | list):
        raise TypeError
    if isinstance(root, list):
        return root, len(root) if last == "-" else int(last)
    return root, last
