"""What an operation begins with: the state as written, the names its expressions see, its arguments."""

import json
from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.messages import Operation
from promptc.model.state import State
from promptc.operations.answer_ask import Answered, answer_ask
from promptc.operations.check_args import check_args
from promptc.operations.opened import Opened, find_operation
from promptc.passes.bind import bind_lets
from promptc.template.runtime.run import RUN
from promptc.text.meter import Meter


@frozen(eq=False)
class OperationRun:
    """An operation on one state. `names` are what its expressions see, with `args` and, for now, every answer none."""

    operation: Operation
    state: State
    names: Mapping[str, Any]
    given: Mapping[str, str]
    meter: Meter

    def take(self, name: str, value: Any) -> "OperationRun":
        """With the answer to one ask."""
        names = {**self.names, "answers": {**self.names["answers"], name: value}}
        return OperationRun(self.operation, self.state, names, self.given, self.meter)

    def answer(self, name: str, refusal: str = "") -> Answered:
        """What stands for the answer to one ask, by what was given; its `else` where there is a reason to refuse it."""
        ask = self.operation.find_ask(name)
        assert ask is not None
        return answer_ask(ask, self.given.get(name), self.names, self.meter, refusal)


def begin_operation(
    pack: Opened,
    state: State | bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None,
    answers: Mapping[str, str] | None,
    *,
    name: str = "state.json",
) -> OperationRun:
    """Raises `UsageError` for an operation, argument or answer that there is none of, `PromptcError` for a state that is invalid."""
    found, given = find_operation(pack, operation), dict(answers or {})
    known = [ask.name for ask in found.asks]
    unknown = [one for one in given if one not in known]
    if unknown:
        help = "it asks nothing" if not known else ""
        wrong = (Diagnostic("PC0806", f"`{operation}` asks no `{one}`", help=help or suggest(one, known)) for one in unknown)
        raise UsageError(wrong)
    checked = check_args(found, args or {})
    loaded = pack.load_state(state, name)
    meter = Meter(pack.model.counting.counter)
    names = bind_lets(pack.model, {"state": loaded.value, RUN: pack.model.open_operation_account()})
    return OperationRun(found, loaded, {**names, "args": checked, "answers": dict.fromkeys(known)}, given, meter)


def read_written(state: bytes | Mapping[str, Any]) -> Any:
    """A valid state as it is written, keys in its own order."""
    text = state.decode("utf-8-sig") if isinstance(state, bytes) else json.dumps(state)
    return json.loads(text)
