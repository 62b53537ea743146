"""Request bodies: each thing in its provider's place, and all of them of the types that providers publish."""

import copy
from typing import Any

import pytest

from promptc.diag.findings import PromptcError
from promptc.diag.frozen import replace
from promptc.model.messages import PROVIDERS
from promptc.passes.payload.bodies import ContentBlock, Message, ReplyLimits
from tests.published import MODELS, RefusedError, check_published
from tests.unit.passes.payloads import RESPONSE, SPAN, TOOL, build, count_breakpoints, give, iter_texts, mark, say, use

each_provider = pytest.mark.parametrize("provider", PROVIDERS)

TURN = (
    mark("system", "You are Mira.\n\n", "Be brief.", name="`identity`, `rules`"),
    say("developer", "It rains.", name="`scene`"),
    say("user", "Open the gate."),
    use("a", text="I try."),
    use("b", arguments={"npc": "gatekeeper"}),
    give("a", [{"type": "text", "text": "It"}, {"type": "text", "text": "is shut."}]),
    give("b", {"mood": "sour"}, is_error=True),
    say("assistant", "He will not."),
    say("user", "Then we wait."),
)


def _build_turn(provider: str, model: str | None = None) -> Any:
    return build(provider, *TURN, tools=(TOOL,), response=RESPONSE, model=model)


@each_provider
@pytest.mark.parametrize("is_named", [True, False])
def test_a_whole_turn_is_of_the_published_type(provider, is_named):
    payload = _build_turn(provider, MODELS[provider] if is_named else None)
    check_published(provider, payload.body)
    assert ("model" in payload.body) == (is_named and provider != "gemini")


@each_provider
def test_every_text_arrives_in_order(provider):
    body = _build_turn(provider, MODELS[provider]).body
    spoken = {key: body[key] for key in ("instructions", "system", "systemInstruction", "messages", "input", "contents") if key in body}
    whole = "\x00".join(iter_texts(spoken))
    wanted = ("You are Mira.", "Be brief.", "It rains.", "Open the gate.", "I try.", "He will not.", "Then we wait.")
    places = [whole.index(text) for text in wanted]
    assert places == sorted(places)


@each_provider
@pytest.mark.parametrize("name", ["3d_look", "-look", "_look", "look3"])
def test_a_tool_may_have_to_begin_with_a_letter(provider, name):
    tools = (replace(TOOL, name=name),)
    if provider == "gemini" and name[0] in "3-":
        with pytest.raises(PromptcError, match="PC0570") as met:
            build(provider, say("user", "Look."), tools=tools)
        assert f"the tool `{name}`: Gemini accepts no tool" in str(met.value)
    else:
        assert name in str(build(provider, say("user", "Look."), tools=tools).body["tools"])


@each_provider
def test_a_published_type_refuses_what_is_wrong(provider):
    """The judges can say no: a strange key, a missing one and a wrong value at every depth that matters."""
    body = _build_turn(provider, MODELS[provider]).body
    for change in _list_mutations(provider):
        wrong = copy.deepcopy(body)
        change(wrong)
        assert wrong != body
        with pytest.raises(RefusedError):
            check_published(provider, wrong)


