"""Where a text may be split, or two texts joined, without changing their tokens: the safe boundaries of cl100k_base and o200k_base.

Both vocabularies split a text by a pattern and merge bytes only inside what the pattern matched. No alternative of either pattern looks
back, so a place that no match can cross, and before which no match depends on what follows, parts the text into two that are counted
alone:

1. *After a line end*: the left text ends in CR or LF; the white space that the right one begins with holds neither, and other text
   follows in it. (`\\s*[\\r\\n]+` takes a white run exactly up to its last line end.) o200k_base: the right text does not begin with `/`,
   as ` ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*` goes on through it.
2. *Before a lone space*: the left text ends in something that is not white, the right one is a space and then something that is not
   white. (A space is taken first in a match or in a white run, never in the middle, and this run is one character long.)
3. *After a letter*: the left text ends in a letter, the right one begins with a digit or a mark of punctuation that is neither apostrophe
   nor `/`.

White space is the tokenizers' own, Unicode White_Space; `str.isspace` holds that and U+001C to U+001F, so it only errs towards "not
safe". Letters and punctuation are from blocks that have not changed for decades, so it does not matter which Unicode version the
tokenizer and Python follow.
"""

import re

_LETTER = "A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u00ff\\u0410-\\u044f\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fa5\\uac00-\\ud7a3"
_PUNCTUATION = '!"#$%&()*+,.:;<=>?@[]^_`{|}~-\\、。「」『』（），．：；？！…—“”«»'
_BREAKS = frozenset(_PUNCTUATION + "0123456789")
_BREAK = "[" + re.escape(_PUNCTUATION) + "0-9]"

_ENDS_IN_LETTER = re.compile(f"[{_LETTER}]")
_INDENT = re.compile(r"[^\S\r\n]+\S")
_INLINE = rf"(?<=\S)(?= \S)|(?<=[{_LETTER}])(?={_BREAK})"
_INNER = {
    True: re.compile(rf"(?<=[\r\n])(?=\S|[^\S\r\n]+\S)|{_INLINE}"),
    False: re.compile(rf"(?<=[\r\n])(?=[^\s/]|[^\S\r\n]+\S)|{_INLINE}"),
}


def is_boundary(left: str, right: str, *, slash: bool) -> bool:
    """Whether the place between two texts is one of the three; `slash`: a `/` may follow a line end. An empty text meets everything safely.

    If it holds for two texts it also does with more text before the left and after the right one."""
    if not left or not right:
        return True
    last, first = left[-1], right[0]
    if last in "\r\n":
        return (slash or first != "/") if not first.isspace() else _INDENT.match(right) is not None
    if first == " ":
        return len(right) > 1 and not last.isspace() and not right[1].isspace()
    return first in _BREAKS and _ENDS_IN_LETTER.match(last) is not None


def find_inner_boundary(text: str, *, slash: bool) -> tuple[int, int] | None:
    """The first and the last such place inside `text`, or None."""
    pattern = _INNER[slash]
    first = pattern.search(text, 1)
    if first is None:
        return None
    reach = 64
    while True:
        places = [found.start() for found in pattern.finditer(text, max(first.start(), len(text) - reach))]
        if places:
            return first.start(), places[-1]
        reach *= 8
