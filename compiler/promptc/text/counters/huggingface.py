"""Counting with a tokenizer file of the Hugging Face kind (`hf:<file>`). Nothing else imports `tokenizers`, and this module is imported
when a pack names such a counter."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from unicodedata import category

from tokenizers import Encoding, Tokenizer
from tokenizers.models import BPE, Unigram
from tokenizers.pre_tokenizers import ByteLevel

from promptc.diag.findings import Span, fail
from promptc.diag.typed import Any
from promptc.text.counters.counter import Refusing, TokenRun
from promptc.text.json import render_digest


class HfCounter:
    """Counts what the tokenizer makes of a text alone: nothing is added before or after it, cut off or filled up, and no merge is left out
    by chance (BPE's `dropout`).

    A text of which a visible character, or a byte of one, has no part in any token is refused (PC0184): its count would be too low, and 0
    in the end. Characters of which a normalizer makes one have a part in it.
    How such tokenizers normalise and split is anybody's choice, so no boundary is known to be safe.
    """

    exact = True
    unit = 1
    bytewise = False

    def __init__(self, name: str, digest: str, tokenizer: Tokenizer, raw: bytes) -> None:
        _steady(tokenizer)
        tokenizer.encode_special_tokens = True  # that is: special tokens in a text are encoded as ordinary text
        self.special_tokens = tuple(sorted(one.content for one in tokenizer.get_added_tokens_decoder().values() if one.special))
        self.name = name
        self.digest = digest
        self._raw = raw
        self._tokenizer = tokenizer
        self._reading = _TokenizerReading(tokenizer)

    def measure(self, text: str) -> int:
        """Tokens."""
        return len(self._encode(text).ids)

    def recount(self, text: str) -> int:
        """Tokens, counted anew."""
        return self.measure(text)

    def measure_framed(self, text: str) -> int:
        """Tokens, special ones as the tokenizer finds them; nothing is added before or behind."""
        with Refusing("PC0184", f"`{self.name}` cannot count a text of {len(text)} characters", None, _HELP):
            return len(self._framing.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _framing(self) -> Tokenizer:
        """The tokenizer once more: whether it knows special tokens is a setting of the whole."""
        return _steady(Tokenizer.from_buffer(self._raw))

    def is_safe(self, left: str, right: str) -> bool:
        """Only with an empty text."""
        return not left or not right

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """None."""
        return None

    def list_runs(self, text: str) -> list[TokenRun]:
        """None known."""
        return []

    def iter_starts(self, text: str) -> Sequence[int]:
        """In UTF-8 bytes; for tokens inside a character the character's first byte. Never falling, whatever the tokenizer reports."""
        starts, place, last = [], 0, 0
        for start, _ in self._spans(text):
            if start > last:
                place += len(text[last:start].encode())
                last = start
            starts.append(place)
        return starts

    def token_ends(self, text: str) -> Sequence[int]:
        """In characters. What no token covers (white space that the tokenizer drops) goes with the token before it."""
        starts = [start for start, _ in self._spans(text)][1:]
        ends = sorted({start for start in starts if 0 < start < len(text)} | ({len(text)} if text else set()))
        return [end for end in ends if text[end - 1 : end + 1] != "\r\n"]

    def role_tokens(self, role: str) -> int:
        """The tokens of the name."""
        return self.measure(role)

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
    """The tokenizer, without what would cut off, fill up, or leave out merges by chance."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if isinstance(tokenizer.model, BPE):
        tokenizer.model.dropout = None
    return tokenizer


_HELP = "use a tokenizer that covers all text: one that works on bytes, or has an unknown token"


class _TokenizerReading:
    """What a tokenizer's model is given of a text, and what it cannot read of it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._normalizer, self._splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
        self.dropped = "Z" if tokenizer.normalizer is None else "CMZ"
        self._units = _find_units(tokenizer)
        self._added = [one.content for one in tokenizer.get_added_tokens_decoder().values() if one.content and not one.special]

    def split(self, text: str) -> list[str]:
        """The words that the model is given."""
        normalized = self._normalizer.normalize_str(text) if self._normalizer is not None else text
        return [word for word, _ in self._splitter.pre_tokenize_str(normalized)] if self._splitter is not None else [normalized]

    def read_unknown(self, text: str) -> str:
        """The first characters that the model drops in silence, as it has neither a token for them nor an unknown one; white space aside.

        Places do not show them: inside a word those of the tokens behind a dropped character are wrong, and a byte of a character may go.
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
        """Whether the model is given the same without the character: then a normalizer or a splitter took it out, and did not make one
        of it and its neighbours. What stands near decides."""
        before, behind = text[max(0, place - _NEAR) : place], text[place + 1 : place + 1 + _NEAR]
        return "".join(self.split(before + text[place] + behind)) == "".join(self.split(before + behind))


_NEAR = 16
_LOOKS = 10_000
"""Characters of a text of which it is found out whether a neighbour's token stands for them, too."""


class _Units:
    """Of a model that drops what it lacks: the characters it begins from, as they are written in the vocabulary."""

    def __init__(self, model: BPE, vocabulary: Mapping[str, int], white: str) -> None:
        self._vocabulary = vocabulary
        self._prefix, self._suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
        self._has_whole, self._has_bytes = model.ignore_merges, model.byte_fallback
        self._white = white

    def lacks(self, text: str) -> bool:
        """Whether a character of the text is lacking somewhere in a word."""
        forms = {(first, last) for first in ("", self._prefix) for last in ("", self._suffix)}
        return any(not self._has(first + one + last, one) for one in set(text) for first, last in forms)

    def read_unknown(self, word: str) -> str:
        """The first characters of a word that go."""
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
"""How a byte-level tokenizer writes a space, a line end, a carriage return and a tab."""


def _find_units(tokenizer: Tokenizer) -> _Units | None:
    """None for a model that refuses what it lacks, has a token for it, or is given bytes and lacks none."""
    model, splitter = tokenizer.model, tokenizer.pre_tokenizer
    if not isinstance(model, BPE) or model.unk_token is not None:
        return None
    told = json.loads(splitter.__getstate__()) if splitter is not None else {}
    is_bytes = (told.get("pretokenizers") or [told])[-1].get("type") == "ByteLevel"
    units = _Units(model, tokenizer.get_vocab(with_added_tokens=False), _WHITE_BYTES if is_bytes else "")
    return None if is_bytes and not units.lacks("".join(ByteLevel.alphabet())) else units


def _read_left_out(text: str, spans: Sequence[tuple[int, int]], reading: _TokenizerReading) -> str:
    """The first characters that no token stands for; empty where only such are left out as tokenizers do by intent: white space, and what
    normalizers strip, control characters and marks.
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
    """The counter of a tokenizer file's bytes; PC0182 when they are none."""
    with Refusing("PC0182", f"`{name}`: the file is not a tokenizer", span, "name a `tokenizer.json` that the package `tokenizers` wrote"):
        tokenizer = Tokenizer.from_buffer(raw)
    _refuse_endless(name, tokenizer, span)
    return HfCounter(name, render_digest(raw), tokenizer, raw)


_MOST_GROWTH = 32
"""Characters that a normalizer may make of one. Published ones make two or three."""
_LONGEST_WORD = 1_000
"""Characters of a word that WordPiece looks at. BERT's looks at 100."""
_LONGEST_PIECE = 256
"""Characters of a piece of a Unigram vocabulary. SentencePiece makes at most 16, unless it is told otherwise."""


def _refuse_endless(name: str, tokenizer: Tokenizer, span: Span | None) -> None:
    """PC0182 for a tokenizer that makes a text many times as long before it is counted, or looks at each end of a word from each beginning:
    the package bounds neither. What it loaded is asked, not the file, which may say a thing twice.
    """
    normalizer, model = tokenizer.normalizer, tokenizer.model
    longest = max(map(len, tokenizer.get_vocab()), default=0) if isinstance(model, Unigram) else 0
    if normalizer is not None and _count_growth(json.loads(normalizer.__getstate__())) > _MOST_GROWTH:
        why = f"its normalizer can make a text more than {_MOST_GROWTH} times as long"
    elif getattr(model, "max_input_chars_per_word", 0) > _LONGEST_WORD:
        why = f"`max_input_chars_per_word` is over {_LONGEST_WORD}, and such words take too long"
    elif longest > _LONGEST_PIECE:
        why = f"a piece of its vocabulary has more than {_LONGEST_PIECE} characters, and such pieces take too long"
    else:
        return
    raise fail("PC0182", f"`{name}`: {why}", span, help="use the `tokenizer.json` of a model as it is published")


def _count_growth(normalizer: Any) -> int:
    """How many characters a chain of replacements makes of one, at most. `normalizer` is one as `tokenizers` writes it."""
    growth = 1 + len(normalizer["content"]) if normalizer.get("type") == "Replace" else 1
    for one in normalizer.get("normalizers") or ():
        growth *= _count_growth(one)
    return growth
