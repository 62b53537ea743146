"""A case of an operation: what it asks, what it says, and what becomes of the state."""

from collections.abc import Iterator, Mapping
from posixpath import basename

from promptc.api import Pack
from promptc.diag.typed import Any
from promptc.golden.cases.case import Case, CaseOutcome
from promptc.operations.archive import render_archive
from promptc.operations.edits import make_diff
from promptc.operations.run import ask, run_operation


def apply_case(pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> CaseOutcome:
    """The operation of the case, run on a state that findings call `name`.

    `text` is what it says, `messages` are those of its requests, each with the name of its ask, `state` is the new one, `archive` the
    bytes of its archive files, one after the other. Raises `PromptcError` for an operation that cannot be done.
    """
    operation, args = case.asked["operation"], case.asked.get("args", {})
    done = run_operation(pack, state, operation, args, answers, name=name)
    change = make_diff(pack, done, state, file=basename(name))
    return CaseOutcome(
        0,
        done.warnings,
        text=f"{done.said}\n" if done.said else "",
        messages=tuple(_iter_messages(pack, state, operation, args, answers)),
        state=done.value,
        archive=b"".join(map(render_archive, change.archived)),
        figures={"fallback": done.fallbacks},
    )


def _iter_messages(
    pack: Pack, state: bytes, operation: str, args: Mapping[str, Any], answers: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """Each question as it is asked once those before it are answered."""
    given: dict[str, str] = {}
    while requests := [one for one in ask(pack, state, operation, args, given) if one.name not in given]:
        yield from ({"ask": requests[0].name, **message} for message in requests[0].prompt.messages)
        given[requests[0].name] = answers.get(requests[0].name, "")