def _list_mutations(provider: str) -> list[Any]:
    talk = {"openai-responses": "input", "gemini": "contents"}.get(provider, "messages")
    common = [lambda body: body.update(surprise=1), lambda body: body.pop(talk), lambda body: body[talk][0].update(surprise=1)]
    own: dict[str, list[Any]] = {
        "openai": [
            lambda body: (
                body["messages"][3].pop("tool_call_id") if "tool_call_id" in body["messages"][3] else body["messages"][4].pop("role")
            ),
            lambda body: body["messages"][3]["tool_calls"][0]["function"].update(arguments={"npc": "mira"}),
            lambda body: body["response_format"]["json_schema"].pop("name"),
            lambda body: body["tools"][0].update(name="engage"),
        ],
        "openai-responses": [
            lambda body: body["tools"][0].pop("strict"),
            lambda body: body["text"]["format"].pop("schema"),
            lambda body: next(one for one in body["input"] if one.get("type") == "function_call").pop("call_id"),
            lambda body: body.update(max_output_tokens="many"),
        ],
        "anthropic": [
            lambda body: body.pop("max_tokens"),
            lambda body: body["messages"][1]["content"][-1].pop("input"),
            lambda body: body["system"][0].update(cache_control={"type": "eternal"}),
            lambda body: body["output_config"]["format"].pop("type"),
            lambda body: body["messages"][0].update(role="developer"),
        ],
        "gemini": [
            lambda body: body["generationConfig"].update(max_output_tokens_="many"),
            lambda body: body["contents"][0]["parts"][0].update(type="text"),
            lambda body: body["tools"][0]["functionDeclarations"][0].update(input_schema={}),
        ],
        "ollama": [
            lambda body: body["options"].update(num_predict="many"),
            lambda body: body["messages"][3]["tool_calls"][0]["function"].update(arguments='{"npc": "mira"}'),
            lambda body: body["messages"][2].pop("role"),
            lambda body: body["tools"][0].pop("function"),
        ],
    }
    own["openai-compatible"] = own["openai"]
    return common + own[provider]


# --- where things stand ---


