"""Operations in memory: list them (`list_operations`), list the questions of one (`ask`), and run one on a state (`run_operation`).

`begin_operation` does what asking and running have in common. `judge_answer` checks an answer. Nothing is written.
"""

from __future__ import annotations

import contextlib
import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from unicodedata import category

from promptc.diag.findings import Diagnostic, FitError, PromptcError, Span, UsageError, count_noun, fail, join_some, show_value, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.frontend.json import load_json
from promptc.frontend.state import dump_state
from promptc.model.messages import AnswerCheck, AnswerSchema, Ask, Operation
from promptc.model.pack import Assert, PackModel
from promptc.model.state import State
from promptc.operations.edits import Edited, list_reads, make_edits
from promptc.operations.results import Archive, Listed, Opened, OperationResult, Request, choose_operation
from promptc.passes.bind import bind_lets, check_asserts
from promptc.passes.redact import LONGEST_ANSWER, restore_answer
from promptc.pipeline import Prompt
from promptc.template.runtime.run import RUN
from promptc.text.characters import WHITE, is_blank
from promptc.text.counters.counter import Counter, Meter
from promptc.text.cutting import iter_kept, list_boundaries
from promptc.text.json import extend_pointer, join_pointer, read_at, render_canonical_json, render_digest, settle_number, split_pointer

_FENCE = "```"
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
_HEADING = "######"
ANSWER = "the answer"
_WHOLE = ("the state ", f"{ANSWER} ")
"""What the findings of a schema call the whole value, and what to call it instead."""

STANDS_IN = ", so its `else` takes its place"
"""The end of the message on an answer that an operation rejects. Code that only judges the answer leaves it out."""


def list_operations(pack: Opened, state: State | bytes | Mapping[str, Any] | None = None) -> tuple[Listed, ...]:
    """Return the pack's operations, in the order of the manifest. Raises `PromptcError` for a state that is not valid."""
    model = pack.model
    bare = {"state": pack.load_state(state).value, RUN: model.open_account()} if state is not None else None
    names = bind_lets(model, bare) if bare is not None else None
    operations: tuple[Operation, ...] = model.operations
    return tuple(Listed(one.name, one.title, one.args, tuple(ask.name for ask in one.asks), _is_due(one, names)) for one in operations)


def _is_due(operation: Operation, names: Mapping[str, Any] | None) -> bool:
    return names is not None and operation.when is not None and bool(operation.when.evaluate({**names, "args": operation.args}))


def ask(
    pack: Opened,
    state: State | bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
    *,
    name: str = "state.json",
) -> tuple[Request, ...]:
    """Return the questions of an operation that apply and have no answer in `answers` yet, in the order of the manifest.

    A question sees the answers given so far, each checked as by `run_operation`; a missing answer is null. To ask one question at a time,
    pass each answer before asking on. `name` is the name of the state in findings. Raises `UsageError` for an unknown operation, argument
    or answer, `PromptcError` for a state or a question's pack that is not valid, and `FitError` for a question that does not fit.
    """
    begun = begin_operation(pack, state, operation, args, answers, name=name)
    requests = []
    for one in begun.operation.asks:
        if not one.is_asked(begun.names):
            continue
        if one.name in begun.given:
            begun = begun.take(one.name, begun.answer(one.name).value)
        else:
            requests.append(_make_request(pack, one, begun))
    return tuple(requests)


def restore_answers(
    pack: Opened,
    state: State | bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None,
    answers: Mapping[str, str],
    *,
    name: str = "state.json",
) -> dict[str, str]:
    """Return a model's answers with the original texts in place of the placeholders that their questions contained.

    A later question sees the restored answers. A question that cannot be rendered hid nothing. Raises what `ask` raises.
    """
    begun = begin_operation(pack, state, operation, args, answers, name=name)
    for one in begun.operation.asks:
        text = begun.given.get(one.name)
        if text is None or not one.is_asked(begun.names):
            continue
        with contextlib.suppress(PromptcError):
            if "[" in text:
                prompt = _make_request(pack, one, begun).prompt
                restored = restore_answer(text, prompt.redactions, is_json=prompt.response is not None)
                begun = replace(begun, given={**begun.given, one.name: restored})
        begun = begun.take(one.name, begun.answer(one.name).value)
    return dict(begun.given)


