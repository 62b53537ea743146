"""What stands for a model's answer in an operation."""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.messages import Ask
from promptc.operations.cut_answer import cut_answer
from promptc.operations.judge_answer import judge_answer, judge_json, read_answer
from promptc.text.meter import Meter


@frozen(eq=False)
class Answered:
    """The value that expressions see. `found` says why it is the ask's `else`, and is None where it is the answer."""

    value: Any
    found: Diagnostic | None = None


def answer_ask(ask: Ask, text: str | None, names: Mapping[str, Any], meter: Meter, refusal: str = "") -> Answered:
    """The answer's value; the ask's `else` where it fails its check (a warning, PC0800) or there is none (a note, PC0801).

    `names` are what the `else` and the claims of the check see. `refusal` says why an answer is refused that passes its check (empty: it is
    not). Raises `PromptcError` where the `else` cannot be rendered, or is not what the ask's schema wants (PC0805).
    """
    if text is None:
        help = f"give one with `--answer {ask.name}=FILE`"
        return Answered(
            _stand_in(ask, names, meter), Diagnostic("PC0801", f"`{ask.name}` has no answer: its `else` stands", None, help, "note")
        )
    judged = judge_answer(text, ask.check, meter)
    why = judged.why or _find_broken(ask, judged.value, names) or refusal
    if not why:
        return Answered(judged.value)
    message = f"the answer to `{ask.name}` is refused, and its `else` stands: {why}"
    span = ask.check.span if ask.check is not None else ask.span
    return Answered(_stand_in(ask, names, meter), Diagnostic("PC0800", message, span, "ask again for a better one", "warn"))


def _find_broken(ask: Ask, value: Any, names: Mapping[str, Any]) -> str:
    """What is said of the first claim that does not hold of an answer, or that cannot be judged of it; empty where all hold."""
    seen = {**names, "answers": {**names["answers"], ask.name: value}}
    for claim in ask.check.claims if ask.check is not None else ():
        try:
            if not claim.that.evaluate(seen):
                return claim.otherwise.render(seen).strip() or f"`{claim.that.text.strip()}` does not hold"
        except PromptcError as error:
            return f"`{claim.that.text.strip()}` cannot be judged: {error.diagnostics[0].message}"
    return ""


def _stand_in(ask: Ask, names: Mapping[str, Any], meter: Meter) -> Any:
    """The `else`. One that is JSON is never cut: half of it would be no JSON."""
    text = read_answer(ask.otherwise.render(names))
    check = ask.check
    if check is None or check.schema is None:
        return cut_answer(text, check.max, meter) if check is not None and check.max is not None else text
    judged = judge_json(text, check.schema)
    if judged.why:
        message = f"what stands for an answer to `{ask.name}` fails the schema of its answers: {judged.why}"
        raise fail(
            "PC0805", message, ask.otherwise.place.span, help="mend the `else` of the ask, so that it is valid whatever the state is"
        )
    return judged.value
