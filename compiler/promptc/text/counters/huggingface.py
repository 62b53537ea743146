"""Counting with a tokenizer file of the Hugging Face kind (`hf:<file>`).

No other module imports `tokenizers`. This module is imported only if a pack names such a counter.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from unicodedata import category

from tokenizers import Encoding, Tokenizer
from tokenizers.models import BPE, Unigram
from tokenizers.pre_tokenizers import ByteLevel

from promptc.diag.findings import Span, fail
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
    else:
        return
    raise fail("PC0182", f"`{name}`: {why}", span, help="use the `tokenizer.json` of a model as it is published")


def _count_growth(normalizer: Any) -> int:
    """Return the most characters that a chain of replacements makes of one. `normalizer` is in the form in which `tokenizers` writes it."""
    added = {"Replace": "content", "Prepend": "prepend"}.get(normalizer.get("type"))
    growth = 1 + len(normalizer[added]) if added is not None else 1
    for one in normalizer.get("normalizers") or ():
        growth *= _count_growth(one)
    return growth
