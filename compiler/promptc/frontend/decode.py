"""Bytes → text, the one way every file of a pack and every state is decoded."""

from promptc.diag.findings import fail
from promptc.diag.span import Span

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MARK = "\ufeff"
_EXCERPT = 400


def decode_text(data: bytes, name: str) -> str:
    """`data` as UTF-8 without a leading byte order mark, with CRLF and CR as `\\n`.

    Anything else is PC0101 at the line and column of the first byte that is wrong.
    """
    try:
        text = data.decode().removeprefix(_MARK)
    except UnicodeDecodeError as wrong:
        before = data[: wrong.start].decode(errors="replace").removeprefix(_MARK)
        raise fail("PC0101", _describe(data, wrong.start), _find_end(before, name), help="save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _describe(data: bytes, at: int) -> str:
    if data[:2] in _UTF16:
        return "the file is UTF-16, not UTF-8"
    return f"the file is not UTF-8: byte {at} is 0x{data[at]:02X}"


def _find_end(before: str, name: str) -> Span:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return Span(name, len(lines), len(lines[-1]) + 1, lines[-1][:_EXCERPT])
