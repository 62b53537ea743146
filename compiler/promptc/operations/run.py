"""An operation, done: a state and answers in, a new state out."""

import json
from collections.abc import Iterator, Mapping

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.messages import Operation
from promptc.model.state import State
from promptc.operations.begin_operation import OperationRun, begin_operation, read_written
from promptc.operations.edits import Edited, make_edits
from promptc.operations.opened import Opened
from promptc.operations.results import Archive, OperationResult
from promptc.passes.bind import bind_lets, check_asserts
from promptc.template.runtime.run import RUN


def run_operation(
    pack: Opened,
    state: bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
    *,
    name: str = "state.json",
) -> OperationResult:
    """The state after an operation. Pure: nothing given is changed, nothing is read or written but the pack's own files.

    `state` is the JSON as written, or a dict; `name` is what findings call it. `args` take the place of the operation's own, `answers` are
    texts as a model gave them, by the names of the asks. An answer that is not there, fails its check, or would make the new state invalid
    gives the ask's `else`; a warning (PC0800), or a note where none was given (PC0801), says so. Raises `UsageError` for an unknown
    operation, argument or answer, and `PromptcError` where the state is invalid; and where, also with every `else`, an edit cannot be made
    or the new state would be invalid.
    """
    begun = begin_operation(pack, state, operation, args, answers, name=name)
    answered = _answer_all(begun, {})
    written = read_written(state)
    try:
        return _finish(pack, answered, written, name)
    except PromptcError as error:
        failed = error
    for refused in _iter_refusals(answered, failed):
        try:
            return _finish(pack, _answer_all(begun, refused), written, name)
        except PromptcError as error:
            failed = error
    if not isinstance(failed, _InvalidError):
        raise failed
    raise PromptcError(_iter_refused(begun.operation, failed, _find_faults(pack, begun)))


class _InvalidError(PromptcError):
    """What makes the new state invalid."""


@frozen(eq=False)
class _Answered:
    """An operation with the answers to all that is asked: which of them are fallbacks, and what is said of them."""

    begun: OperationRun
    fallbacks: tuple[str, ...]
    found: tuple[Diagnostic, ...]


def _iter_refusals(answered: _Answered, failed: PromptcError) -> Iterator[Mapping[str, str]]:
    """The answers to refuse, since with all of them the operation fails: each of those taken, in their order, then all of them."""
    begun = answered.begun
    why = f"with it, {_describe_failure(begun.operation, failed)}"
    taken = [ask.name for ask in begun.operation.asks if ask.name in begun.given and ask.name not in answered.fallbacks]
    yield from ({name: why} for name in taken)
    if len(taken) > 1:
        yield dict.fromkeys(taken, why)


def _describe_failure(operation: Operation, failed: PromptcError) -> str:
    message = failed.diagnostics[0].message
    return f"`{operation.name}` would leave a state that is invalid: {message}" if isinstance(failed, _InvalidError) else message


def _finish(pack: Opened, answered: _Answered, written: Any, name: str) -> OperationResult:
    begun = answered.begun
    edited = make_edits(begun.operation, Edited(written, begun.state.value), begun.names)
    value, after = _check_new(pack, begun, edited, name)
    return OperationResult(
        operation=begun.operation.name,
        value=value,
        before=begun.state.digest,
        is_changed=after.digest != begun.state.digest,
        archives=edited.archives,
        said=_say(begun, edited.archives),
        fallbacks=answered.fallbacks,
        warnings=(*begun.state.warnings, *answered.found),
    )


def _answer_all(begun: OperationRun, refused: Mapping[str, str]) -> _Answered:
    """`refused` are the answers that are not taken, though they pass their checks, and why."""
    found: dict[str, Diagnostic] = {}
    left: list[Diagnostic] = []
    for one in begun.operation.asks:
        if one.when is not None and not one.when.evaluate(begun.names):
            if one.name in begun.given:
                left.append(Diagnostic("PC0809", f"`{one.name}` is not asked: its answer is left aside", one.when.span, level="warn"))
            continue
        answered = begun.answer(one.name, refused.get(one.name, ""))
        begun = begun.take(one.name, answered.value)
        if answered.found is not None:
            found[one.name] = answered.found
    return _Answered(begun, tuple(found), (*found.values(), *left))


def _say(begun: OperationRun, archives: tuple[Archive, ...]) -> str:
    """What the operation says. `removed` tells how many elements went to each archive."""
    if begun.operation.say is None:
        return ""
    removed = dict.fromkeys(begun.operation.archives, 0)
    for archive in archives:
        removed[archive.name] += len(archive.elements)
    return begun.operation.say.render({**begun.names, "removed": removed}).rstrip("\n")


# --- the new state ---


def _check_new(pack: Opened, begun: OperationRun, edited: Edited, name: str) -> tuple[Any, State]:
    """The new state as plain data of its own, and as it is loaded. Raises an `_InvalidError` with everything that makes it invalid."""
    text = json.dumps(edited.written)
    try:
        state = pack.load_state(text.encode(), name)
        _check_values(pack, state, begun)
    except PromptcError as error:
        raise _InvalidError([found for found in error.diagnostics if found.level == "error"]) from None
    return json.loads(text), state


def _check_values(pack: Opened, state: State, begun: OperationRun) -> None:
    names = {"state": state.value, RUN: pack.model.open_operation_account()}
    check_asserts(pack.model, names)
    bind_lets(pack.model, names)


def _find_faults(pack: Opened, begun: OperationRun) -> frozenset[str]:
    """What is wrong with the state that was given, which an operation may mend."""
    try:
        _check_values(pack, begun.state, begun)
    except PromptcError as error:
        return frozenset(found.message for found in error.diagnostics if found.level == "error")
    return frozenset()


def _iter_refused(operation: Operation, error: PromptcError, faults: frozenset[str]) -> Iterator[Diagnostic]:
    """Their places are those of the operation: the new state stands nowhere. `faults` are those that the state had before."""
    for found in error.diagnostics:
        is_old = found.message in faults
        why = "would leave the state as invalid as it is" if is_old else "would leave a state that is invalid"
        message = f"`{operation.name}` {why}, so nothing is changed: {found.message}"
        yield Diagnostic("PC0810", message, operation.span, found.help or ("mend the state first" if is_old else ""))
