"""Filters for markup and addresses. What they give is plain text: escaped again, it is escaped twice."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.payments import UNDEFINED, check_defined, pay_each
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show

_ESCAPES = (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;"))


def escape(run: Run, value: Any) -> str:
    """With `&`, `<`, `>`, `'` and `"` as HTML writes them."""
    text = show(run, value)
    run.make(len(text) + sum(text.count(sign) * len(written) for sign, written in _ESCAPES))
    for sign, written in _ESCAPES:
        text = text.replace(sign, written)
    return text


def strip_tags(run: Run, value: Any) -> str:
    """Without tags and comments, every run of white space as one space, `&amp;` and its like as the characters they stand for."""
    text = show(run, value)
    run.take(1 + len(text))
    text = " ".join(_drop_tags(text).split())
    if "&" not in text:
        return text
    from html import unescape

    return unescape(text)


def _drop_tags(text: str) -> str:
    """One pass: what a `<` opens and nothing closes stays, with all that follows."""
    parts: list[str] = []
    done = 0
    while (start := text.find("<", done)) >= 0:
        closing = "-->" if text.startswith("<!--", start) else ">"
        stop = text.find(closing, start + 4 if closing == "-->" else start)
        if stop < 0:
            break
        parts.append(text[done:start])
        done = stop + len(closing)
    return "".join((*parts, text[done:]))


def url_encode(run: Run, value: Any) -> str:
    """A text as a path writes it; a mapping or pairs as a query does."""
    if value.__class__ is str or not hasattr(value, "__iter__"):
        return _quote(run, value, _IN_PATH)
    pairs = value.items() if value.__class__ is dict else value
    quoted = []
    for pair in pay_each(run, pairs, 8):
        key, part = pair
        quoted.append(f"{_quote(run, key, _IN_QUERY)}={_quote(run, part, _IN_QUERY)}")
    run.make(sum(map(len, quoted)))
    return "&".join(quoted)


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


def _quote(run: Run, value: Any, written: list[str]) -> str:
    """Each byte of the text in UTF-8 as it is written."""
    text = show(run, value)
    run.make(len(text) * (3 if text.isascii() else 12))
    return "".join(map(written.__getitem__, text.encode("utf-8")))


_IN_PATH = [chr(code) if code in _UNRESERVED or code == 47 else f"%{code:02X}" for code in range(256)]
_IN_QUERY = [chr(code) if code in _UNRESERVED else "+" if code == 32 else f"%{code:02X}" for code in range(256)]


def write_attributes(run: Run, d: Any, autospace: bool = True) -> str:
    """A mapping as the attributes of a tag, a space in front; without those that are none or undefined."""
    if d.__class__ is not dict:
        check_defined(d)
        refuse("PC0414", f"`xmlattr` takes a mapping, not {name_kind(d)}")
    run.take(1 + 12 * len(d))
    written = []
    for key, value in d.items():
        if value is not None and value.__class__ not in UNDEFINED:
            _check_attribute(run, key)
            written.append(f'{escape(run, key)}="{escape(run, value)}"')
    run.make(sum(map(len, written)) + len(written))
    made = " ".join(written)
    return f" {made}" if autospace and made else made


def _check_attribute(run: Run, key: Any) -> None:
    if key.__class__ is not str:
        refuse("PC0414", f"{name_kind(key)} cannot be the name of an attribute", "use a text")
    run.take(len(key) >> 3)
    if any(sign in key for sign in " \t\n\r\f\v/>="):
        refuse("PC0424", f"`{key[:80]}` cannot be the name of an attribute", "leave out white space, `/`, `>` and `=`")


FILTERS: dict[str, Callable[..., Any]] = {
    "escape": escape,
    "e": escape,
    "forceescape": escape,
    "safe": show,
    "striptags": strip_tags,
    "urlencode": url_encode,
    "xmlattr": write_attributes,
}
