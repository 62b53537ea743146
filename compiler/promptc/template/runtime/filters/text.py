"""Filters of text. Unless their docstrings say otherwise, they accept any value that can be printed, and work on its printed text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from promptc.diag.findings import name_kind
from promptc.diag.typed import Any
from promptc.template.runtime.methods import change_case, pad_text, replace_text, split_lines, strip_text
from promptc.template.runtime.objects import refuse
from promptc.template.runtime.run import UNDEFINED, Run, check_defined, check_scheme, list_values, pay_each, price_count
from promptc.template.runtime.values import format_percent, show
from promptc.text.characters import compile_later
from promptc.text.cutting import iter_gaps, iter_kept, list_boundaries, trim_span

_MAKE_TEXT = "make it a string first: `| string`, `| join`"
_SLACK = 8
_MAIL = compile_later(r"\S+@\w[\w.-]*\.\w+")

_WEB = compile_later(
    r"""(?ix)
    (?:
        (?:https?://|www\.) (?:[\w%-]+\.)* (?:[a-z]{2,63}|xn--[\w%]{2,59})
      | (?:[\w%-]{2,63}\.)+ (?:com|net|int|edu|gov|org|info|mil)
      | https?:// (?:\d{1,3}(?:\.\d{1,3}){3} | \[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\])
    )
    (?::\d{1,5})?
    (?:[/?#]\S*)?
    """
)
_BEGINS_WORD = compile_later(r"([-\s({\[<]+)")
_PAIRS = (("(", ")"), ("<", ">"), ("&lt;", "&gt;"))
_ESCAPES = (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;"))
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
_IN_PATH = [chr(code) if code in _UNRESERVED or code == 47 else f"%{code:02X}" for code in range(256)]
_IN_QUERY = [chr(code) if code in _UNRESERVED else "+" if code == 32 else f"%{code:02X}" for code in range(256)]


def upper(run: Run, value: Any) -> str:
    """Convert the text to capital letters."""
    return change_case(run, show(run, value), str.upper)


def lower(run: Run, value: Any) -> str:
    """Convert the text to small letters."""
    return change_case(run, show(run, value), str.lower)


def capitalize(run: Run, value: Any) -> str:
    """Convert the first character to a capital, and all others to small letters."""
    return change_case(run, show(run, value), str.capitalize)


def title(run: Run, value: Any) -> str:
    """Begin each word with a capital, and convert its other letters to small ones.
    Words begin after white space, `-` and opening brackets.
    """
    text = show(run, value)
    run.take(1 + 6 * len(text))
    words = _BEGINS_WORD.split(text)
    made = "".join([word[0].upper() + word[1:].lower() for word in words if word])
    run.make(len(made))
    return made


def trim(run: Run, value: Any, chars: str | None = None) -> str:
    """Remove white space, or any of the characters in `chars`, from both ends of the text."""
    return strip_text(run, show(run, value), chars, str.strip)


def show_value(run: Run, value: Any) -> str:
    """Convert the value to the text that it prints as."""
    return show(run, value)


def center(run: Run, value: Any, width: int = 80) -> str:
    """Center the text in a line of `width` characters."""
    return pad_text(run, show(run, value), width, str.center)


def replace(run: Run, value: Any, old: Any, new: Any, count: int | None = None) -> str:
    """Replace `old` with `new`, everywhere or only the first `count` times."""
    return replace_text(run, show(run, value), show(run, old), show(run, new), -1 if count is None else count)


def count_words(run: Run, value: Any) -> int:
    """Count the words of the text: runs of letters, digits and `_`."""
    text = show(run, value)
    run.take(1 + 2 * len(text))
    return sum(1 for _ in re.finditer(r"\w+", text))


def truncate(run: Run, value: Any, length: int = 255, killwords: bool = False, end: str = "...", leeway: int | None = None) -> Any:
    """Shorten the text to at most `length` characters, `end` included.
    The cut is after a word, or anywhere with `killwords`. A text that is at most `leeway` characters too long stays as it is.
    """
    leeway = 5 if leeway is None else leeway
    if len(value) <= length + leeway:
        return value
    if value.__class__ is not str:
        refuse("PC0414", f"`truncate` takes a string, not {name_kind(value)}", _MAKE_TEXT)
    run.make(length)
    kept = value[: length - len(end)]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + end


def indent(run: Run, value: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    """Indent the lines of the text by `width` spaces, or by the text `width`.
    The first line is indented only with `first`, and empty lines only with `blank`.
    """
    if value.__class__ is not str:
        check_defined(value)
        refuse("PC0414", f"`indent` takes a string, not {name_kind(value)}", _MAKE_TEXT)
    before = width if isinstance(width, str) else " " * width
    lines = split_lines(run, value + "\n")
    run.make(len(value) + (len(lines) + 1) * len(before))
    every = bool(blank)
    rest = [before + line if every or line else line for line in lines[1:]]
    return (before if first else "") + "\n".join([lines[0], *rest])


def format_values(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> str:
    """Fill in the places of the text, `%s` and the like, with the arguments."""
    return format_percent(run, show(run, value), kwargs or args)


def truncate_at(run: Run, value: Any, boundary: Any = "word", *, chars: int | None = None, tokens: int | None = None) -> str:
    """Shorten the text to at most `chars` characters or `tokens` tokens, with its end at a `boundary`.
    A text that is short enough stays as it is. If its first unit alone is too long, the next finer boundary is tried (paragraph, sentence,
    line, word, token). If not even a token fits, the result is empty.
    """
    text = show(run, value)
    if tokens is not None:
        return _cut_tokens(run, text, boundary, tokens)
    return _cut_characters(run, text, boundary, chars or 0)


def sentences_about(run: Run, value: Any, texts: Any, most: Any = 1) -> str:
    """Keep the `most` sentences that share the rarest words with `texts` (a text or a list of texts), in their order.
    A word that n of N texts contain weighs N / n, rounded down, and counts once in a sentence. Of equal sentences the earlier one is kept.
    If no sentence shares a word, the first one is kept.
    """
    text = show(run, value)
    weights = _weigh_words(run, [texts] if texts.__class__ is str or not hasattr(texts, "__iter__") else pay_each(run, texts, 8))
    run.take(1 + 4 * len(text))
    first, last = trim_span(text)
    gaps = list(iter_gaps(text, "sentence", (first, last), ())) if first < last else []
    spans = list(zip([first, *(gap.start for gap in gaps)], [*(gap.stop for gap in gaps), last], strict=True))
    scores = [sum(weights.get(word, 0) for word in _list_words(run, text[start:stop])) for start, stop in spans]
    found = sorted(range(len(spans)), key=lambda place: (-scores[place], place))[: int(most)]
    chosen = sorted(place for place in found if scores[place]) or found[:1]
    made = "".join(_join_sentence(text, spans, place, chosen) for place in chosen)
    run.make(len(made))
    return made


def _join_sentence(text: str, spans: Sequence[tuple[int, int]], place: int, chosen: Sequence[int]) -> str:
    """Return a sentence and the gap before the next chosen one: the original gap, or a space if sentences between them are left out."""
    start, stop = spans[place]
    if place == chosen[-1]:
        return text[start:stop]
    return text[start : spans[place + 1][0]] if place + 1 in chosen else text[start:stop] + " "


def _weigh_words(run: Run, texts: Any) -> dict[str, int]:
    count, held = 0, dict[str, int]()
    for text in texts:
        count += 1
        for word in _list_words(run, text):
            held[word] = held.get(word, 0) + 1
    return {word: count // number for word, number in held.items()}


def _list_words(run: Run, value: Any) -> frozenset[str]:
    from promptc.template.runtime.filters.values import normalize_text

    words = normalize_text(run, value).split(" ")
    run.take(2 * len(words))
    return frozenset(word for word in words if word)


def _cut_characters(run: Run, text: str, boundary: Any, limit: int) -> str:
    if len(text) <= limit:
        return text
    run.take(1 + 4 * len(text))
    for kept in iter_kept(text, list_boundaries([boundary]), token_ends=lambda: _list_ends(run, text)):
        if kept.stop <= limit:
            return text[: kept.stop]
    return ""


def _cut_tokens(run: Run, text: str, boundary: Any, limit: int) -> str:
    if count_tokens(run, text) <= limit:
        return text
    run.take(1 + 4 * len(text))
    ends = _list_ends(run, text)
    # A cut that ends several tokens after the limit cannot fit, so only a few cuts are counted, however long the text is.
    reach = ends[min(limit + _SLACK, len(ends) - 1)] if ends else 0
    for kept in iter_kept(text, list_boundaries([boundary]), token_ends=ends):
        if kept.stop <= reach and count_tokens(run, text[: kept.stop]) <= limit:
            return text[: kept.stop]
    return ""


def _list_ends(run: Run, text: str) -> Sequence[int]:
    run.take(price_count(text))
    return range(1, len(text) + 1) if run.counter is None else run.counter.token_ends(text)


def count_tokens(run: Run, value: Any) -> int:
    """Count the tokens of the text with the pack's counter."""
    assert run.counter is not None, "whoever renders a pack brings its counter"
    text = show(run, value)
    run.take(price_count(text))  # random letters and rare characters take the counter microseconds each
    return -(-run.counter.measure(text) // run.counter.unit)


def mark_links(
    run: Run,
    value: Any,
    trim_url_limit: int | None = None,
    nofollow: bool = False,
    target: str | None = None,
    rel: str | None = None,
    extra_schemes: Any = None,
) -> str:
    """Escape the text as HTML, and make every address in it a link. Punctuation around an address is not part of the link."""
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


def _write_attributes(run: Run, nofollow: bool, rel: Any, target: Any) -> str:
    run.take(len(rel) if rel.__class__ is str else 1)
    words = {"noopener", *(rel or "").split(), *(("nofollow",) if nofollow else ())}
    written = f' rel="{escape(run, " ".join(sorted(words)))}"'
    return written + (f' target="{escape(run, target)}"' if target else "")


def _mark(word: str, limit: int | None, attributes: str, schemes: Sequence[str]) -> str:
    head = _count_head(word)
    tail = _balance(word, head, _count_tail(word, head))
    middle = word[head:tail]
    return f"{word[:head]}{_link(middle, limit, attributes, schemes)}{word[tail:]}"


def _count_head(word: str) -> int:
    """Return the offset at which the opening brackets at the beginning end."""
    head = 0
    while True:
        if word.startswith(("(", "<"), head):
            head += 1
        elif word.startswith("&lt;", head):
            head += 4
        else:
            return head


def _count_tail(word: str, head: int) -> int:
    """Return the offset at which the closing brackets, full stops and commas at the end begin."""
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
    """Return the end of the address, moved past closing brackets whose opening brackets are in the address."""
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


def escape(run: Run, value: Any) -> str:
    """Escape `&`, `<`, `>`, `'` and `"` as HTML does."""
    text = show(run, value)
    run.make(len(text) + sum(text.count(sign) * len(written) for sign, written in _ESCAPES))
    for sign, written in _ESCAPES:
        text = text.replace(sign, written)
    return text


def strip_tags(run: Run, value: Any) -> str:
    """Remove tags and comments, replace each run of white space with a space, and decode `&amp;` and the like."""
    text = show(run, value)
    run.take(1 + len(text))
    text = " ".join(_drop_tags(text).split())
    if "&" not in text:
        return text
    from html import unescape

    return unescape(text)


def _drop_tags(text: str) -> str:
    """Return the text without tags, in one pass. An unclosed `<` stays, with everything after it."""
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
    """Encode a text for the path of a URL, or a mapping or pairs for its query."""
    if value.__class__ is str or not hasattr(value, "__iter__"):
        return _quote(run, value, _IN_PATH)
    pairs = value.items() if value.__class__ is dict else value
    quoted = []
    for pair in pay_each(run, pairs, 8):
        key, part = pair
        quoted.append(f"{_quote(run, key, _IN_QUERY)}={_quote(run, part, _IN_QUERY)}")
    run.make(sum(map(len, quoted)))
    return "&".join(quoted)


def _quote(run: Run, value: Any, written: list[str]) -> str:
    """Return each byte of the text in UTF-8 as `written` spells it."""
    text = show(run, value)
    run.make(len(text) * (3 if text.isascii() else 12))
    return "".join(map(written.__getitem__, text.encode("utf-8")))


def write_attributes(run: Run, d: Any, autospace: bool = True) -> str:
    """Convert a mapping to the attributes of a tag, with a space before them unless `autospace` is false.
    Values that are none or undefined are left out.
    """
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
        refuse("PC0414", f"{name_kind(key)} cannot be the name of an attribute", "use a string")
    run.take(len(key) >> 3)
    if any(sign in key for sign in " \t\n\r\f\v/>="):
        refuse("PC0424", f"`{key[:80]}` cannot be the name of an attribute", "leave out white space, `/`, `>` and `=`")


def wrap(
    run: Run,
    value: Any,
    width: int = 79,
    break_long_words: bool = True,
    wrapstring: str | None = None,
    break_on_hyphens: bool = True,
) -> str:
    """Wrap the text to lines of at most `width` characters."""
    from textwrap import wrap

    if value.__class__ is not str:
        check_defined(value)
        refuse("PC0414", f"`wordwrap` takes a string, not {name_kind(value)}", "make it a string first: `| string`, `| join`")
    between = "\n" if wrapstring is None else wrapstring
    run.take(1 + 100 * len(value))  # the search of `textwrap` goes back and forth
    run.make(len(value) * (1 + len(between)))
    lines = [
        wrap(
            line,
            width=width,
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=break_long_words,
            break_on_hyphens=break_on_hyphens,
        )
        for line in value.splitlines()
    ]
    return between.join([between.join(paragraph) for paragraph in lines])


FILTERS: dict[str, Callable[..., Any]] = {
    "upper": upper,
    "lower": lower,
    "capitalize": capitalize,
    "title": title,
    "trim": trim,
    "string": show_value,
    "center": center,
    "replace": replace,
    "wordcount": count_words,
    "truncate": truncate,
    "indent": indent,
    "format": format_values,
    "truncate_at": truncate_at,
    "sentences_about": sentences_about,
    "tokens": count_tokens,
    "urlize": mark_links,
    "escape": escape,
    "e": escape,
    "forceescape": escape,
    "safe": show_value,
    "striptags": strip_tags,
    "urlencode": url_encode,
    "xmlattr": write_attributes,
    "wordwrap": wrap,
}
