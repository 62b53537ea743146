"""Keeps content from being read as structure: escapes fences, special tokens and invisible characters, reversibly (contract.md §10).

`Guard` does all of this for one render; `SpecialTokens` escapes special tokens; the functions find and escape invisible characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, groupby
from operator import itemgetter

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Literal
from promptc.text.characters import compile_later, convert_form

Policy = Literal["escape", "reject", "keep"]
InvisiblePolicy = Literal["replace_hidden", "escape", "reject", "keep"]
Kind = Literal["fence", "special_token", "hidden_text", "invisible", "lookalike"]

REPLACEMENT = "\ufffd"
"""The text that replaces hidden text."""

LONGEST = 200
"""The maximum length of a special token, in characters."""
_BREAKS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"  # where str.splitlines splits lines
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_LINE = rf"(?:^|(?<=[{_BREAKS}]))([^\S{_BREAKS}]*+)"
_DISTINCT = 20
_RARE = 32
_ASCII = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f"
_OTHERS = (
    "\\x80-\\x9f\\xad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e\\u200b\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb"
    "\\U0001d173-\\U0001d17a\\U000e0000-\\U000e00ff\\U000e01f0-\\U000e0fff"
)

_FLAG = (
    "\\U0001f3f4\\U000e0067\\U000e0062"
    "(?:\\U000e0065\\U000e006e\\U000e0067|\\U000e0073\\U000e0063\\U000e0074|\\U000e0077\\U000e006c\\U000e0073)\\U000e007f"
)
"""The three flags that Unicode recommends: England (gbeng), Scotland (gbsct) and Wales (gbwls). Other flags could spell any text."""
_SPELT = 200
_IDEOGRAPHS = "\\u3400-\\u9fff\\uf900-\\ufaff\\U00020000-\\U0003ffff"
_ANY = "\\ufe00-\\ufe0f\\U000e0100-\\U000e01ef"
_STRAY = (
    f"[\\U000e0120-\\U000e01ef\\ufe07-\\ufe0d]|(?<=[{_ANY}])[{_ANY}]|(?<![{_IDEOGRAPHS}])[\\U000e0100-\\U000e011f]"
    "|(?<![\\U00013000-\\U000143ff])[\\ufe03-\\ufe06]|(?<![0\\x80-\\U0010ffff])[\\ufe00-\\ufe02]"
)

_SEEN = b"\t\n\r" + bytes(range(32, 127))
"""The bytes of ASCII characters that are not invisible."""

_BEGINNINGS = (b"\xf3\xa0", b"\xef\xb8")
"""The first two UTF-8 bytes of tags and of variation selectors."""
_TAGS, _SELECTORS = 0xE0000, 0xE0100 - 16
_CODE = r"u\{([0-9a-f]{1,6})\}"

_NAME = r"""[^\s|<>"]{1,100}"""
_WIDE_NAME = '[^\\s\uff5c<>"]{1,100}'

_ANY_TOKEN = {"<": (rf"\|{_NAME}\|>", f"\uff5c{_WIDE_NAME}\uff5c>")}
"""Families of tokens, as patterns of what follows their first character: `<|name|>`, and DeepSeek's with full-width bars.

Names have no quotation marks: two texts inside JSON cannot form a token together.
"""
_BARS = "|\uff5c"
_ANY_PIECES = tuple((begun, end) for bar in _BARS for begun, end in (("<", f"{bar}>"), (f"<{bar}", ">")))
"""Where a text can divide a token of those families."""

_TURNS = "turn channel tool tool_call tool_response image audio".split()
_USUAL = (
    *"<s> </s> <bos> <eos> <pad> <unk> <<SYS>> <</SYS>> <start_of_turn> <end_of_turn>".split(),
    *"[INST] [/INST] [SYSTEM_PROMPT] [/SYSTEM_PROMPT]".split(),
    *"[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [/TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS]".split(),
    *(f"<|{name}>" for name in _TURNS),
    *(f"<{name}|>" for name in _TURNS),
)
_FORMAT = compile_later("[\\xad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f]")


@frozen
class Finding:
    """Something that a guard found in a text.

    A finding has a kind, the text that was found, its first line (from 1), the policy that was applied, and the number of occurrences.

    A `lookalike` reads as a fence or a special token if compatibility forms are folded and invisible characters left out; for a fence, case
    and white space are ignored too. A lookalike is never changed. `hidden_text` is a run of invisible characters that spell `text`.
    """

    kind: Kind
    text: str
    line: int
    policy: InvisiblePolicy
    count: int = 1


class Guard:
    """Escapes fences of one render, special tokens and invisible characters in content.

    `fences` are the texts of all fences, opening and closing; `prefixes` the literal beginnings of fences that are not fully known. Each
    line of a fence is guarded separately, without the white space around it; an empty line guards nothing. A fence that consists only of
    backslashes cannot be guarded. `tokens` are the special tokens of the pack's counter, in addition to the usual ones.

    With `guards_ends`, a special token that begins at the end of a text, and a last line that begins a fence, are escaped too, so that a
    text joined to it without a line end cannot complete them. `in_messages` says, to callers that guard parts, that the parts are emitted
    as such: parts that their maker signed are reported but not changed. The policy `replace_hidden` replaces characters that hide text by
    U+FFFD, which `unguard` cannot undo, and keeps other invisible characters.
    """

    def __init__(
        self,
        fences: Iterable[str] = (),
        prefixes: Iterable[str] = (),
        *,
        fence_policy: Policy = "escape",
        token_policy: Policy = "escape",
        invisible_policy: InvisiblePolicy = "keep",
        tokens: Iterable[str] = (),
        guards_ends: bool = False,
        in_messages: bool = False,
    ) -> None:
        lines = {line.strip() for fence in (*fences, *prefixes) for line in fence.splitlines()}
        self._fences = tuple(sorted(lines - {""}))
        self._shared = _shared_beginning(self._fences)
        self._firsts = frozenset(fence[0] for fence in self._fences)
        self._squeezed = tuple(map(_squeeze, self._fences))
        self._fence_policy = fence_policy
        self._token_policy = token_policy
        self._invisible_policy = invisible_policy
        self._tokens = load_special_tokens(tuple(tokens))
        self._reach = max(LONGEST, *map(len, self._fences), 0)
        self._beginnings = (*self._tokens.firsts, *sorted(self._firsts))
        self._harmless = _SEEN.translate(None, "".join(("\\", *self._beginnings)).encode("utf-8", "surrogatepass"))
        self.guards_ends = guards_ends
        self.in_messages = in_messages
        either = "|".join(map(re.escape, self._fences))
        self._line = compile_later(rf"{_LINE}(?=\\*(?:{either}))")
        self._escaped_line = compile_later(rf"{_LINE}\\(\\*)(?={either})")

    def guard(self, text: str, *, goes_on: bool | None = None) -> tuple[str, tuple[Finding, ...]]:
        """Return `text`, escaped as the policies say, and the findings. With the escape policy, no line of the result reads as a fence.

        `goes_on` overrides `guards_ends` for this text: whether its end is guarded.
        """
        if self._is_harmless(text):
            return text, ()
        findings = tuple(self._iter_findings(text))
        guards_ends = self.guards_ends if goes_on is None else goes_on
        if not findings and "\\" not in text:
            return (self._escape_end(text) if guards_ends else text), ()
        return self._escape(text, guards_ends), findings

    def leaves(self, text: str) -> bool:
        """Return whether `guard` returns `text` unchanged, without searching for what is only reported."""
        return self._is_harmless(text) or self._escape(text, self.guards_ends) == text

    def _is_harmless(self, text: str) -> bool:
        """Return True only if nothing is found in the text or begins there: a cheap test that most texts of words pass."""
        return text.isascii() and not text.encode().translate(None, self._harmless)

    def is_inert(self, text: str) -> bool:
        """Return True only if `guard` leaves every part of `text` unchanged, and every text joined from parts of such texts."""
        if self._is_harmless(text):
            return True
        if "\\" in text or _holds(text, self._beginnings):
            return False
        if self._invisible_policy not in ("escape", "replace_hidden"):
            return True
        if _may_select(text):
            return False
        return self._invisible_policy == "replace_hidden" or next(iter_invisible(text), None) is None

    def _escape(self, text: str, guards_ends: bool) -> str:
        text = self._guard_invisible(text)
        if self._token_policy == "escape":
            text = self._tokens.escape(text)
        if self._fence_policy == "escape" and self._may_fence(text):
            text = self._line.sub(r"\1\\", text)
        return self._escape_end(text) if guards_ends else text

    def _escape_end(self, text: str) -> str:
        if not self._may_begin(text):
            return text
        if self._token_policy == "escape":
            text = self._tokens.escape_end(text)
        return self._guard_last_line(text) if self._fence_policy == "escape" else text

    def _may_begin(self, text: str) -> bool:
        """Return False only if nothing begins near the end of the text: a cheap test, as most texts end in words."""
        return _holds(text[-self._reach :], self._beginnings)

    def _guard_invisible(self, text: str) -> str:
        if self._invisible_policy == "replace_hidden":
            return replace_hidden(text)
        return escape_invisible(text) if self._invisible_policy == "escape" else text

    def guard_fence(self, line: str, before: str, after: str) -> tuple[str, tuple[Finding, ...]]:
        """Escape a fence that contains data; return it with the findings.

        The fence begins with `before` and ends with `after`, both from the manifest. Between the two, the text of a fence and `after`
        itself get a backslash. So does a special token that is not entirely in `before` or in `after`: the manifest did not write a token
        that it begins and the data ends.
        """
        data = line[len(before) : len(line) - len(after)]
        findings = list(self._iter_invisible(data))
        line = f"{before}{self._guard_invisible(data)}{after}"
        stop = len(line) - len(after)
        tokens = [start for start, end in self._tokens.iter_bare(line) if end > len(before) and start < stop]
        findings += _sum_up("special_token", self._token_policy, line, ((at, line[at : at + 60]) for at in tokens))
        texts = [*self._fences, *([after] if after and not after.isalnum() else [])]
        met = {found.start() for one in texts for found in re.finditer(rf"\\*{re.escape(one)}", line[len(before) : stop])}
        fenced = [len(before) + at for at in sorted(met)]
        findings += _sum_up("fence", self._fence_policy, line, ((at, line[at : at + 60]) for at in fenced))
        places = [at + 1 for at in tokens] if self._token_policy == "escape" else []
        places += fenced if self._fence_policy == "escape" else []
        for at in sorted({*places}, reverse=True):
            line = f"{line[:at]}\\{line[at:]}"
        return line, tuple(findings)

    def iter_marks(self, text: str) -> Iterator[tuple[Kind, int, int]]:
        """Yield the kind, start and end of the structure in a joined text: fences that begin a line, and special tokens.

        A kind whose policy is `keep` is left out, as content may have it.
        """
        if self._fence_policy != "keep" and self._may_fence(text):
            is_rare = _is_rare(text, self._shared)
            for at in _iter_places(text, self._shared) if is_rare else (found.end() for found in self._line.finditer(text)):
                if text.startswith(self._fences, at) and _begins_line(text, at):
                    yield from (("fence", at, at + len(fence)) for fence in self._fences if text.startswith(fence, at))
        if self._token_policy != "keep":
            yield from (("special_token", start, end) for start, end in self._tokens.iter_bare(text))

    def part_divided(self, text: str) -> str:
        """Return the text in which no special token can come about by removing characters between its pieces.

        A text without such pieces is returned unchanged. Otherwise a backslash follows the first character of each beginning of a token
        whose end is later in the text.
        """
        return self._tokens.part_divided(text) if self._token_policy != "keep" else text

    def may_go_on(self, text: str) -> bool:
        """Return whether structure begins at the end of the text, escaped or not, that text joined to it could complete.

        A kind whose policy is `keep` does not count. False proves that no mark of two joined texts begins in the first and ends in the
        second.
        """
        if not self._may_begin(text):
            return False
        begins_fence = self._fence_policy != "keep" and self._guard_last_line(text) != text
        return begins_fence or (self._token_policy != "keep" and next(self._tokens.iter_begun(text), None) is not None)

    def _guard_last_line(self, text: str) -> str:
        """Escape a last line that is only the beginning of a fence, which later text could complete."""
        start = max(map(text.rfind, _LINE_ENDS)) + 1
        line = text[start:].lstrip()
        bare = line.lstrip("\\")
        if bare and any(fence != bare and fence.startswith(bare) for fence in self._fences):
            return f"{text[: len(text) - len(line)]}\\{line}"
        return text

    def unguard(self, text: str) -> str:
        """Return the text that `guard` received, except for what it replaced."""
        if self._fence_policy == "escape" and self._may_fence(text):
            text = self._escaped_line.sub(r"\1\2", text)
        if self._token_policy == "escape":
            text = self._tokens.unescape(text)
        if self._invisible_policy == "escape":
            text = restore_invisible(text)
        return text

    def _may_fence(self, text: str) -> bool:
        """Return False only if no line can be that of a fence: a cheap test, as most content has nothing like a fence."""
        return _begins(text, self._shared, self._fences)

    def _iter_findings(self, given: str) -> Iterator[Finding]:
        text = replace_hidden(given) if self._invisible_policy == "replace_hidden" else given
        if self._may_fence(text):
            yield from _sum_up("fence", self._fence_policy, text, self._iter_fences(text))
        if self._tokens.may_hold(text):
            yield from _sum_up("special_token", self._token_policy, text, self._tokens.iter_met(text))
        yield from self._iter_invisible(given)
        if not text.isascii() or _holds(text, self._firsts):
            policy: Policy = "reject" if self._fence_policy == "reject" else "keep"
            yield from _sum_up("lookalike", policy, text, self._iter_lookalikes(text))

    def _iter_invisible(self, text: str) -> Iterator[Finding]:
        if text.isascii() and not text.encode().translate(None, _SEEN):
            return
        policy, seen = self._invisible_policy, replace_hidden(text)
        if seen is not text:
            yield from _sum_up("hidden_text", policy, text, iter_hidden(text))
        yield from _sum_up("invisible", "keep" if policy == "replace_hidden" else policy, seen, iter_invisible(seen))

    def _iter_fences(self, text: str) -> Iterator[tuple[int, str]]:
        for found in self._line.finditer(text):
            yield found.end(), text[found.end() : found.end() + 200].splitlines()[0]

    def _iter_lookalikes(self, text: str) -> Iterator[tuple[int, str]]:
        squeezed = _squeeze(text)
        if not any(one in squeezed for one in self._squeezed) and (text.isascii() or not self._tokens.may_hold(_fold(text))):
            return
        place = 0
        for line in text.splitlines(keepends=True):
            if self._is_lookalike(line):
                yield place, line[:200].strip()
            place += len(line)

    def _is_lookalike(self, line: str) -> bool:
        if _squeeze(line).startswith(self._squeezed):
            return not line.strip().lstrip("\\").startswith(self._fences)
        return not line.isascii() and sum(1 for _ in self._tokens.iter_bare(_fold(line))) > sum(1 for _ in self._tokens.iter_bare(line))


@lru_cache(maxsize=16)
def make_guard(fences: tuple[str, ...], prefixes: tuple[str, ...], **rules: Any) -> Guard:
    """Return a guard with these arguments, `rules` by name. Equal arguments return the same object from a cache."""
    return Guard(fences, prefixes, **rules)


@lru_cache(maxsize=32)
def guard_again(guard: Guard, text: str) -> tuple[str, tuple[Finding, ...]]:
    """Return `guard.guard(text)` from a cache, for texts that every render of a pack has."""
    return guard.guard(text)


def _holds(text: str, ones: Iterable[str]) -> bool:
    """Return whether the text contains one of `ones`."""
    for one in ones:  # noqa: SIM110  # a generator takes three times as long
        if one in text:
            return True
    return False


def _begins(text: str, shared: str, ones: tuple[str, ...]) -> bool:
    """Return whether the text contains one of `ones`, which all begin with `shared`. If `shared` is rare, only its places are checked."""
    at = text.find(shared)
    if at >= 0 and not _is_rare(text, shared):
        return _holds(text, ones)
    while at >= 0:
        if text.startswith(ones, at):
            return True
        at = text.find(shared, at + 1)
    return False


def _is_rare(text: str, one: str) -> bool:
    return text.count(one) < _RARE + len(text) // _RARE


def _iter_places(text: str, one: str) -> Iterator[int]:
    at = text.find(one)
    while at >= 0:
        yield at
        at = text.find(one, at + 1)


def _begins_line(text: str, at: int) -> bool:
    """Return whether only white space precedes the place in its line."""
    while at and text[at - 1] not in _LINE_ENDS:
        at -= 1
        if not text[at].isspace():
            return False
    return True


def _fold(text: str) -> str:
    """Return `text` with compatibility forms as plain ones and without format characters, as a reader may see it."""
    return text if text.isascii() else convert_form("NFKC", _FORMAT.sub("", text))


def _squeeze(text: str) -> str:
    """Return `text` as a reader may see it who ignores case and white space (see `_fold`)."""
    return "".join(_fold(text).casefold().split())


def _shared_beginning(fences: tuple[str, ...]) -> str:
    if not fences:
        return ""
    first, last = fences[0], fences[-1]  # fences are sorted
    return first[: next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))]


