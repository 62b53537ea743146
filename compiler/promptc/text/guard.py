"""Keeping content from being read as structure: fences and special tokens in it are defused, reversibly (language.md §10)."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.text.compile_later import compile_later
from promptc.text.invisible import escape_invisible, iter_invisible, restore_invisible
from promptc.text.unicode_form import find_form

Policy = Literal["escape", "reject", "keep"]
Kind = Literal["fence", "special_token", "invisible", "lookalike"]

_BREAKS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"  # where str.splitlines parts lines
_LINE = rf"(?:^|(?<=[{_BREAKS}]))([^\S{_BREAKS}]*+)"
_NAME = r"[^\s|<>]{1,100}\|>"
_TOKEN = compile_later(rf"<(\\*)\|(?={_NAME})")
_BARE_TOKEN = compile_later(rf"<\|(?={_NAME})")
_TOKEN_HEAD = compile_later(r"<(\\*)\|(?=[^\s|<>]{0,100}\|?\Z)")
_TOKEN_TAIL = compile_later(rf"\A(\\*)\|(?={_NAME})")
_ESCAPED_TOKEN = compile_later(rf"<\\(\\*)\|(?={_NAME})")
_FORMAT = compile_later("[\\xad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f]")
_DISTINCT = 20


@frozen
class Finding:
    """Something in a text that a guard met: what kind, the text of it, its first line (from 1), what was done about it, and how often it
    is there.

    A `lookalike` reads as a fence or special token once compatibility forms are folded and invisible characters left out; it is never
    changed.
    """

    kind: Kind
    text: str
    line: int
    policy: Policy
    count: int = 1


class Guard:
    """Defuses the fences of one render, special tokens and invisible characters in content.

    `fences` are the texts of all fences, open and close; `prefixes` the literal beginnings of fences that are not known in full. Each
    line of one is guarded for itself, without the white space around it; what is left empty guards nothing. A fence that is a run of
    backslashes only cannot be guarded. With `guards_ends` the halves of a special token at either end of a text, and a last line that a
    fence begins with, are escaped too: for texts that are joined without a line end between them. `spares_signed` is for those who
    guard parts of messages: what its maker signed is reported, and left as it is.
    """

    def __init__(
        self,
        fences: Iterable[str] = (),
        prefixes: Iterable[str] = (),
        *,
        fence_policy: Policy = "escape",
        token_policy: Policy = "escape",
        invisible_policy: Policy = "keep",
        guards_ends: bool = False,
        spares_signed: bool = False,
    ) -> None:
        lines = {line.strip() for fence in (*fences, *prefixes) for line in fence.splitlines()}
        self._fences = tuple(sorted(lines - {""}))
        self._shared = _shared_beginning(self._fences)
        self._fence_policy = fence_policy
        self._token_policy = token_policy
        self._invisible_policy = invisible_policy
        self._guards_ends = guards_ends
        self.spares_signed = spares_signed
        either = "|".join(map(re.escape, self._fences))
        self._line = compile_later(rf"{_LINE}(?=\\*(?:{either}))")
        self._escaped_line = compile_later(rf"{_LINE}\\(\\*)(?={either})")

    def guard(self, text: str) -> tuple[str, tuple[Finding, ...]]:
        """`text` with what its policies escape escaped, and what was met. No line of it reads as a fence, unless that policy is another."""
        findings = tuple(self._iter_findings(text))
        if not findings and "\\" not in text and not self._guards_ends:
            return text, ()
        return self._escape(text), findings

    def leaves(self, text: str) -> bool:
        """True where `guard` gives `text` back; it tells so without looking for what is only reported."""
        return self._escape(text) == text

    def _escape(self, text: str) -> str:
        if self._invisible_policy == "escape":
            text = escape_invisible(text)
        if self._token_policy == "escape":
            text = _TOKEN.sub(r"<\\\1|", text)
            text = _guard_halves(text) if self._guards_ends else text
        if self._fence_policy == "escape" and self._may_fence(text):
            text = self._line.sub(r"\1\\", text)
        if self._fence_policy == "escape" and self._guards_ends:
            text = self._guard_last_line(text)
        return text

    def _guard_last_line(self, text: str) -> str:
        """Escapes a last line that is only the beginning of a fence: what is joined behind it could complete it."""
        start = max((found.end() for found in re.finditer(f"[{_BREAKS}]", text)), default=0)
        line = text[start:].lstrip()
        bare = line.lstrip("\\")
        if bare and any(fence != bare and fence.startswith(bare) for fence in self._fences):
            return f"{text[: len(text) - len(line)]}\\{line}"
        return text

    def unguard(self, text: str) -> str:
        """The text that `guard` was given."""
        if self._fence_policy == "escape" and self._may_fence(text):
            text = self._escaped_line.sub(r"\1\2", text)
        if self._token_policy == "escape":
            text = _ESCAPED_TOKEN.sub(r"<\1|", text)
        if self._invisible_policy == "escape":
            text = restore_invisible(text)
        return text

    def _may_fence(self, text: str) -> bool:
        """False only if no line can be a fence's: a cheap test, as most content has nothing like one."""
        return bool(self._fences) and self._shared in text and any(fence in text for fence in self._fences)

    def _iter_findings(self, text: str) -> Iterator[Finding]:
        if self._may_fence(text):
            yield from _sum_up("fence", self._fence_policy, text, self._iter_fences(text))
        if "<" in text and "|>" in text:
            yield from _sum_up("special_token", self._token_policy, text, _iter_tokens(text))
        yield from _sum_up("invisible", self._invisible_policy, text, iter_invisible(text))
        if not text.isascii():
            policy: Policy = "reject" if self._fence_policy == "reject" else "keep"
            yield from _sum_up("lookalike", policy, text, self._iter_lookalikes(text))

    def _iter_fences(self, text: str) -> Iterator[tuple[int, str]]:
        for found in self._line.finditer(text):
            yield found.end(), text[found.end() : found.end() + 200].splitlines()[0]

    def _iter_lookalikes(self, text: str) -> Iterator[tuple[int, str]]:
        folded = _fold(text)
        if folded == text or not ("<|" in folded or self._may_fence(folded)):
            return
        place = 0
        for line in text.splitlines(keepends=True):
            if not line.isascii() and self._is_lookalike(line):
                yield place, line[:200].strip()
            place += len(line)

    def _is_lookalike(self, line: str) -> bool:
        folded = _fold(line).strip()
        if folded.startswith(self._fences):
            return not line.strip().startswith(self._fences)
        return len(_BARE_TOKEN.findall(folded)) > len(_BARE_TOKEN.findall(line))


def _guard_halves(text: str) -> str:
    return _TOKEN_TAIL.sub(r"\\\1|", _TOKEN_HEAD.sub(r"<\\\1|", text))


def _fold(text: str) -> str:
    """What a reader who takes compatibility forms for the plain ones, and sees nothing of format characters, makes of `text`."""
    return find_form("NFKC", _FORMAT.sub("", text))


def _shared_beginning(fences: tuple[str, ...]) -> str:
    if not fences:
        return ""
    first, last = fences[0], fences[-1]  # they are sorted
    return first[: next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))]


def _iter_tokens(text: str) -> Iterator[tuple[int, str]]:
    for found in _TOKEN.finditer(text):
        yield found.start(), text[found.start() : text.index("|>", found.end()) + 2]


def _sum_up(kind: Kind, policy: Policy, text: str, places: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    """One finding for each text met, with its first line; no more than `_DISTINCT`."""
    first: dict[str, int] = {}
    counts: dict[str, int] = {}
    for place, found in places:
        if found in first or len(first) < _DISTINCT:
            first.setdefault(found, place)
            counts[found] = counts.get(found, 0) + 1
    if first:
        starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
        for found, place in first.items():
            yield Finding(kind, found, bisect_right(starts, place), policy, counts[found])