def test_openai_has_developer_and_a_message_for_each_result():
    body = _build_turn("openai", "gpt-5.6").body
    roles = [one["role"] for one in body["messages"]]
    assert roles == ["system", "developer", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert body["max_completion_tokens"] == 800
    assert body["messages"][3]["tool_calls"][1]["function"] == {"name": "engage", "arguments": '{"npc":"gatekeeper"}'}
    assert body["messages"][4]["content"] == "It\nis shut."
    assert body["messages"][5]["content"] == '{"mood":"sour"}'


def test_openai_without_text_beside_a_use_has_null_content():
    body = build("openai", say("user", "Go."), use(), give()).body
    assert body["messages"][1]["content"] is None


def test_responses_take_the_first_system_message_apart_and_leave_the_others_in_place():
    body = build("openai-responses", say("system", "Rules."), say("user", "Hi."), say("developer", "Rain."), say("user", "Go.")).body
    assert body["instructions"] == "Rules."
    assert [one["role"] for one in body["input"]] == ["user", "developer", "user"]


def test_responses_leave_a_lone_system_message_in_the_input():
    body = build("openai-responses", say("system", "Rules.")).body
    assert body == {"max_output_tokens": 800, "input": [{"role": "system", "content": "Rules."}]}


def test_responses_leave_a_system_message_with_a_breakpoint_in_the_input():
    body = _build_turn("openai-responses", "gpt-5.6").body
    assert "instructions" not in body
    assert body["input"][0]["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}


def test_anthropic_takes_system_and_developer_apart_a_blank_line_between():
    payload = _build_turn("anthropic")
    assert [block["text"] for block in payload.body["system"]] == ["You are Mira.\n\n", "Be brief.", "\n\nIt rains."]
    assert payload.body["messages"][0] == {"role": "user", "content": "Open the gate."}


def test_anthropic_has_all_uses_of_a_turn_in_one_message_and_all_results_in_the_next():
    body = _build_turn("anthropic").body
    assert [[part["type"] for part in one["content"]] for one in body["messages"][1:3]] == [
        ["text", "tool_use", "tool_use"],
        ["tool_result", "tool_result"],
    ]
    assert body["messages"][2]["content"][0]["content"] == [{"type": "text", "text": "It"}, {"type": "text", "text": "is shut."}]
    assert body["messages"][2]["content"][1] == {"type": "tool_result", "tool_use_id": "b", "content": '{"mood":"sour"}', "is_error": True}


def test_gemini_names_the_tool_of_a_result_by_its_id():
    body = _build_turn("gemini").body
    parts = body["contents"][2]["parts"]
    assert [part["functionResponse"]["name"] for part in parts] == ["engage", "engage"]
    assert parts[0]["functionResponse"]["response"] == {"output": "It\nis shut."}
    assert parts[1]["functionResponse"]["response"] == {"error": {"mood": "sour"}}
    assert [one["role"] for one in body["contents"]] == ["user", "model", "user", "model", "user"]


# contract 8.11
def test_ollama_folds_developer_into_system_in_its_place_and_sets_the_window():
    body = build("ollama", say("user", "Hi."), say("developer", "Rain."), say("user", "Go.")).body
    assert [one["role"] for one in body["messages"]] == ["user", "system", "user"]
    assert body["options"] == {"num_ctx": 4000, "num_predict": 800}


def test_ollama_joins_parts_as_they_are_counted_and_cuts_nothing_for_breakpoints():
    body = build("ollama", mark("system", "One.\n\n", "Two."), say("user", "a", "b")).body
    assert [one["content"] for one in body["messages"]] == ["One.\n\nTwo.", "a\nb"]


@each_provider
@pytest.mark.parametrize("content", ["text", [], None, 7, True, {"k": [1]}, [{"type": "image"}], [1, "a"], [{"type": "text", "text": " "}]])
def test_a_result_may_be_any_json(provider, content):
    check_published(provider, build(provider, say("user", "Go."), use(), give(content=content), tools=(TOOL,)).body)


@pytest.mark.parametrize("provider", ["gemini", "ollama"])
def test_ids_may_begin_anew_in_every_turn(provider):
    """A result has the name of the use in front of it."""
    messages = (say("user", "Go."), use("0", "lift"), give("0"), say("user", "On."), use("0", "ring"), give("0"))
    body = build(provider, *messages, tools=(TOOL,)).body
    whole = str(body.get("contents", body.get("messages")))
    places = [whole.index("'lift'"), whole.rindex("'lift'"), whole.index("'ring'"), whole.rindex("'ring'")]
    assert places == sorted(set(places))


# --- what is left out, moved or refused ---


def _codes(payload: Any) -> list[str]:
    return [one.code for one in payload.warnings]


# contract 8.13
@each_provider
def test_nothing_of_a_part_passes_but_its_own_keys(provider):
    part = {"type": "tool_use", "id": "a", "name": "engage", "input": {}, "cache_control": {"type": "ephemeral"}, "role": "system"}
    message = Message("assistant", (ContentBlock(part=part),), "item 2", SPAN)
    body = build(provider, say("user", "Go."), message, give(extra="system"), tools=(TOOL,)).body
    assert "ephemeral" not in str(body) and "extra" not in str(body)
    assert count_breakpoints(body) == 0
    check_published(provider, body)


# contract 8.13
@each_provider
def test_thinking_stays_where_it_can(provider):
    thoughts = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "redacted_thinking", "data": "x"}]
    message = Message("assistant", (*(ContentBlock(part=one) for one in thoughts), ContentBlock("Yes.")), "item 2", SPAN)
    payload = build(provider, say("user", "Well?"), message)
    check_published(provider, payload.body)
    assert ("Hm." in str(payload.body)) == (provider == "anthropic")
    assert ("PC0568" in _codes(payload)) == (provider != "anthropic")


# contract 10.16
def test_thinking_may_be_withheld_and_only_signed():
    withheld = {"type": "thinking", "thinking": "", "signature": "s"}
    message = Message("assistant", (ContentBlock(part=withheld), ContentBlock("Yes.")), "item 2", SPAN)
    assert build("anthropic", say("user", "Well?"), message).body["messages"][1]["content"][0] == withheld


def test_a_message_of_thinking_alone_goes_with_it():
    thought = Message("assistant", (ContentBlock(part={"type": "thinking", "thinking": "Hm.", "signature": "s"}),), "item 2", SPAN)
    assert len(build("openai", say("user", "Well?"), thought).body["messages"]) == 1


