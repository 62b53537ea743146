"""What a tool gave, as one text."""

from collections.abc import Sequence

from promptc.diag.typed import Any
from promptc.text.json import render_canonical_json
from promptc.text.white import is_blank


def find_texts(content: Any) -> list[str] | None:
    """The texts of a list of text parts, those of white space left out; None for anything else."""
    if not isinstance(content, list | tuple):
        return None
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content]
    if any(not isinstance(text, str) for text in texts):
        return None
    return [text for text in texts if isinstance(text, str) and not is_blank(text)]


def render_result(content: Any) -> str:
    """A text as it is, text parts a line end apart, any other value as canonical JSON, nothing for null."""
    if isinstance(content, str):
        return content
    texts = find_texts(content)
    if texts is not None:
        return "\n".join(texts)
    return "" if content is None else render_canonical_json(content)


def join_texts(texts: Sequence[str]) -> str:
    """Texts of one message where a provider takes a single one: a line end apart, which is how they are counted."""
    return "\n".join(texts)
