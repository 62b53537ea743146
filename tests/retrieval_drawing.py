"""Indexes for the tests of retrieval: small, with an encoder that needs no package."""

from array import array
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from promptc.model.sources import Chunk, Matching, Weights
from promptc.sources.retrieval.building import learn_direction
from promptc.sources.retrieval.encoder import SCALE, Vector, round_vector
from promptc.sources.retrieval.local import BuiltIndex, LoadedIndex, Vectors, open_index
from promptc.sources.retrieval.scoring import list_words, weigh_words


class WordEncoder:
    """A text's vector is the sum of one axis a word: texts that share words are near."""

    id = "words"
    digest = "sha256:words"
    size = 16

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, text: str) -> Vector:
        self.encoded.append(text)
        values = [0] * self.size
        for word in list_words(text):
            values[sha256(word.encode()).digest()[0] % self.size] += 1
        length = sum(value * value for value in values) ** 0.5 or 1.0
        return round_vector([value / length for value in values])


def make_chunk(
    text: str, place: int = 0, *, file: str = "a.md", heading: Sequence[str] = (), asked: Sequence[str] = (), **metadata: Any
) -> Chunk:
    """A chunk whose id is its file and place."""
    return Chunk(f"{file}/{place}", file, place, tuple(heading), tuple(heading[-1:]), text, len(text.split()), metadata, tuple(asked))


def encode_lines(chunks: Sequence[Chunk], idle: Sequence[str] = ()) -> Vectors:
    """The vectors of an index: of each chunk that of its text and of its asked lines, then of the idle lines, and what they teach."""
    encoder = WordEncoder()
    texts = [*(text for one in chunks for text in (one.text, *one.asked)), *idle]
    values = array("h", [number for text in texts for number in encoder.encode(text)])
    asked = dict.fromkeys(line for one in chunks for line in one.asked)
    direction, middle = learn_direction([encoder.encode(line) for line in asked], [encoder.encode(line) for line in idle], encoder.size)
    return Vectors(encoder.id, encoder.digest, encoder.size, 500, values + direction if idle else values, middle)


def make_index(
    chunks: Sequence[Chunk],
    *,
    name: str = "rules",
    weights: tuple[int, int] = (1, 0),
    synonyms: Mapping[str, tuple[str, ...]] | None = None,
    idle: Sequence[str] = (),
    lead: int = 0,
    neighbours: int = 0,
) -> LoadedIndex:
    """An index of these chunks, with vectors where they weigh."""
    ordered = sorted(chunks, key=lambda one: (one.version, one.file.encode(), one.ordinal))
    encoder = WordEncoder()
    vectors = encode_lines(ordered, idle) if weights[1] else None
    named = encoder.id if weights[1] else ""
    matching = Matching(Weights(*weights), named, tuple((synonyms or {}).items()), lead=lead, neighbours=neighbours)
    built = BuiltIndex(name, "", "", (), tuple(ordered), weigh_words(ordered), vectors, f"sha256:{name}", tuple(idle))
    return open_index(name, matching, built)


ONE = SCALE * SCALE
"""The product of a vector with itself, up to rounding."""