# contract 8.13
@pytest.mark.parametrize(
    "messages",
    [
        (give("a"),),
        (say("user", "Go."), give("a"), use("a")),
        (use(arguments="{}"),),
        (use(name=""),),
        (Message("user", (ContentBlock(part={"type": "tool_use", "id": "a", "name": "x", "input": {}}),), "item 1", SPAN),),
        (Message("assistant", (ContentBlock(part={"type": "thinking", "thinking": "Hm."}),), "item 1", SPAN),),
    ],
)
def test_a_part_that_is_not_whole_is_refused(messages):
    with pytest.raises(PromptcError) as error:
        build("anthropic", *messages)
    assert {one.code for one in error.value.diagnostics} == {"PC0562"}


@each_provider
def test_an_empty_prompt_is_refused(provider):
    with pytest.raises(PromptcError, match="PC0560 the prompt is empty"):
        build(provider)


@each_provider
def test_system_text_alone_is_refused_where_a_user_is_needed(provider):
    if provider in ("anthropic", "gemini"):
        with pytest.raises(PromptcError) as error:
            build(provider, say("system", "Rules."))
        assert [one.code for one in error.value.diagnostics] == ["PC0560"]
    else:
        check_published(provider, build(provider, say("system", "Rules.")).body)


# contract 8.11
@each_provider
def test_system_text_behind_the_conversation_moves_with_a_warning(provider):
    payload = build(provider, say("system", "Rules."), say("user", "Hi."), say("developer", "Stay brief.", name="`reminder`"))
    assert ("PC0564" in _codes(payload)) == (provider in ("anthropic", "gemini"))
    if provider in ("anthropic", "gemini"):
        assert "`reminder`" in payload.warnings[0].message


@each_provider
def test_results_stand_in_front_of_text(provider):
    late = Message("user", (ContentBlock("And:"), *give("a").blocks), "item 3", SPAN)
    payload = build(provider, say("user", "Go."), use("a"), late, tools=(TOOL,))
    assert _codes(payload) == ["PC0569"]
    whole = str(payload.body)
    assert whole.index("done") < whole.index("And:")


# contract 8.10
@each_provider
def test_a_limit_of_the_reply_is_missing(provider):
    payload = build(provider, say("user", "Hi."), limits=ReplyLimits(None, 4000))
    assert _codes(payload) == (["PC0563"] if provider == "anthropic" else [])
    assert "800" not in str(payload.body)


# --- breakpoints ---

FIVE = ("a\n", "b\n", "c\n", "d\n", "e\n", "f")


# contract 8.12
@each_provider
def test_the_last_breakpoints_stay(provider):
    payload = build(provider, mark("system", *FIVE), say("user", "Hi."), model=MODELS[provider])
    wanted = {"anthropic": 4, "openai": 3, "openai-responses": 3, "openai-compatible": 0, "gemini": 0, "ollama": 0}[provider]
    assert count_breakpoints(payload.body) == wanted
    assert _codes(payload) == (["PC0565"] if wanted else [])
    assert "a\nb\nc\nd\ne\nf" in "".join(iter_texts({**payload.body, "model": []}))
    check_published(provider, payload.body)


def test_a_cut_without_a_breakpoint_is_no_cut():
    body = build("anthropic", mark("system", *FIVE), say("user", "Hi.")).body
    assert [block["text"] for block in body["system"]] == ["a\nb\n", "c\n", "d\n", "e\n", "f"]


# contract 8.11
def test_a_compatible_server_is_asked_in_the_words_all_of_them_know():
    messages = (mark("developer", "Rules.\n", "More."), say("user", "Hi."))
    payload = build("openai-compatible", *messages, limits=ReplyLimits(512, 4096), model="qwen3")
    assert payload.body == {
        "model": "qwen3",
        "max_tokens": 512,
        "messages": [{"role": "system", "content": "Rules.\nMore."}, {"role": "user", "content": "Hi."}],
    }
    assert _codes(payload) == []


