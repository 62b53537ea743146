"""A model's answer, held against what it must be."""

from unicodedata import category

from promptc.diag.findings import PromptcError, count_noun
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.frontend.json import load_json
from promptc.model.messages import AnswerCheck, AnswerSchema
from promptc.text.meter import Meter
from promptc.text.white import WHITE, is_blank

_FENCE = "```"
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
_HEADING = "######"
_WHOLE = ("the state ", "the answer ")
"""What findings of a schema call the whole value."""


LONGEST_ANSWER = 8_000_000
"""Bytes of the longest answer that is looked at."""


@frozen(eq=False)
class JudgedAnswer:
    """The value of an answer, or why it is refused (empty: it is not)."""

    value: Any
    why: str = ""


def judge_answer(text: str, check: AnswerCheck | None, meter: Meter) -> JudgedAnswer:
    """The answer's value: with a schema the JSON in it (in its one fence, if it has one), else its text, line ends as `\\n`, none at its
    end.

    Never raises, whatever the text is. One that is empty, too long or no Unicode is refused (bytes that were no UTF-8 stand in it as
    Python's `surrogateescape` writes them).
    """
    if len(text) > LONGEST_ANSWER // 4 and len(text.encode("utf-8", "surrogatepass")) > LONGEST_ANSWER:
        return JudgedAnswer(None, f"it is longer than {LONGEST_ANSWER:,} bytes")
    plain = read_answer(text)
    lone = [character for character in plain if "\ud800" <= character <= "\udfff"]
    if lone:
        is_escaped = all("\udc80" <= character <= "\udcff" for character in lone)
        return JudgedAnswer(None, "it is not UTF-8" if is_escaped else "it holds half of a surrogate pair, which is no text")
    if _shows_nothing(plain):
        return JudgedAnswer(None, "it is empty")
    if check is None:
        return JudgedAnswer(plain)
    bare = take_off_fence(plain) if check.schema is not None else plain
    tokens = meter.tokens(meter.count(bare.strip())) if check.max is not None else 0
    if check.max is not None and tokens > check.max:
        return JudgedAnswer(None, f"it has {count_noun(tokens, 'token')}, over its `max` of {check.max}")
    if check.schema is not None:
        return judge_json(bare, check.schema)
    missing = _find_missing(plain, check.headings)
    return JudgedAnswer(plain) if not missing else JudgedAnswer(None, missing)


def _shows_nothing(text: str) -> bool:
    """Whether a text has nothing to see: white space, controls, marks on no letter, fillers."""
    return is_blank(text) or all(one.isspace() or one in _FILLERS or category(one)[0] in "CM" for one in text)


def judge_json(text: str, schema: AnswerSchema) -> JudgedAnswer:
    """The JSON value, if it is one and its schema takes it."""
    try:
        document = load_json(text.encode(), "the answer")
        found = schema.check(document)
    except PromptcError as error:
        found = list(error.diagnostics)
    if not found:
        return JudgedAnswer(document.value)
    first, message = found[0], found[0].message.replace(*_WHOLE, 1)
    place = f" (line {first.span.line}, column {first.span.column})" if first.span is not None else ""
    more = sum(one.level == "error" for one in found[1:])
    return JudgedAnswer(None, f"{message}{place}" + (f", and {count_noun(more, 'more finding')}" if more else ""))


def read_answer(text: str) -> str:
    """An answer's text: line ends as `\\n`, no byte order mark, nothing behind its last visible character."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip(WHITE)


def take_off_fence(text: str) -> str:
    """What the one Markdown fence of a text encloses, each line in its place, whatever is said around it; else the text.

    A text that is JSON by itself holds no line that begins with a fence.
    """
    lines = text.split("\n")
    marks = [place for place, line in enumerate(lines) if line.lstrip().startswith(_FENCE)]
    if len(marks) != 2 or lines[marks[1]].strip() != _FENCE or marks[1] - marks[0] < 2:
        return text
    return "\n".join(("",) * (marks[0] + 1) + tuple(lines[marks[0] + 1 : marks[1]]))


def _find_missing(text: str, headings: tuple[str, ...]) -> str:
    """What is said of the first heading that does not stand behind those before it."""
    lines = [_read_heading(line) for line in text.split("\n")]
    at = 0
    for heading in headings:
        rest = lines[at:]
        if heading not in rest:
            return (
                f"its heading `{heading}` stands before those it should follow" if heading in lines else f"it lacks the heading `{heading}`"
            )
        at += rest.index(heading) + 1
    return ""


def _read_heading(line: str) -> str:
    """The title of a heading line: `## Title`, `## Title ##`, or the bare line."""
    bare = line.strip()
    marks = len(bare) - len(bare.lstrip("#"))
    if 0 < marks <= len(_HEADING) and bare[marks : marks + 1] in (" ", "\t"):
        return bare[marks:].strip().rstrip("#").rstrip()
    return bare