def _make_request(pack: Opened, ask: Ask, begun: OperationRun) -> Request:
    asking = ask.load_pack()
    given = {name: begun.names[name] for name in asking.given}
    outcome = pack.render_question(asking, begun.state, given)
    if outcome.emitted is None:
        raise FitError(outcome.errors, outcome.report)
    prompt = Prompt(outcome)
    return Request(ask.name, prompt, render_digest(render_canonical_json(prompt.messages).encode()))


@frozen(eq=False)
class OperationRun:
    """An operation on one state. `names` are what its expressions see, with `args` and with null for every answer not taken yet."""

    operation: Operation
    state: State
    names: Mapping[str, Any]
    given: Mapping[str, str]
    meter: Meter

    def take(self, name: str, value: Any) -> OperationRun:
        """Return the run with the answer to one question."""
        names = {**self.names, "answers": {**self.names["answers"], name: value}}
        return replace(self, names=names)

    def answer(self, name: str, refusal: str = "") -> Answered:
        """Return the value for one question: the given answer, or the question's `else` if there is a reason to refuse the answer."""
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
    """Prepare an operation on a state.

    Raises `UsageError` for an operation, argument or answer that does not exist, and `PromptcError` for a state that is not valid.
    """
    found, given = choose_operation(pack, operation), dict(answers or {})
    check_asked(found, given)
    checked = check_args(found, args or {})
    loaded = pack.load_state(state, name)
    meter = Meter(pack.model.counting.counter)
    names = bind_lets(pack.model, {"state": loaded.value, RUN: pack.model.open_operation_account()})
    return OperationRun(found, loaded, {**names, "args": checked, "answers": dict.fromkeys(ask.name for ask in found.asks)}, given, meter)


def run_operation(
    pack: Opened,
    state: bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
    *,
    name: str = "state.json",
) -> OperationResult:
    """Return the state after an operation. Pure: no argument is changed, and only the pack's own files are read.

    `state` is the JSON as written, or a dict, and no `State`. `name` is its name in findings. `args` replace the operation's own
    arguments. `answers` are texts of a model, by the names of the questions. The question's `else` replaces an answer that is missing,
    fails its check, or would make the new state invalid; a warning (PC0800), or a note for a missing answer (PC0801), says so.

    Raises `UsageError` for an unknown operation, argument or answer, and for a `State` (PC0391). Raises `PromptcError` if the state is not
    valid and if, even with every `else`, an edit cannot be made or the new state would not be valid.
    """
    if isinstance(state, State):
        message = "an operation changes a state as it is written, and a `State` has defaults filled in"
        raise UsageError([Diagnostic("PC0391", message, help="pass the JSON or the dict that the `State` was loaded from")])
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
    raise PromptcError(_iter_refused(begun.operation, failed, _list_faults(pack, begun)))


def _answer_all(begun: OperationRun, refused: Mapping[str, str]) -> _Answered:
    """Answer all questions. `refused` maps answers that are rejected although they pass their checks to the reasons."""
    found: dict[str, Diagnostic] = {}
    left: list[Diagnostic] = []
    for one in begun.operation.asks:
        if not one.is_asked(begun.names):
            if one.name in begun.given:
                span = one.when.span if one.when is not None else one.span
                left.append(
                    Diagnostic(
                        "PC0809", f"the operation does not ask `{one.name}` this time: promptc ignores the answer", span, level="warn"
                    )
                )
            continue
        answered = begun.answer(one.name, refused.get(one.name, ""))
        begun = begun.take(one.name, answered.value)
        if answered.found is not None:
            found[one.name] = answered.found
    return _Answered(begun, tuple(found), (*found.values(), *left))


@frozen(eq=False)
class _Answered:
    """An operation with all its answers: which of them are fallbacks, and the findings on them."""

    begun: OperationRun
    fallbacks: tuple[str, ...]
    found: tuple[Diagnostic, ...]


def read_written(state: bytes | Mapping[str, Any]) -> Any:
    """Return a valid state as it is written, with its keys in their own order."""
    text = state.decode("utf-8-sig") if isinstance(state, bytes) else json.dumps(state)
    return json.loads(text)


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