def test_openai_takes_breakpoints_of_newer_models_only():
    messages = (mark("system", "Rules.\n", "More."), say("user", "Hi."))
    unnamed, older, newer = (build("openai", *messages, model=model) for model in (None, "gpt-4o", "openai/gpt-5.6-mini"))
    assert [count_breakpoints(one.body) for one in (unnamed, older, newer)] == [0, 0, 1]
    assert [_codes(one) for one in (unnamed, older, newer)] == [[], ["PC0566"], []]
    assert unnamed.body["messages"][0]["content"] == "Rules.\nMore."


def test_no_breakpoint_stands_behind_an_answer_in_responses():
    payload = build("openai-responses", say("user", "Hi."), mark("assistant", "Yes.\n", "So."), model="gpt-5.6")
    assert _codes(payload) == ["PC0566"]
    assert payload.body["input"][1]["content"] == "Yes.\nSo."


def test_a_breakpoint_under_the_minimum_of_its_family_is_told():
    messages = (mark("system", "Rules.\n", "More.", prefix=2000), say("user", "Hi."))
    assert _codes(build("anthropic", *messages, model="claude-opus-5-5")) == []
    assert _codes(build("anthropic", *messages, model="claude-haiku-4-5-20251001")) == ["PC0567"]
    assert _codes(build("anthropic", *messages)) == []


def test_a_breakpoint_stands_behind_a_tools_result():
    ended = Message("user", (ContentBlock(part=give("a").blocks[0].part, ends="log", prefix=9000),), "item 3", SPAN)
    for provider in ("anthropic", "openai", "openai-responses"):
        payload = build(provider, say("user", "Go."), use("a"), ended, tools=(TOOL,), model=MODELS[provider])
        assert count_breakpoints(payload.body) == 1 and not payload.warnings
        check_published(provider, payload.body)


# --- Tool uses and results that services refuse: each is told once, with its item and id; a turn in progress is not ---
ASK = say("user", "Go.", name="ask")


def _together(name, *messages):
    """The blocks of some messages in one."""
    return Message(messages[0].role, tuple(block for one in messages for block in one.blocks), name, SPAN)


BOTH = _together("both", use("a"), use("b"))


def _warn(provider, *messages):
    payload = build(provider, ASK, *messages, tools=(TOOL,))
    assert all(one.level == "warn" for one in payload.warnings)
    return [(one.code, one.message) for one in payload.warnings if one.code in ("PC0571", "PC0572", "PC0573", "PC0574", "PC0575")]


@each_provider
@pytest.mark.parametrize(
    ("messages", "code", "said"),
    [
        ((use("a"), say("user", "Well?")), "PC0571", "use a: the tool use `a` has no result, and other content follows"),
        ((BOTH, give("a"), say("assistant", "So.")), "PC0571", "both: the tool use `b` has no result"),
        ((BOTH, give("a")), "PC0571", "both: the tool use `b` has no result, and another use of its message has one"),
        ((use("a"), use("b"), give("b")), "PC0571", "use a: the tool use `a` has no result, and another use of its message has one"),
        ((BOTH, _together("mixed", give("a"), say("user", "And?"))), "PC0571", "both: the tool use `b` has no result"),
        ((BOTH, give("a"), say("assistant", "Wait."), give("b")), "PC0571", "result b: the result of the tool use `b` does not directly"),
        ((use("a"), say("user", "Well?"), give("a")), "PC0571", "result a: the result of the tool use `a` does not directly"),
        ((use("a"), use("a"), give("a")), "PC0572", "use a: a second tool use has the id `a`"),
        ((use("a"), give("a"), give("a")), "PC0572", "result a: the tool use `a` has a second result"),
        ((use("a"), give("a"), say("assistant", "So."), give("a")), "PC0572", "result a: the tool use `a` has a second result"),
        ((use("a", name="look around"), give("a")), "PC0573", "use a: the tool use `a` has the name `look around`"),
        ((use("a", name="x" * 65), give("a")), "PC0573", "use a: the tool use `a` has the name"),
        ((use("a"), give("a", is_error="yes")), "PC0574", "result a: `is_error` of the result of `a` must be true or false, not `yes`"),
        ((use("a"), give("a", is_error=1)), "PC0574", "result a: `is_error`"),
    ],
)
def test_what_services_refuse(provider, messages, code, said):
    [(found, message)] = _warn(provider, *messages)
    assert found == code and message.startswith(said)


