"""Two outputs as bytes, compared."""

from promptc.compare import Difference, Side, compare_sides, is_messages, read_json, read_report, read_side
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any

PROMPTS = ("text", "messages")


@frozen(eq=False)
class GoldenOutput:
    """The bytes of a golden, and those of the report of the same side, where there is one."""

    content: bytes = field(repr=False)
    report: bytes | None = field(default=None, repr=False)


def compare_outputs(kind: str, old: GoldenOutput, new: GoldenOutput) -> Difference:
    """What differs. Prompts are compared section by section where their own reports describe them, anything else as a whole.

    Bytes that differ give a difference that is not empty.
    """
    found = compare_sides(_read(kind, old), _read(kind, new))
    if found.is_empty and old.content != new.content:
        return compare_sides(_read_whole(old.content), _read_whole(new.content))
    return found


def _read(kind: str, output: GoldenOutput) -> Side:
    if kind not in PROMPTS:
        return _read_whole(output.content)
    known = read_report(output.report)
    messages: Any = read_json(output.content) if kind == "messages" else None
    if is_messages(messages):
        return read_side(messages, known)
    return _read_whole(output.content) if kind == "messages" else _read_text(output.content, known)


def _read_text(content: bytes, report: dict[str, Any] | None) -> Side:
    try:
        return read_side(content.decode(), report)
    except UnicodeDecodeError:
        return _read_whole(content)


def _read_whole(content: bytes) -> Side:
    """Bytes that are no UTF-8 stay apart from all others."""
    return read_side(content.decode("utf-8", "surrogateescape"), None)
