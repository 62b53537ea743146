"""What an operation asks a model."""

from collections.abc import Mapping

from promptc.diag.findings import FitError
from promptc.diag.typed import Any
from promptc.model.messages import Ask
from promptc.model.state import State
from promptc.operations.begin_operation import OperationRun, begin_operation
from promptc.operations.opened import Opened
from promptc.operations.results import Request
from promptc.prompt import Prompt
from promptc.text.json import render_canonical_json, render_digest


def ask(
    pack: Opened,
    state: State | bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
    *,
    name: str = "state.json",
) -> tuple[Request, ...]:
    """The questions of an operation that are to be asked and have no answer in `answers` yet, in the manifest's order.

    A question sees the answers given so far, each checked as `run_operation` does; one that is not given is none. So whoever asks
    one by one gives each answer in before asking on. `name` is what findings call the state. Raises `UsageError` for an unknown operation,
    argument or answer, `PromptcError` for a state that is invalid and for a pack of a question that is, `FitError` for a question that
    does not fit.
    """
    begun = begin_operation(pack, state, operation, args, answers, name=name)
    requests = []
    for one in begun.operation.asks:
        if one.when is not None and not one.when.evaluate(begun.names):
            continue
        if one.name in begun.given:
            begun = begun.take(one.name, begun.answer(one.name).value)
        else:
            requests.append(_make_request(pack, one, begun))
    return tuple(requests)


def _make_request(pack: Opened, ask: Ask, begun: OperationRun) -> Request:
    asking = ask.find_pack()
    given = {name: begun.names[name] for name in asking.given}
    outcome = pack.render_question(asking, begun.state, given)
    if outcome.emitted is None:
        raise FitError(outcome.errors, outcome.report)
    prompt = Prompt(outcome)
    return Request(ask.name, prompt, render_digest(render_canonical_json(prompt.messages).encode()))
