"""Token counts of our own: tiktoken over the ranks that the shipped tables are made from, without the compiler's counters."""

import base64
from functools import cache

import tiktoken

from tests.cases.case import ROOT

_PATTERNS = {
    "cl100k_base": "|".join(
        [
            r"""'(?i:[sdmt]|ll|ve|re)""",
            r"""[^\r\n\p{L}\p{N}]?+\p{L}++""",
            r"""\p{N}{1,3}+""",
            r""" ?[^\s\p{L}\p{N}]++[\r\n]*+""",
            r"""\s++$""",
            r"""\s*[\r\n]""",
            r"""\s+(?!\S)""",
            r"""\s""",
        ]
    ),
    "o200k_base": "|".join(
        [
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        ]
    ),
}
_FRAME = 3


def count_text(name: str, text: str) -> int:
    """Tokens of a text; `chars/4` is a quarter of its characters, rounded up."""
    return -(-len(text) // 4) if name == "chars/4" else len(load_encoding(name).encode_ordinary(text))


def count_messages(name: str, messages: list[tuple[str, str]]) -> int:
    """Tokens of (role, content) pairs with the stated overhead: three for each message and its role's name, three for the whole."""
    if name == "chars/4":
        return -(-sum(len(content) for _, content in messages) // 4) + _FRAME * len(messages) + _FRAME
    return sum(_FRAME + count_text(name, role) + count_text(name, content) for role, content in messages) + _FRAME


@cache
def load_encoding(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding of a vocabulary."""
    lines = (ROOT / "tools" / "ranks" / f"{name}.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    return tiktoken.Encoding(f"recount-{name}", pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
