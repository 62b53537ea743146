"""The filter that marks up addresses of the web and of mail."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.filters.markup import escape
from promptc.template.runtime.payments import list_values
from promptc.template.runtime.run import Run

_SCHEME = re.compile(r"[\w.+-]{2,}:/{0,2}")
_MAIL = re.compile(r"\S+@\w[\w.-]*\.\w+")
_WEB = re.compile(
    r"""
    (?:
        (?:https?://|www\.) (?:[\w%-]+\.)* (?:[a-z]{2,63}|xn--[\w%]{2,59})
      | (?:[\w%-]{2,63}\.)+ (?:com|net|int|edu|gov|org|info|mil)
      | https?:// (?:\d{1,3}(?:\.\d{1,3}){3} | \[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\])
    )
    (?::\d{1,5})?
    (?:[/?#]\S*)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PAIRS = (("(", ")"), ("<", ">"), ("&lt;", "&gt;"))


def mark_links(
    run: Run,
    value: Any,
    trim_url_limit: int | None = None,
    nofollow: bool = False,
    target: str | None = None,
    rel: str | None = None,
    extra_schemes: Any = None,
) -> str:
    """The text, escaped, with every address as a link. Punctuation around an address stays outside."""
    schemes = _list_schemes(run, extra_schemes)
    text = escape(run, value)
    run.take(20 + 4 * len(text))
    attributes = _write_attributes(run, nofollow, rel, target)
    words = re.split(r"(\s+)", text)
    run.take(len(words) * (2 + len(schemes)))
    for place in range(0, len(words), 2):
        marked = _mark(words[place], trim_url_limit, attributes, schemes)
        run.make(len(marked))
        words[place] = marked
    run.make(sum(map(len, words)))
    return "".join(words)


def _list_schemes(run: Run, extra_schemes: Any) -> Sequence[str]:
    schemes = list_values(run, extra_schemes, 4) if extra_schemes is not None else ()
    for scheme in schemes:
        check_scheme(scheme)
    return schemes


def check_scheme(scheme: Any) -> None:
    """Refuse what is no beginning of an address."""
    if scheme.__class__ is not str or not _SCHEME.fullmatch(scheme):
        shown = f"`{scheme[:40]}`" if scheme.__class__ is str else name_kind(scheme)
        refuse("PC0424", f"{shown} is no beginning of an address", "write it as `tel:` or `git://`")


def _write_attributes(run: Run, nofollow: bool, rel: Any, target: Any) -> str:
    run.take(len(rel) if rel.__class__ is str else 1)
    words = {"noopener", *(rel or "").split(), *(("nofollow",) if nofollow else ())}
    written = f' rel="{escape(run, " ".join(sorted(words)))}"'
    return written + (f' target="{escape(run, target)}"' if target else "")


def _mark(word: str, limit: int | None, attributes: str, schemes: Sequence[str]) -> str:
    head = _find_head(word)
    tail = _balance(word, head, _find_tail(word, head))
    middle = word[head:tail]
    return f"{word[:head]}{_link(middle, limit, attributes, schemes)}{word[tail:]}"


def _find_head(word: str) -> int:
    """Where the opening brackets at the beginning end."""
    head = 0
    while True:
        if word.startswith(("(", "<"), head):
            head += 1
        elif word.startswith("&lt;", head):
            head += 4
        else:
            return head


def _find_tail(word: str, head: int) -> int:
    """Where the closing brackets, full stops and commas at the end begin."""
    tail = len(word)
    while tail > head:
        if word.endswith((")", ">", ".", ","), head, tail):
            tail -= 1
        elif word.endswith("&gt;", head, tail):
            tail -= 4
        else:
            return tail
    return tail


def _balance(word: str, head: int, tail: int) -> int:
    """What closes a bracket inside the address belongs to it."""
    for opening, closing in _PAIRS:
        opened = word.count(opening, head, tail)
        if opened <= word.count(closing, head, tail):
            continue
        for _ in range(min(opened, word.count(closing, tail))):
            tail = word.index(closing, tail) + len(closing)
    return tail


def _link(address: str, limit: int | None, attributes: str, schemes: Sequence[str]) -> str:
    if _WEB.fullmatch(address):
        target = address if address.startswith(("https://", "http://")) else f"https://{address}"
        shown = address if limit is None or len(address) <= limit else f"{address[:limit]}..."
        return f'<a href="{target}"{attributes}>{shown}</a>'
    if address.startswith("mailto:") and _MAIL.fullmatch(address[7:]):
        return f'<a href="{address}">{address[7:]}</a>'
    if "@" in address and ":" not in address and not address.startswith(("www.", "@")) and _MAIL.fullmatch(address):
        return f'<a href="mailto:{address}">{address}</a>'
    for scheme in schemes:
        if address != scheme and address.startswith(scheme):
            address = f'<a href="{address}"{attributes}>{address}</a>'
    return address


FILTERS: dict[str, Callable[..., Any]] = {"urlize": mark_links}
