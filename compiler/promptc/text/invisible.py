"""Characters that show nothing: which they are, their reversible escape `\\u{200b}`, and the text that some of them hide.

Control characters, zero-width spaces, overrides of direction, fillers and tag characters. Joiners (U+200C, U+200D), marks of direction
(U+200E, U+200F), variation selectors and the tags of three flags are part of ordinary writing and pass.

Two kinds of them spell text that a model reads and nobody sees: tag characters (U+E0000 to U+E007F) outside those flags, and variation
selectors (U+FE00 to U+FE0F, U+E0100 to U+E01EF) that are in no variation sequence. A sequence is a character and one selector: of an
ideograph U+E0100 to U+E011F, the 32 that are in use (Unicode's Ideographic Variation Database, 2017), of a hieroglyph U+FE00 to U+FE06, and
of others U+FE00 to U+FE02, U+FE0E and U+FE0F, where the first three follow nothing of ASCII but `0` (StandardizedVariants.txt).
"""

import re
from collections.abc import Iterator

from promptc.text.compile_later import compile_later

_ASCII = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f"
_OTHERS = (
    "\\x80-\\x9f\\xad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e\\u200b\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb"
    "\\U0001d173-\\U0001d17a\\U000e0000-\\U000e00ff\\U000e01f0-\\U000e0fff"
)
_FLAG = (
    "\\U0001f3f4\\U000e0067\\U000e0062"
    "(?:\\U000e0065\\U000e006e\\U000e0067|\\U000e0073\\U000e0063\\U000e0074|\\U000e0077\\U000e006c\\U000e0073)\\U000e007f"
)
"""The three flags that Unicode recommends: of England (gbeng), Scotland (gbsct) and Wales (gbwls). Others could spell anything."""
_IN_ASCII = compile_later(f"[{_ASCII}]")
_FOUND = compile_later(f"{_FLAG}|([{_ASCII}{_OTHERS}])")
REPLACEMENT = "\ufffd"
"""What stands for hidden text that was taken out."""

_SPELT = 200
_IDEOGRAPHS = "\\u3400-\\u9fff\\uf900-\\ufaff\\U00020000-\\U0003ffff"
_ANY = "\\ufe00-\\ufe0f\\U000e0100-\\U000e01ef"
_STRAY = (
    f"[\\U000e0120-\\U000e01ef\\ufe07-\\ufe0d]|(?<=[{_ANY}])[{_ANY}]|(?<![{_IDEOGRAPHS}])[\\U000e0100-\\U000e011f]"
    "|(?<![\\U00013000-\\U000143ff])[\\ufe03-\\ufe06]|(?<![0\\x80-\\U0010ffff])[\\ufe00-\\ufe02]"
)
_BEGINNINGS = (b"\xf3\xa0", b"\xef\xb8")
"""The first two bytes of tags and of selectors in UTF-8."""

_MAY_HIDE = compile_later(f"[\\U000e0000-\\U000e007f\\U000e0100-\\U000e01ef\\ufe00-\\ufe0d]|[\\ufe0e\\ufe0f](?:[{_ANY}]|(?<=^.))")
"""Those that are worth a closer look, which takes ten times as long: the selectors of emoji are common, and stand alone."""

_HIDDEN = compile_later(f"({_FLAG})|(?:[\\U000e0000-\\U000e007f]|{_STRAY})+")
_TAGS, _SELECTORS = 0xE0000, 0xE0100 - 16
_CODE = r"u\{([0-9a-f]{1,6})\}"
_TO_ESCAPE = compile_later(rf"{_FLAG}|(?<!\\)(\\*+)(?:([{_ASCII}{_OTHERS}]|{_STRAY})|(?={_CODE}))")
_TO_RESTORE = compile_later(rf"(?<!\\)(\\++){_CODE}")


def iter_invisible(text: str) -> Iterator[tuple[int, str]]:
    """The place and the name (`U+200B`) of every such character."""
    pattern = _IN_ASCII if text.isascii() else _FOUND
    for found in pattern.finditer(text):
        if pattern is _IN_ASCII or found[1]:
            yield found.start(), f"U+{ord(found[0]):04X}"


def escape_invisible(text: str) -> str:
    """Every such character as `\\u{...}`. Backslashes before it, or before what looks like an escape, are doubled, so that it can be
    undone."""
    if "\\" not in text and next(iter_invisible(text), None) is None and not may_hide(text):
        return text
    return _TO_ESCAPE.sub(_escaped, text)


def restore_invisible(text: str) -> str:
    """What `escape_invisible` was given."""
    return _TO_RESTORE.sub(_restored, text) if "\\u{" in text else text


def iter_hidden(text: str) -> Iterator[tuple[int, str]]:
    """The place of every run of characters that hides text, and what the first 200 spell; `?` for what is no printable one of ASCII."""
    if may_hide(text):
        for found in _HIDDEN.finditer(text):
            if found[1] is None:
                yield found.start(), "".join(map(_spell, found[0][:_SPELT]))


def replace_hidden(text: str) -> str:
    """`text` with `REPLACEMENT` for each run of characters that hides text: no more characters or bytes, and never nothing."""
    return _HIDDEN.sub(lambda found: found[1] or REPLACEMENT, text) if may_hide(text) else text


def may_hide(text: str) -> bool:
    """False only of a text that hides none, and of a character that never does: a cheap test, as almost no text does."""
    if text.isascii():
        return False
    content = text.encode("utf-8", "surrogatepass")
    return any(one in content for one in _BEGINNINGS) and _MAY_HIDE.search(text) is not None


def _spell(character: str) -> str:
    code = ord(character)
    spelt = chr(max(code - (_SELECTORS if code > _SELECTORS else _TAGS), 0))
    return spelt if spelt.isascii() and spelt.isprintable() else "?"


def _escaped(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    return found[1] * 2 + (f"\\u{{{ord(found[2]):x}}}" if found[2] else "")


def _restored(found: re.Match[str]) -> str:
    backslashes = "\\" * (len(found[1]) // 2)
    return backslashes + (chr(int(found[2], 16)) if len(found[1]) % 2 else f"u{{{found[2]}}}")
