"""Special tokens, as they are spelt out in a text: what a tokenizer or a chat template would take for structure (language.md §10)."""

import re
from collections.abc import Iterable, Iterator, Mapping

from promptc.text.compile_later import compile_later

_NAME = r"""[^\s|<>"]{1,100}"""
_WIDE_NAME = '[^\\s\uff5c<>"]{1,100}'
_ANY = {"<": (rf"\|{_NAME}\|>", f"\uff5c{_WIDE_NAME}\uff5c>")}
"""By first character, what follows it in the families of tokens: `<|name|>`, and DeepSeek's with full-width bars.

No name holds a quotation mark: two texts that stand in JSON make no token together.
"""

_BARS = "|\uff5c"
_BEGINNING = compile_later('\\|[^\\s|<>"]{0,100}\\|?|\uff5c[^\\s\uff5c<>"]{0,100}\uff5c?')
_TURNS = "turn channel tool tool_call tool_response image audio".split()
_USUAL = (
    *"<s> </s> <bos> <eos> <pad> <unk> <<SYS>> <</SYS>> <start_of_turn> <end_of_turn>".split(),
    *"[INST] [/INST] [SYSTEM_PROMPT] [/SYSTEM_PROMPT]".split(),
    *"[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [/TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS]".split(),
    *(f"<|{name}>" for name in _TURNS),
    *(f"<{name}|>" for name in _TURNS),
)
LONGEST = 200
"""Characters of a token, at most."""


class SpecialTokens:
    """The usual special tokens, and those of a counter (`own`), without any of a single character, of several lines or of more than 200.

    One is escaped by a backslash behind its first character, which is one of `firsts`. Where backslashes stand there already, it gets one
    more.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        fitting = {one for one in own if 1 < len(one) <= LONGEST and len(one.splitlines()) == 1 and one[0] != "\\" and not one.isspace()}
        self._texts = tuple(sorted({*_USUAL, *fitting}))
        self.firsts = tuple(sorted({one[0] for one in self._texts}))
        rests = {first: "|".join((*_ANY.get(first, ()), *self._find_rests(first))) for first in self.firsts}
        # Each pattern takes a while to compile: one does for all uses, and most texts hold no first character but `<`.
        self._others = tuple(first for first in self.firsts if first != "<")
        self._at, self._at_angle = _make_pattern(rests), _make_pattern({"<": rests["<"]})
        self._escaped = compile_later("|".join(rf"{re.escape(first)}(?=\\+(?:{rest}))\\" for first, rest in rests.items()))

    def _find_pattern(self, text: str) -> re.Pattern[str]:
        return self._at if any(first in text for first in self._others) else self._at_angle

    def _find_rests(self, first: str) -> list[str]:
        return [re.escape(one[1:]) for one in self._texts if one[0] == first]

    def may_hold(self, text: str) -> bool:
        """False only if no token begins in the text: a cheap test."""
        if not any(first in text for first in self.firsts):
            return False
        return "\\" in text or "<|" in text or "<\uff5c" in text or any(one in text for one in self._texts)

    def iter_met(self, text: str) -> Iterator[tuple[int, str]]:
        """The tokens in a text, escaped ones among them: where each begins, and what stands there."""
        return ((start, text[start:end]) for start, end in self._iter_apart(text, are_bare=False))

    def iter_bare(self, text: str) -> Iterator[tuple[int, int]]:
        """Where tokens stand that are not escaped, from the first character to the last."""
        return self._iter_apart(text, are_bare=True) if self.may_hold(text) else iter(())

    def _iter_apart(self, text: str, *, are_bare: bool) -> Iterator[tuple[int, int]]:
        """Tokens, none of which begins inside the one before; with `are_bare` those that are not escaped."""
        last = 0
        for found in self._find_pattern(text).finditer(text):
            rest = found.lastindex or 0
            if found.start() >= last and not (are_bare and found[rest - 1]):
                last = found.end(rest)
                yield found.start(), last

    def escape(self, text: str) -> str:
        """The text with every token escaped."""
        return self._find_pattern(text).sub(r"\g<0>\\", text) if self.may_hold(text) else text

    def unescape(self, text: str) -> str:
        """The text that `escape` was given."""
        return self._escaped.sub(lambda found: found[0][:-1], text) if self.may_hold(text) else text

    def escape_end(self, text: str) -> str:
        """The text with every token escaped that `iter_begun` finds."""
        made, place = [], 0
        for at in self.iter_begun(text):
            made += [text[place : at + 1], "\\"]
            place = at + 1
        return "".join((*made, text[place:])) if made else text

    def iter_begun(self, text: str) -> Iterator[int]:
        """Where tokens begin near the end of the text, escaped ones too, that what is joined behind it could complete."""
        start = max(0, len(text) - LONGEST)
        places = {first: at for first in self.firsts if (at := text.find(first, start)) >= 0}
        while places:
            first, at = min(places.items(), key=lambda place: place[1])
            if self._may_begin(first, text[at + 1 :].lstrip("\\")):
                yield at
            places[first] = text.find(first, at + 1)
            if places[first] < 0:
                del places[first]

    def _may_begin(self, first: str, rest: str) -> bool:
        if first in _ANY and (not rest or (rest[0] in _BARS and _BEGINNING.fullmatch(rest))):
            return True
        return any(len(rest) < len(one) - 1 and one[0] == first and one.startswith(rest, 1) for one in self._texts)


def _make_pattern(rests: Mapping[str, str]) -> re.Pattern[str]:
    """Tokens by their first characters. Two groups for each: the backslashes behind it, as few as will do, and the rest of the token."""
    return compile_later("|".join(rf"{re.escape(first)}(?=(\\*?)({rest}))" for first, rest in rests.items()))
