"""Tool uses and results that services refuse: each is told once, with its item and id; a turn in progress is not."""

import pytest

from promptc.model.messages import PROVIDERS
from promptc.passes.payload.bodies import Message
from tests.unit.passes.payloads import SPAN, TOOL, build, give, say, use

each_provider = pytest.mark.parametrize("provider", PROVIDERS)
ASK = say("user", "Go.", name="ask")


def _together(name, *messages):
    """The blocks of some messages in one."""
    return Message(messages[0].role, tuple(block for one in messages for block in one.blocks), name, SPAN)


BOTH = _together("both", use("a"), use("b"))


def _warn(provider, *messages):
    payload = build(provider, ASK, *messages, tools=(TOOL,))
    assert all(one.level == "warn" for one in payload.warnings)
    return [(one.code, one.message) for one in payload.warnings if one.code in ("PC0571", "PC0572", "PC0573", "PC0574")]


@each_provider
@pytest.mark.parametrize(
    ("messages", "code", "said"),
    [
        ((use("a"), say("user", "Well?")), "PC0571", "use a: the tool use `a` has no result, and other content follows"),
        ((BOTH, give("a"), say("assistant", "So.")), "PC0571", "both: the tool use `b` has no result"),
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
@pytest.mark.parametrize(
    "messages",
    [
        (use("a"),),
        (use("a"), use("b")),
        (BOTH, give("a")),  # the other is still at work
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


def test_many_of_one_kind_are_told_once():
    turns = [one for name in "abc" for one in (use(name), say("user", "Well?"))]
    [(_, message)] = _warn("openai", *turns)
    assert message == "use a: the tool use `a` has no result, and other content follows (2 more like it); services refuse that"