def _sum_up(kind: Kind, policy: InvisiblePolicy, text: str, places: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    """Yield a finding for each distinct text, with its first line; at most `_DISTINCT` findings."""
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


_IN_ASCII = compile_later(f"[{_ASCII}]")
_FOUND = compile_later(f"{_FLAG}|([{_ASCII}{_OTHERS}])")

_MAY_HIDE = compile_later(f"[\\U000e0000-\\U000e007f\\U000e0100-\\U000e01ef\\ufe00-\\ufe0d]|[\\ufe0e\\ufe0f](?:[{_ANY}]|(?<=^.))")
"""Matches characters that need a closer look, which takes ten times as long. Selectors after emoji are common, and stand alone."""
_HIDDEN = compile_later(f"({_FLAG})|(?:[\\U000e0000-\\U000e007f]|{_STRAY})+")
_TO_ESCAPE = compile_later(rf"{_FLAG}|(?<!\\)(\\*+)(?:([{_ASCII}{_OTHERS}]|{_STRAY})|(?={_CODE}))")
_TO_RESTORE = compile_later(rf"(?<!\\)(\\++){_CODE}")


def iter_invisible(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place and the name (`U+200B`) of every invisible character."""
    pattern = _IN_ASCII if text.isascii() else _FOUND
    for found in pattern.finditer(text):
        if pattern is _IN_ASCII or found[1]:
            yield found.start(), f"U+{ord(found[0]):04X}"


def escape_invisible(text: str) -> str:
    """Return the text with every invisible character as `\\u{...}`.

    Backslashes before such a character, or before text that looks like an escape, are doubled, so that the escape can be undone.
    """
    if "\\" not in text and next(iter_invisible(text), None) is None and not may_hide(text):
        return text
    return _TO_ESCAPE.sub(_escaped, text)


def restore_invisible(text: str) -> str:
    """Return the text that `escape_invisible` received."""
    return _TO_RESTORE.sub(_restored, text) if "\\u{" in text else text


def iter_hidden(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place of every run of characters that hides text, and what its first 200 spell; `?` for all but printable ASCII."""
    if may_hide(text):
        for found in _HIDDEN.finditer(text):
            if found[1] is None:
                yield found.start(), "".join(map(_spell, found[0][:_SPELT]))


def replace_hidden(text: str) -> str:
    """Return `text` with `REPLACEMENT` for each run of characters that hides text.

    The result is never longer than `text`, in characters or in bytes, and a text of hidden characters alone does not become empty.
    """
    return _HIDDEN.sub(lambda found: found[1] or REPLACEMENT, text) if may_hide(text) else text


def may_hide(text: str) -> bool:
    """Return False only if the text hides none and has no character that could: a cheap test, as almost no text has one."""
    return _may_select(text) and _MAY_HIDE.search(text) is not None


def _may_select(text: str) -> bool:
    """Return False only if the text has no tags and no variation selectors."""
    if text.isascii():
        return False
    content = text.encode("utf-8", "surrogatepass")
    return any(one in content for one in _BEGINNINGS)


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


_BEGINNING = compile_later('\\|[^\\s|<>"]{0,100}\\|?|\uff5c[^\\s\uff5c<>"]{0,100}\uff5c?')


@lru_cache(maxsize=16)
def load_special_tokens(own: tuple[str, ...]) -> SpecialTokens:
    """Return the special tokens of a counter, from a cache that all guards share."""
    return SpecialTokens(own)


class SpecialTokens:
    """The usual special tokens and those of a counter (`own`).

    Tokens of a single character, of several lines or of more than 200 characters are left out. A token is escaped by a backslash after its
    first character, which is one of `firsts`. If backslashes follow it already, it gets one more. Objects are immutable, so threads may
    share one.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        fitting = {one for one in own if 1 < len(one) <= LONGEST and len(one.splitlines()) == 1 and one[0] != "\\" and not one.isspace()}
        self._texts = tuple(sorted({*_USUAL, *fitting}))
        self._by_first = {first: tuple(ones) for first, ones in groupby(self._texts, itemgetter(0))}
        self._begun = {first: (*ones, f"{first}\\", *(("<|", "<\uff5c") if first == "<" else ())) for first, ones in self._by_first.items()}
        self.firsts = tuple(self._by_first)
        rests = {first: "|".join((*_ANY_TOKEN.get(first, ()), *self._list_rests(first))) for first in self.firsts}
        # Patterns are slow to compile: one serves all uses, and most texts have no first character but `<`.
        self._others = tuple(first for first in self.firsts if first != "<")
        self._at, self._at_angle = _make_pattern(rests), _make_pattern({"<": rests["<"]})
        self._escaped = compile_later("|".join(rf"{re.escape(first)}(?=\\+(?:{rest}))\\" for first, rest in rests.items()))

    def _choose_pattern(self, text: str) -> re.Pattern[str]:
        return self._at if _holds(text, self._others) else self._at_angle

    def _list_rests(self, first: str) -> list[str]:
        return [re.escape(one[1:]) for one in self._by_first[first]]

    def may_hold(self, text: str) -> bool:
        """Return False only if no token begins in the text: a cheap test. Many texts contain `[` or `<`, few contain both."""
        for first, begun in self._begun.items():  # noqa: SIM110  # as in `_holds`
            if _begins(text, first, begun):
                return True
        return False

    def iter_met(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the tokens in a text, including escaped ones: the place and the text of each."""
        return ((start, text[start:end]) for start, end in self._iter_apart(text, are_bare=False))

    def iter_bare(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of the tokens that are not escaped."""
        return self._iter_apart(text, are_bare=True) if self.may_hold(text) else iter(())

    def _iter_apart(self, text: str, *, are_bare: bool) -> Iterator[tuple[int, int]]:
        """Yield the start and end of tokens that do not overlap; with `are_bare`, only of those that are not escaped."""
        last = 0
        for found in self._choose_pattern(text).finditer(text):
            rest = found.lastindex or 0
            if found.start() >= last and not (are_bare and found[rest - 1]):
                last = found.end(rest)
                yield found.start(), last

    def escape(self, text: str) -> str:
        """Return the text with every token escaped."""
        return self._choose_pattern(text).sub(r"\g<0>\\", text) if self.may_hold(text) else text

    def part_divided(self, text: str) -> str:
        """Return the text with each beginning of a token escaped whose end is later in the text (`Guard.part_divided`)."""
        beginnings = set()
        for first in self.firsts:
            if first not in text:
                continue
            pieces = [(one[:size], one[size:]) for one in self._by_first[first] for size in range(1, len(one)) if one[:size] in text]
            pieces += [one for one in _ANY_PIECES if one[0][0] == first and one[0] in text]
            beginnings |= {one for one, end in pieces if text.find(end, text.find(one) + len(one)) >= 0}
        for one in sorted(beginnings, key=len, reverse=True):
            text = text.replace(one, f"{one[0]}\\{one[1:]}")
        return text

    def unescape(self, text: str) -> str:
        """Return the text that `escape` received."""
        return self._escaped.sub(lambda found: found[0][:-1], text) if self.may_hold(text) else text

    def escape_end(self, text: str) -> str:
        """Return the text with every token escaped that `iter_begun` finds."""
        made, place = [], 0
        for at in self.iter_begun(text):
            made += [text[place : at + 1], "\\"]
            place = at + 1
        return "".join((*made, text[place:])) if made else text

    def iter_begun(self, text: str) -> Iterator[int]:
        """Yield the places near the end of the text where tokens begin, escaped or not, that later text could complete."""
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
        if first in _ANY_TOKEN and (not rest or (rest[0] in _BARS and _BEGINNING.fullmatch(rest))):
            return True
        return any(len(rest) < len(one) - 1 and one.startswith(rest, 1) for one in self._by_first[first])


def _make_pattern(rests: Mapping[str, str]) -> re.Pattern[str]:
    """Compile a pattern of tokens by their first characters.

    It has two groups for each: the backslashes after the first character, as few as possible, and the rest of the token.
    """
    return compile_later("|".join(rf"{re.escape(first)}(?=(\\*?)({rest}))" for first, rest in rests.items()))