def _check_new(pack: Opened, begun: OperationRun, edited: Edited, name: str) -> tuple[Any, State]:
    """Return the new state as plain data of its own, and as it is loaded. Raises `_InvalidError` with every reason why it is not valid."""
    text = json.dumps(edited.written)
    try:
        state = pack.load_state(text.encode(), name)
    except PromptcError as error:
        raise _InvalidError(_list_errors(error), _locate(pack.model, text, error, name)) from None
    try:
        _check_values(pack, state)
    except PromptcError as error:
        raise _InvalidError(_list_errors(error)) from None
    return json.loads(text), state


def _list_errors(error: PromptcError) -> list[Diagnostic]:
    return [found for found in error.diagnostics if found.level == "error"]


def _locate(model: PackModel, text: str, error: PromptcError, name: str) -> InvalidPlace | None:
    """Return the place of the first error, in the new state and in its schema, or None if its schema does not report it."""
    from promptc.frontend.schema.faults import locate_finding

    document = load_json(text.encode(), name)
    found = locate_finding(model.schema, document, error.diagnostics[0]) if model.schema is not None else None
    if found is None:
        return None
    pointer, keyword = found
    rule = f"{model.find_schema_place(keyword)}" if model.find_schema_place is not None else keyword
    return InvalidPlace(pointer, rule, read_at(document.value, split_pointer(pointer)))


def _check_values(pack: Opened, state: State) -> None:
    """Raise `PromptcError` for a claim of the pack that the state breaks, and for a `let` that cannot be computed."""
    names = {"state": state.value, RUN: pack.model.open_operation_account()}
    check_asserts(pack.model, names)
    bind_lets(pack.model, names)


class _InvalidError(PromptcError):
    """The reasons why the new state is not valid. `place` is the place of the first, if the schema reports it."""

    def __init__(self, diagnostics: Iterable[Diagnostic], place: InvalidPlace | None = None) -> None:
        super().__init__(diagnostics)
        self.place = place


@frozen(eq=False)
class InvalidPlace:
    """A value of a new state that its schema rejects, by its pointer. `rule` is the place of the keyword, in the schema's file."""

    pointer: str
    rule: str
    value: Any


def _say(begun: OperationRun, archives: tuple[Archive, ...]) -> str:
    """Return the text of `say`. It sees `removed`: how many elements went to each archive."""
    if begun.operation.say is None:
        return ""
    removed = dict.fromkeys(begun.operation.archives, 0)
    for archive in archives:
        removed[archive.name] += len(archive.elements)
    return begun.operation.say.render({**begun.names, "removed": removed}).rstrip("\n")


# --- the new state ---


def _iter_refusals(answered: _Answered, failed: PromptcError) -> Iterator[Mapping[str, str]]:
    """Yield the answers to refuse, since the operation fails with all of them: each accepted one alone, in order, then all."""
    begun = answered.begun
    why = f"with it, {_describe_failure(begun.operation, failed)}"
    taken = [ask.name for ask in begun.operation.asks if ask.name in begun.given and ask.name not in answered.fallbacks]
    told = {name: why + _trace(begun, name, failed) for name in taken}
    yield from ({name: told[name]} for name in taken)
    if len(taken) > 1:
        yield told


def _trace(begun: OperationRun, ask: str, failed: PromptcError) -> str:
    """Return where the schema rejects the value, and which part of the answer the value comes from."""
    place = failed.place if isinstance(failed, _InvalidError) else None
    if place is None:
        return ""
    told = f" ({place.rule})"
    ways = list_reads(begun.operation, place.pointer, ask)
    asked = begun.operation.find_ask(ask)
    if not ways or asked is None or asked.check is None or asked.check.schema is None:
        return told if not ways else f"{told}. The value is made of the answer"
    document = load_json(take_off_fence(read_answer(begun.given[ask])).encode(), ANSWER)
    parts = [found for way in ways for found in _iter_parts(read_at(document.value, way), join_pointer(way))]
    same = next((pointer for pointer, value in parts if type(value) is type(place.value) and value == place.value), None)
    named = [same] if same is not None else [join_pointer(way) for way in ways]
    shown = [f"`{pointer}` (line {span.line}, column {span.column})" for pointer in named if (span := document.span(pointer))]
    return f"{told}. The value is {'made of ' if same is None else ''}{join_some(shown, 3)} of the answer"


