"""A state as the text of its file."""

from promptc.diag.typed import Any


def format_state(value: Any, like: bytes) -> bytes:
    """`value` as JSON in UTF-8, laid out as the file it comes from: its indent, or one line where that is one line, with spaces behind
    commas and colons as there; its last line end.
    """
    import json

    text = like.decode("utf-8-sig").strip(" \t\r\n")
    indent = _find_indent(text)
    close = indent is None and '": ' not in text and '", ' not in text and len(text) > 2
    separators = (",", ":") if close else (",", ": ") if indent is not None else (", ", ": ")
    end = b"\n" if like.endswith(b"\n") or not like.strip() else b""
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, allow_nan=False).encode() + end


def _find_indent(text: str) -> str | None:
    """What stands before the first key, if that has a line of its own."""
    after = text[1:].lstrip(" ")
    if not after.startswith(("\n", "\r\n")):
        return None
    line = after.lstrip("\r\n")
    return line[: len(line) - len(line.lstrip(" \t"))]