@each_provider
def test_a_result_before_its_use_is_refused_with_the_way_out(provider):
    with pytest.raises(PromptcError) as refused:
        build(provider, ASK, give("a"), use("a"), tools=(TOOL,))
    (found,) = refused.value.diagnostics
    assert "a result of the tool use `a`, which does not come before it" in found.message
    assert found.help == "put each use before its result, with the same id in both"


@each_provider
@pytest.mark.parametrize(
    "messages",
    [
        (use("a"),),
        (use("a"), use("b")),
        (BOTH,),
        (BOTH, give("b"), give("a")),
        (use("a"), use("b"), give("a"), give("b"), say("assistant", "So.")),
        (use("a"), give("a"), use("b"), give("b", is_error=True), say("user", "And?")),
        (use("a"), give("a", is_error=None), use("b")),
    ],
)
def test_what_they_take(provider, messages):
    assert _warn(provider, *messages) == []


@each_provider
def test_an_id_may_begin_anew_where_the_provider_lets_it(provider):
    found = _warn(provider, use("a"), give("a"), use("a"), give("a"), say("assistant", "So."))
    assert [code for code, _ in found] == (["PC0572"] if provider == "anthropic" else [])


def test_a_system_message_between_a_use_and_its_result_moves_where_system_text_stands_apart():
    turn = (use("a"), say("system", "Be brief."), give("a"))
    assert _warn("anthropic", *turn) == []
    assert [code for code, _ in _warn("openai", *turn)] == ["PC0571"]


@each_provider
def test_a_property_that_takes_anything_or_nothing_is_of_the_published_type(provider):
    schema = {"type": "object", "properties": {"any": True, "none": False, "some": {"properties": {"deep": True}}}}
    body = build(provider, ASK, tools=(replace(TOOL, input_schema=schema),)).body
    check_published(provider, body)
    written = {"any": {}, "none": {"not": {}}, "some": {"properties": {"deep": True}}}
    if provider == "ollama":
        assert body["tools"][0]["function"]["parameters"]["properties"] == written


@each_provider
def test_a_use_without_a_message_of_the_user_before_it_is_told_where_it_is_refused(provider):
    found = build(provider, use("a"), give("a"), say("user", "And?"), tools=(TOOL,)).warnings
    told = [one.message for one in found if one.code == "PC0575"]
    said = "use a: the tool use `a` does not directly follow a message of the user; Gemini refuses that"
    assert told == ([said] if provider == "gemini" else [])


@each_provider
def test_a_use_joins_what_the_model_said_before_it_where_it_must_follow_the_user(provider):
    payload = build(provider, ASK, say("assistant", "I look."), use("a"), give("a"), tools=(TOOL,))
    assert "PC0575" not in {one.code for one in payload.warnings}
    if provider == "gemini":
        assert [one["role"] for one in payload.body["contents"]] == ["user", "model", "user"]
        assert [*map(list, payload.body["contents"][1]["parts"])] == [["text"], ["functionCall"]]


def test_many_of_one_kind_are_told_once():
    turns = [one for name in "abc" for one in (use(name), say("user", "Well?"))]
    [(_, message)] = _warn("openai", *turns)
    assert message == "use a: the tool use `a` has no result, and other content follows (2 more like it); providers refuse that"