def _iter_parts(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """Yield a value and everything in it, each with its pointer."""
    waiting = [(pointer, value)]
    while waiting:
        pointer, value = waiting.pop()
        yield pointer, value
        inside = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
        waiting += [(extend_pointer(pointer, key), inner) for key, inner in reversed(inside)]


def _describe_failure(operation: Operation, failed: PromptcError) -> str:
    message = failed.diagnostics[0].message
    return f"`{operation.name}` would leave an invalid state: {message}" if isinstance(failed, _InvalidError) else message


def _iter_refused(operation: Operation, error: _InvalidError, faults: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield findings on the new state at the operation's place, since the new state is in no file.

    `faults` are the findings on the state before the operation.
    """
    rule = f" ({error.place.rule})" if error.place is not None else ""
    for place, found in enumerate(error.diagnostics):
        is_old = found.message in faults
        why = "would leave the state as invalid as it is" if is_old else "would leave an invalid state"
        message = f"`{operation.name}` {why}, so nothing is changed: {found.message}{rule if place == 0 else ''}"
        yield Diagnostic("PC0810", message, operation.span, found.help or ("mend the state first" if is_old else ""))


def _list_faults(pack: Opened, begun: OperationRun) -> frozenset[str]:
    """Return what is wrong with the state that was given, which an operation may mend."""
    try:
        _check_values(pack, begun.state)
    except PromptcError as error:
        return frozenset(found.message for found in error.diagnostics if found.level == "error")
    return frozenset()


def answer_ask(ask: Ask, text: str | None, names: Mapping[str, Any], meter: Meter, refusal: str = "") -> Answered:
    """Return the value of an answer, or of the question's `else` if the answer does not pass.

    The `else` replaces an answer that fails its check (a warning, PC0800) or is missing (a note, PC0801). `names` are what the `else` and
    the claims of the check see. `refusal` is the reason to refuse an answer that passes its check, or empty. Raises `PromptcError` if the
    `else` cannot be rendered, or does not match the question's schema (PC0805).
    """
    if text is None:
        help = f"give one with `--answer {ask.name}=FILE`"
        return Answered(
            _stand_in(ask, names, meter),
            Diagnostic("PC0801", f"`{ask.name}` has no answer: its `else` takes its place", None, help, "note"),
        )
    judged = judge_answer(text, ask.check, meter)
    broken = "" if judged.why else next((said for _, said in _iter_broken(ask, judged.value, names)), "")
    why = judged.why or broken or refusal
    if not why:
        return Answered(judged.value)
    message = f"the answer to `{ask.name}` fails its check{STANDS_IN}: {why}"
    span = ask.check.span if ask.check is not None else ask.span
    return Answered(_stand_in(ask, names, meter), Diagnostic("PC0800", message, span, "ask the model again", "warn"))


@frozen(eq=False)
class Answered:
    """The value that expressions see. `found` says why it is the question's `else`, and is None if it is the answer."""

    value: Any
    found: Diagnostic | None = None


def _stand_in(ask: Ask, names: Mapping[str, Any], meter: Meter) -> Any:
    """Return the value of the `else`. JSON is never cut: half of it would not be JSON."""
    text = read_answer(ask.otherwise.render(names))
    check = ask.check
    if check is None or check.schema is None:
        return cut_answer(text, check.max, meter) if check is not None and check.max is not None else text
    judged = judge_json(text, check.schema)
    if judged.why:
        message = f"the `else` of `{ask.name}` fails the schema of its answers: {judged.why}"
        raise fail(
            "PC0805",
            message,
            ask.otherwise.place.span,
            help="correct the `else`, so that it is valid in every state; the filter `json` writes valid JSON",
        )
    return judged.value


def read_answer(text: str) -> str:
    """Return an answer's text: line ends as `\\n`, without a byte order mark, without whitespace at its end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip(WHITE)


def judge_json(text: str, schema: AnswerSchema, name: str = ANSWER) -> JudgedAnswer:
    """Return the JSON value of the text, or the reason why it is not JSON or its schema rejects it. Findings call the text `name`."""
    try:
        document = load_json(text.encode(), name)
        found = schema.check(document)
    except PromptcError as error:
        found = list(error.diagnostics)
    if not found:
        return JudgedAnswer(document.value)
    told = tuple(replace(one, message=one.message.replace(*_WHOLE, 1)) for one in found)
    place = f" (line {told[0].span.line}, column {told[0].span.column})" if told[0].span is not None else ""
    more = sum(one.level == "error" for one in told[1:])
    return JudgedAnswer(None, f"{told[0].message}{place}" + (f", and {count_noun(more, 'more finding')}" if more else ""), told)


@frozen(eq=False)
class JudgedAnswer:
    """The value of an answer, or why it is refused (empty: it is accepted). `found` are all findings that have a place in the answer."""

    value: Any
    why: str = ""
    found: tuple[Diagnostic, ...] = ()


def check_answer(text: str, check: AnswerCheck | None, meter: Meter, name: str) -> tuple[Any, tuple[Diagnostic, ...]]:
    """Return the value of an answer as `judge_answer` does, and all findings of its check except claims. `name` is the name of its file."""
    judged = judge_answer(text, check, meter, name)
    if not judged.why or judged.found:
        return judged.value, judged.found
    return None, (_fail_check(judged.why, Span(name, 1, 1)),)


def _fail_check(why: str, span: Span) -> Diagnostic:
    return Diagnostic("PC0814", f"the answer fails its check: {why}", span, "ask the model again")


def check_claims(ask: Ask, value: Any, names: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Return a finding for every claim of a question that an accepted answer breaks, or that cannot be tested on it."""
    found = _iter_broken(ask, value, names)
    return tuple(
        Diagnostic("PC0815", f"the answer fails a claim of its check: {why}", claim.span, "ask the model again") for claim, why in found
    )


def _iter_broken(ask: Ask, value: Any, names: Mapping[str, Any]) -> Iterator[tuple[Assert, str]]:
    """Yield the claims that an answer breaks, or that cannot be tested on it, each with the reason."""
    seen = {**names, "answers": {**names["answers"], ask.name: value}}
    for claim in ask.check.claims if ask.check is not None else ():
        try:
            if not claim.that.evaluate(seen):
                yield claim, claim.otherwise.render(seen).strip() or f"`{claim.that.text.strip()}` does not hold"
        except PromptcError as error:
            yield claim, f"`{claim.that.text.strip()}` cannot be tested: {error.diagnostics[0].message}"


def judge_answer(text: str, check: AnswerCheck | None, meter: Meter, name: str = ANSWER) -> JudgedAnswer:
    """Return the answer's value: its text or, with a schema, the JSON in it (in its one fence, if it has one).

    The text has line ends as `\\n`, and none at its end. Never raises, whatever the text is. A text that is empty, too long or not Unicode
    is refused (bytes that were not UTF-8 are in it as Python's `surrogateescape` writes them).
    """
    if len(text) > LONGEST_ANSWER // 4 and len(text.encode("utf-8", "surrogatepass")) > LONGEST_ANSWER:
        return JudgedAnswer(None, f"it is longer than {LONGEST_ANSWER:,} bytes")
    plain = read_answer(text)
    lone = [character for character in plain if "\ud800" <= character <= "\udfff"]
    if lone:
        is_escaped = all("\udc80" <= character <= "\udcff" for character in lone)
        return JudgedAnswer(None, "it is not UTF-8" if is_escaped else "it holds half of a surrogate pair, which is not a text")
    if _shows_nothing(plain):
        return JudgedAnswer(None, "it is empty")
    if check is None:
        return JudgedAnswer(plain)
    bare = take_off_fence(plain) if check.schema is not None else plain
    tokens = meter.tokens(meter.count(bare.strip())) if check.max is not None else 0
    if check.max is not None and tokens > check.max:
        return JudgedAnswer(None, f"it has {count_noun(tokens, 'token')}, more than its `max` of {check.max}")
    if check.schema is not None:
        return judge_json(bare, check.schema, name)
    return _judge_headings(plain, check.headings, name)


def _shows_nothing(text: str) -> bool:
    """Return whether a text has nothing visible: only whitespace, controls, marks without a letter, fillers."""
    return is_blank(text) or all(one.isspace() or one in _FILLERS or category(one)[0] in "CM" for one in text)


def take_off_fence(text: str) -> str:
    """Return the content of a text's only Markdown fence, with its line numbers kept, or the text itself if it has not exactly one fence.

    Text around the fence is dropped. A text that is JSON contains no line that begins with a fence.
    """
    lines = text.split("\n")
    marks = [place for place, line in enumerate(lines) if line.lstrip().startswith(_FENCE)]
    if len(marks) != 2 or lines[marks[1]].strip() != _FENCE or marks[1] - marks[0] < 2:
        return text
    return "\n".join(("",) * (marks[0] + 1) + tuple(lines[marks[0] + 1 : marks[1]]))


def _judge_headings(text: str, headings: tuple[str, ...], name: str) -> JudgedAnswer:
    """Return the text, or refuse it for the first heading that does not come after those before it."""
    rows = text.split("\n")
    lines = [_read_heading(row) for row in rows]
    at = 0
    for heading in headings:
        if heading not in lines:
            return JudgedAnswer(None, f"it is missing the heading `{heading}`")
        if heading not in lines[at:]:
            early = lines.index(heading)
            why = f"its heading `{heading}` comes too early: the check names others before it"
            return JudgedAnswer(None, why, (_fail_check(why, Span(name, early + 1, 1, rows[early].strip())),))
        at = lines.index(heading, at) + 1
    return JudgedAnswer(text)


def _read_heading(line: str) -> str:
    """Return the title of a heading line: `## Title`, `## Title ##`, or the bare line."""
    bare = line.strip()
    marks = len(bare) - len(bare.lstrip("#"))
    if 0 < marks <= len(_HEADING) and bare[marks : marks + 1] in (" ", "\t"):
        return bare[marks:].strip().rstrip("#").rstrip()
    return bare


def cut_answer(text: str, most: int, meter: Meter) -> str:
    """Return the longest prefix of `text` that ends with a line and has at most `most` tokens, without line ends at its end.

    Within the first line the prefix ends with a word or, if even that is too long, with a token.
    """
    plain = text.rstrip(WHITE)
    if meter.tokens(meter.count(plain)) <= most:
        return plain
    counter: Counter = meter.counter
    cuts = [
        kept.join(plain).rstrip(WHITE) for kept in iter_kept(plain, list_boundaries(["line"]), token_ends=lambda: counter.token_ends(plain))
    ]
    first = bisect_left(cuts, True, key=lambda cut: meter.tokens(meter.count(cut)) <= most)
    return next((cut for cut in cuts[first:] if meter.tokens(meter.count(cut)) <= most), "")


def check_asked(operation: Operation, answers: Collection[str]) -> None:
    """Raise `UsageError` (PC0806) for all names of answers that are not questions of the operation."""
    known = [ask.name for ask in operation.asks]
    help = "it asks nothing" if not known else ""
    unknown = [
        Diagnostic("PC0806", f"`{operation.name}` has no ask `{one}`", help=help or suggest(one, known))
        for one in answers
        if one not in known
    ]
    if unknown:
        raise UsageError(unknown)


def check_args(operation: Operation, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments: the defaults, overridden by `args`.

    Each has the kind of its default: boolean, text, whole number (12.0 is one), number, list or mapping; if the default is null, any kind.
    Raises `UsageError` for all arguments that are unknown (PC0803), of another kind (PC0804) or not JSON (PC0391, or a code of JSON texts).
    """
    wrong, copied = list(_iter_wrong(operation, args)), dict[str, Any]()
    for name, value in args.items() if not wrong else ():
        try:
            what = f"the argument `{name}` of `{operation.name}`"
            copied[name] = load_json(dump_state({"value": value}, what), what).value["value"]
        except PromptcError as error:
            wrong += error.diagnostics
    if wrong:
        raise UsageError(wrong)
    return {name: settle_number(value) if isinstance(value, float) else value for name, value in {**operation.args, **copied}.items()}


def _iter_wrong(operation: Operation, args: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for name, value in args.items():
        if name not in operation.args:
            help = suggest(name, operation.args) if operation.args else "it takes none"
            yield Diagnostic("PC0803", f"the operation `{operation.name}` has no argument `{name}`", help=help)
            continue
        default = operation.args[name]
        wanted = _name_kind(default)
        if default is not None and not _suits(value, wanted):
            message = f"the argument `{name}` of `{operation.name}` must be {wanted}, not {show_value(value)}"
            yield Diagnostic("PC0804", message, help=f"write a value such as its default, {show_value(default)}")


def _name_kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true or false"
    kinds = {str: "a string", int: "a whole number", float: "a number", list: "a list", tuple: "a list"}
    return next((word for kind, word in kinds.items() if isinstance(value, kind)), "a mapping")


def _suits(value: Any, wanted: str) -> bool:
    kind = _name_kind(settle_number(value) if isinstance(value, float) else value)
    return kind == wanted or (kind, wanted) == ("a whole number", "a number")
