"""Counting with a tokenizer file of the Hugging Face kind (`hf:<file>`).

No other module imports `tokenizers`. This module is imported only if a pack names such a counter.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from unicodedata import category

from tokenizers import Encoding, Tokenizer
from tokenizers.models import BPE, Unigram
from tokenizers.pre_tokenizers import ByteLevel

from promptc.diag.findings import Span, fail, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.text.counters.counter import Refusing, TokenCounter
from promptc.text.json import render_digest


class HfCounter(TokenCounter):
    """Counts the tokens that the tokenizer makes of a text alone.

    The counter adds nothing before or after the text, neither truncates nor pads it, and skips no merge at random (BPE's `dropout`). It
    refuses a text (PC0184) if a visible character, or a byte of one, has no part in any token: the count would be too low, and 0 in the
    extreme case. Characters that a normalizer merges into one do have a part in it. Tokenizers can normalize and split in any way, so no
    boundary is known to be safe.
    """

    bytewise = False

    def __init__(self, name: str, digest: str, tokenizer: Tokenizer, raw: bytes) -> None:
        _steady(tokenizer)
        tokenizer.encode_special_tokens = True  # despite its name: encode special tokens in a text as ordinary text
        self.special_tokens = tuple(sorted(one.content for one in tokenizer.get_added_tokens_decoder().values() if one.special))
        super().__init__(name, digest)
        self._raw = raw
        self._tokenizer = tokenizer
        self._reading = _TokenizerReading(tokenizer)

    def measure(self, text: str) -> int:
        """Return the number of tokens."""
        return len(self._encode(text).ids)

    def measure_framed(self, text: str) -> int:
        """Return the number of tokens, with special tokens as the tokenizer finds them; nothing is added before or after."""
        with Refusing("PC0184", f"`{self.name}` cannot count a text of {len(text)} characters", None, _HELP):
            return len(self._framing.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _framing(self) -> Tokenizer:
        """A second copy of the tokenizer: reading special tokens is a setting of the whole tokenizer."""
        return _steady(Tokenizer.from_buffer(self._raw))

    def iter_starts(self, text: str) -> Sequence[int]:
        """Return the offset of every token in UTF-8 bytes; for a token inside a character, that of the character.

        The offsets never decrease.
        """
        starts, place, last = [], 0, 0
        for start, _ in self._spans(text):
            if start > last:
                place += len(text[last:start].encode())
                last = start
            starts.append(place)
        return starts

    def token_ends(self, text: str) -> Sequence[int]:
        """Return the token ends as character offsets.

        Text that no token covers, such as dropped white space, goes with the token before it.
        """
        starts = [start for start, _ in self._spans(text)][1:]
        ends = sorted({start for start in starts if 0 < start < len(text)} | ({len(text)} if text else set()))
        return [end for end in ends if text[end - 1 : end + 1] != "\r\n"]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = self._encode(text).offsets
        return spans

    def _encode(self, text: str) -> Encoding:
        with Refusing("PC0184", f"`{self.name}` cannot count a text of {len(text)} characters", None, _HELP):
            encoding = self._tokenizer.encode(text, add_special_tokens=False)
            left_out = _read_left_out(text, encoding.offsets, self._reading) or self._reading.read_unknown(text)
        if left_out:
            why = f"it drops what it has no token for, near `{left_out[:20]}`"
            raise fail("PC0184", f"`{self.name}` cannot count a text of {len(text)} characters: {why}", help=_HELP)
        return encoding


def _steady(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer without truncation, padding and random skipping of merges."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if isinstance(tokenizer.model, BPE):
        tokenizer.model.dropout = None
    return tokenizer


_HELP = "use a tokenizer that covers all text: one that works on bytes, or has an unknown token"


class _TokenizerReading:
    """What the model of a tokenizer receives of a text, and which characters of it the model cannot read."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._normalizer, self._splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
        self.dropped = "Z" if tokenizer.normalizer is None else "CMZ"
        self._units = _find_units(tokenizer)
        self._added = [one.content for one in tokenizer.get_added_tokens_decoder().values() if one.content and not one.special]

    def split(self, text: str) -> list[str]:
        """Return the words that the model receives."""
        normalized = self._normalizer.normalize_str(text) if self._normalizer is not None else text
        return [word for word, _ in self._splitter.pre_tokenize_str(normalized)] if self._splitter is not None else [normalized]

    def read_unknown(self, text: str) -> str:
        """Return the first characters that the model drops silently; empty if it drops none.

        The model drops a character that is not white space if it has neither a token for it nor an unknown token. Token offsets do not
        reveal them: inside a word, the offsets after a dropped character are wrong, and a single byte of a character may be dropped.
        """
        if self._units is None:
            return ""
        for content in self._added:
            text = text.replace(content, " ")
        words = self.split(text)
        if not self._units.lacks("".join(words)):
            return ""
        return next(filter(None, (self._units.read_unknown(word) for word in words)), "")

    def is_lost(self, text: str, place: int) -> bool:
        """Return whether the model receives the same text without the character at `place`.

        If so, a normalizer or a splitter removed the character, and did not merge it with its neighbours. Only the text nearby is compared.
        """
        before, behind = text[max(0, place - _NEAR) : place], text[place + 1 : place + 1 + _NEAR]
        return "".join(self.split(before + text[place] + behind)) == "".join(self.split(before + behind))


_NEAR = 16
_LOOKS = 10_000
"""The most characters of a text that are checked for being part of a neighbour's token."""


class _Units:
    """The characters that a model begins from, in the form its vocabulary has them. Only for a model that drops what it lacks."""

    def __init__(self, model: BPE, vocabulary: Mapping[str, int], white: str) -> None:
        self._vocabulary = vocabulary
        self._prefix, self._suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
        self._has_whole, self._has_bytes = model.ignore_merges, model.byte_fallback
        self._white = white

    def lacks(self, text: str) -> bool:
        """Return whether the model lacks a character of the text in some position of a word."""
        forms = {(first, last) for first in ("", self._prefix) for last in ("", self._suffix)}
        return any(not self._has(first + one + last, one) for one in set(text) for first, last in forms)

    def read_unknown(self, word: str) -> str:
        """Return the first characters of a word that the model drops."""
        if self._has_whole and word in self._vocabulary:
            return ""
        found = ""
        for place, one in enumerate(word):
            unit = (self._prefix if place else "") + one + (self._suffix if place == len(word) - 1 else "")
            if not self._has(unit, one):
                found += one
            elif found:
                break
        return found

    def _has(self, unit: str, one: str) -> bool:
        if unit in self._vocabulary or _is_dropped(one, "Z") or one in self._white:
            return True
        return self._has_bytes and all(f"<0x{byte:02X}>" in self._vocabulary for byte in one.encode())


_WHITE_BYTES = "\u0120\u010a\u010d\u0109"
"""The characters by which a byte-level tokenizer writes a space, a line feed, a carriage return and a tab."""


def _find_units(tokenizer: Tokenizer) -> _Units | None:
    """Return the units of the model; None if it refuses what it lacks, has an unknown token, or reads bytes and lacks none."""
    model, splitter = tokenizer.model, tokenizer.pre_tokenizer
    if not isinstance(model, BPE) or model.unk_token is not None:
        return None
    told = json.loads(splitter.__getstate__()) if splitter is not None else {}
    is_bytes = (told.get("pretokenizers") or [told])[-1].get("type") == "ByteLevel"
    units = _Units(model, tokenizer.get_vocab(with_added_tokens=False), _WHITE_BYTES if is_bytes else "")
    return None if is_bytes and not units.lacks("".join(ByteLevel.alphabet())) else units


def _read_left_out(text: str, spans: Sequence[tuple[int, int]], reading: _TokenizerReading) -> str:
    """Return the first characters that no token covers, or an empty text.

    Characters that tokenizers omit on purpose do not count: white space, and the control characters and marks that normalizers strip.
    """
    last, looks = 0, 0
    for start, stop in (*spans, (len(text), len(text))):
        for place in range(last, start):
            if not _is_dropped(text[place], reading.dropped):
                looks += 1
                if looks > _LOOKS or reading.is_lost(text, place):
                    return text[place:start].strip()
        last = max(last, stop)
    return ""


def _is_dropped(character: str, categories: str) -> bool:
    return character.isspace() or category(character)[0] in categories


def load_hf_counter(name: str, raw: bytes, span: Span | None = None) -> HfCounter:
    """Make a counter from the bytes of a tokenizer file. Raises PC0182 if they are not a tokenizer."""
    with Refusing("PC0182", f"`{name}`: the file is not a tokenizer", span, "name a `tokenizer.json` that the package `tokenizers` wrote"):
        tokenizer = Tokenizer.from_buffer(raw)
    _refuse_endless(name, tokenizer, span)
    return HfCounter(name, render_digest(raw), tokenizer, raw)


_MOST_GROWTH = 32
"""The most characters that a normalizer may make of one. Published normalizers make two or three."""
_LONGEST_WORD = 1_000
"""The longest word, in characters, that WordPiece may read. BERT's limit is 100."""
_LONGEST_PIECE = 256
"""The longest piece, in characters, of a Unigram vocabulary. SentencePiece makes at most 16 by default."""


def _refuse_endless(name: str, tokenizer: Tokenizer, span: Span | None) -> None:
    """Raise PC0182 for a tokenizer that takes too long, as the package sets no bound.

    Such a tokenizer makes a text many times longer before it counts, or checks every end of a word from every beginning. The loaded
    tokenizer is inspected, not the file, which may contain a setting twice.
    """
    normalizer, model = tokenizer.normalizer, tokenizer.model
    longest = max(map(len, tokenizer.get_vocab()), default=0) if isinstance(model, Unigram) else 0
    if normalizer is not None and _count_growth(json.loads(normalizer.__getstate__())) > _MOST_GROWTH:
        why = f"its normalizer can make a text more than {_MOST_GROWTH} times as long"
    elif getattr(model, "max_input_chars_per_word", 0) > _LONGEST_WORD:
        why = f"`max_input_chars_per_word` is over {_LONGEST_WORD}, and such words take too long"
    elif longest > _LONGEST_PIECE:
        why = f"a piece of its vocabulary has more than {_LONGEST_PIECE} characters, and such pieces take too long"
    elif (pattern := next(filter(_is_slow, _iter_patterns(tokenizer)), None)) is not None:
        why = f"its pattern {show_value(pattern)} may look at the same characters again and again, which takes too long"
    else:
        return
    raise fail("PC0182", f"`{name}`: {why}", span, help="use the `tokenizer.json` of a model as it is published")


def _iter_patterns(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the patterns by which a tokenizer replaces and splits."""
    pending = [json.loads(one.__getstate__()) for one in (tokenizer.normalizer, tokenizer.pre_tokenizer) if one is not None]
    while pending:
        part = pending.pop()
        pending += (*(part.get("normalizers") or ()), *(part.get("pretokenizers") or ()))
        pattern = part.get("pattern")
        if isinstance(pattern, dict) and "Regex" in pattern:
            yield pattern["Regex"]


def _count_growth(normalizer: Any) -> int:
    """Return the most characters that a chain of replacements makes of one. `normalizer` is in the form in which `tokenizers` writes it."""
    added = {"Replace": "content", "Prepend": "prepend"}.get(normalizer.get("type"))
    growth = 1 + len(normalizer[added]) if added is not None else 1
    for one in normalizer.get("normalizers") or ():
        growth *= _count_growth(one)
    return growth


# --- the patterns of a tokenizer ---

_MOST_WAYS = 256
"""The most ways in which a pattern may try the same characters, besides one repetition of any length."""
_LONG = 100
"""A repetition of more than this is one of any length."""
_DEEPEST = 20
_LONGEST_PATTERN = 20_000
_COUNT = re.compile(r"[*+?]|\{[0-9]{1,6}\}|\{(?=[0-9,]*[0-9])([0-9]{0,6}),([0-9]{0,6})\}")
_OPENING = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|<[A-Za-z_]\w*>|[ims-]{1,6}[:)]))?")
_ESCAPE = re.compile(r"\\(?:[pP]\{\^?(\w+)\}|(?:x\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))|([^pPxu]))")
_ZERO = frozenset("bBAzZGK")
_SETS = frozenset("dDsSwWhHRNO")
_CONTROLS = dict(zip("nrtfvae", "\n\r\t\f\v\a\x1b", strict=True))
_MAJOR = frozenset("LMNPSZC")


Signs = frozenset[str] | None
"""Characters, and major categories as `p:L`; None if they are not known."""


class _UnreadError(Exception):
    """Raised for a pattern with a construct whose cost is not known, such as a reference back, or a repetition of a repetition."""


@frozen
class _Part:
    """A part of a pattern, `least` to `most` times.

    `kind`: `one` character of `signs`, `zero` characters, a `look` ahead or back, or a `group`.
    """

    kind: str
    signs: Signs = None
    branches: tuple[tuple["_Part", ...], ...] = ()
    least: int = 1
    most: float = 1


def _is_slow(pattern: str) -> bool:
    """Return whether a pattern may take more than about the square of a text's length.

    The package's engine, Oniguruma, tries one way after another. It is slow where a group is repeated that can match the same text in
    several ways, and where several repetitions are followed by what may fail.
    """
    try:
        degree, ways = _measure_ways(_OnigReader(pattern).read(), fails=False)
    except _UnreadError:
        return True
    return degree > 1 or ways > _MOST_WAYS


def _measure_ways(branches: tuple[tuple[_Part, ...], ...], *, fails: bool) -> tuple[int, float]:
    """Return how many repetitions of any length are tried again within each other, and in how many more ways.

    `fails`: what follows may fail. Raises `_UnreadError` for the repetition of a group that is not plain.
    """
    measured = [_measure_sequence(branch, fails=fails) for branch in branches]
    return max(degree for degree, _ in measured), sum(ways for _, ways in measured)


def _measure_sequence(parts: Sequence[_Part], *, fails: bool) -> tuple[int, float]:
    degree, ways = 0, 1.0
    for part in reversed(parts):
        if part.most > 1 and part.branches and not _is_plain(part):
            raise _UnreadError
        if part.branches and part.most <= 1:
            inner = _measure_ways(part.branches, fails=fails or part.kind == "look")
            degree, ways = degree + inner[0], ways * inner[1]
        spread = part.most - part.least
        if part.least > _LONG or (spread > _LONG and fails):
            degree += 1
        elif spread and fails:
            ways *= spread + 1
        fails = fails or part.least > 0 or part.kind in ("zero", "look")
    return degree, ways


def _is_plain(group: _Part) -> bool:
    """Return whether a repeated group can match a text in one way only: each character says which part comes next."""
    if group.kind != "group" or any(not _is_plain_part(part) for branch in group.branches for part in branch):
        return False
    if len(group.branches) > 1:
        firsts = [branch[0].signs for branch in group.branches if len(branch) == 1 and branch[0].least == branch[0].most == 1]
        pairs = ((one, other) for place, one in enumerate(firsts) for other in firsts[place + 1 :])
        return len(firsts) == len(group.branches) <= _LONG and all(_differ(one, other) for one, other in pairs)
    (parts,) = group.branches
    if not 0 < len(parts) <= _LONG:
        return False
    for place, part in enumerate(parts):
        following = (*parts[place + 1 :], *parts[: place + 1])
        if not any(one.least for one in following) or not _differ(_list_more([part]), _list_first(following)):
            return False
    return True


def _is_plain_part(part: _Part) -> bool:
    return part.least <= _LONG and (part.kind == "one" or (len(part.branches) == 1 and _is_plain(part)))


def _list_first(parts: Sequence[_Part]) -> Signs:
    """Return the characters with which parts may begin."""
    found: Signs = frozenset()
    for part in parts:
        found = _join(found, part.signs if part.kind == "one" else _list_first(part.branches[0]))
        if part.least:
            break
    return found


def _list_more(parts: Sequence[_Part]) -> Signs:
    """Return the characters with which parts may go on after they could end."""
    found: Signs = frozenset()
    for part in reversed(parts):
        if part.kind == "group":
            found = _join(found, _list_more(part.branches[0]))
        if part.least != part.most:
            found = _join(found, _list_first([part]))
        if part.least:
            break
    return found


def _join(one: Signs, other: Signs) -> Signs:
    return one | other if one is not None and other is not None else None


def _differ(one: Signs, other: Signs) -> bool:
    """Return whether no character is both."""
    if one is None or other is None:
        return one == frozenset() or other == frozenset()
    return not (one & other or _list_majors(one) & other or one & _list_majors(other))


def _list_majors(signs: frozenset[str]) -> set[str]:
    """Return the major categories of the characters among these signs."""
    return {f"p:{category(sign)[0]}" for sign in signs if len(sign) == 1}


def _spell(sign: str) -> frozenset[str]:
    """Return the signs of a character, in capitals or not."""
    return frozenset((sign, *sign.casefold()))


class _OnigReader:
    """Reads a pattern of Oniguruma, in Ruby's syntax. Raises `_UnreadError` for what it does not know."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0
        self._folds = False

    def read(self) -> tuple[tuple[_Part, ...], ...]:
        """Return the branches of the whole pattern."""
        if len(self._pattern) > _LONGEST_PATTERN:
            raise _UnreadError
        branches = self._read_branches(0)
        if self._place < len(self._pattern):
            raise _UnreadError
        return branches

    def _read_branches(self, depth: int) -> tuple[tuple[_Part, ...], ...]:
        if depth > _DEEPEST:
            raise _UnreadError
        branches: list[list[_Part]] = [[]]
        while (sign := self._pattern[self._place : self._place + 1]) not in ("", ")"):
            if sign == "|":
                self._place += 1
                branches.append([])
            else:
                branches[-1].append(self._read_count(self._read_part(sign, depth)))
        return tuple(map(tuple, branches))

    def _read_part(self, sign: str, depth: int) -> _Part:
        if sign == "(":
            return self._read_group(depth)
        if sign == "[":
            return _Part("one", self._read_class(0))
        if sign == "\\":
            return self._read_escape()
        if _COUNT.match(self._pattern, self._place) is not None:
            raise _UnreadError
        self._place += 1
        return _Part("zero") if sign in "^$" else _Part("one", None if sign == "." else _spell(sign))

    def _read_count(self, part: _Part) -> _Part:
        met = self._match(_COUNT)
        if met is None:
            return part
        sign = met[0]
        if sign[0] != "{":
            least, most = float(sign == "+"), 1 if sign == "?" else inf
        elif "," in sign:
            least, most = float(met[1] or 0), float(met[2] or inf)
        else:
            least = most = float(sign[1:-1])
        after = self._pattern[self._place : self._place + 1]
        if after == "?" or (after == "+" and sign[0] != "{"):  # as few as possible, or without a way back
            self._place += 1
            least = 0 if sign[0] == "{" else least
        if least > most or _COUNT.match(self._pattern, self._place) is not None:
            raise _UnreadError
        return replace(part, least=int(least), most=most)

    def _read_group(self, depth: int) -> _Part:
        met = self._match(_OPENING)
        opening = met[0] if met is not None else ""
        if not opening or (opening == "(" and self._pattern.startswith("?", self._place)):
            raise _UnreadError
        folds = self._folds
        self._folds = folds or ("i" in opening and "<" not in opening)
        branches = self._read_branches(depth + 1)
        self._folds = folds
        if not opening.endswith(")"):  # an option without a colon holds up to the end of the group around it
            if not self._pattern.startswith(")", self._place):
                raise _UnreadError
            self._place += 1
        kind = "look" if opening[2:] in ("=", "!", "<=", "<!") else "group"
        return _Part(kind, None, branches)

    def _read_escape(self) -> _Part:
        met = self._match(_ESCAPE)
        if met is None:
            raise _UnreadError
        name, sign = met[1], met[5]
        if name is not None:
            is_known = not self._folds and met[0].startswith("\\p{") and name[0] in _MAJOR and len(name) <= 2
            return _Part("one", frozenset({f"p:{name[0]}"}) if is_known and "^" not in met[0] else None)
        if sign is None:
            code = int(met[2] or met[3] or met[4], 16)
            return _Part("one", _spell(chr(code)) if code <= 0x10FFFF else None)
        if sign in _ZERO:
            return _Part("zero")
        if sign in _SETS:
            return _Part("one", frozenset({"p:N"}) if sign == "d" and not self._folds else None)
        if sign.isalnum() and sign not in _CONTROLS:
            raise _UnreadError
        return _Part("one", _spell(_CONTROLS.get(sign, sign)))

    def _read_class(self, depth: int) -> Signs:
        """Return the signs of a class in brackets; None for one that excludes, has a range or another class, or cuts others."""
        self._place += 1
        is_known = not self._pattern.startswith("^", self._place)
        self._place += not is_known
        signs: set[str] = set()
        if depth > _DEEPEST or self._pattern.startswith("]", self._place):
            raise _UnreadError
        while (sign := self._pattern[self._place : self._place + 1]) not in ("", "]"):
            if sign == "[":
                self._read_class(depth + 1)
                is_known = False
            elif sign == "\\":
                part = self._read_escape()
                is_known = is_known and part.signs is not None
                signs |= part.signs or set()
            else:
                self._place += 1
                is_known = is_known and sign not in "-&"
                signs |= _spell(sign)
        if not sign:
            raise _UnreadError
        self._place += 1
        return frozenset(signs) if is_known else None

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        met = pattern.match(self._pattern, self._place)
        self._place = met.end() if met is not None else self._place
        return met
