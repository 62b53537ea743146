"""Tokenizers made of a few merges, whose counts add up nowhere, as none of their boundaries is known: a file of the Hugging Face kind, and
an encoding of tiktoken, which a plug-in brings.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha1
from pathlib import Path

import tiktoken
from tiktoken import registry
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.cases.case import ROOT

NAME = "hf:tokenizer.json"
ENCODING = "tiktoken:drawn"
SHIPPED = "tiktoken:o200k_base"
"""An encoding that has the ranks and the pattern of a vocabulary that is shipped."""

_PATTERN = r"\s*\S+|\s+"
"""Every line end belongs to the piece behind it."""

_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_MERGES = "t h,th e,Ġ the,Ġ t,a t,Ġ w,i n,Ċ Ċ,Ġ Ġ,= =,== =,r u,ru n,n i,g h,Ġ n,. ĠI,I ',! Ċ,. Ċ,Ġ […,c o,l d,co ld,o l,x x,1 0,0 0"


@cache
def load_tokenizer() -> Tokenizer:
    """The tokenizer: every byte, and what the merges make of them."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [tuple(pair.split(" ")) for pair in _MERGES.split(",")]
    known, usable = set(letters), []
    for left, right in merges:
        if left in known and right in known:
            usable.append((left, right))
            known.add(left + right)
    vocabulary = {token: place for place, token in enumerate([*letters, *(left + right for left, right in usable)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=usable))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def render_tokenizer() -> str:
    """The file."""
    return str(load_tokenizer().to_str())


@cache
def load_drawn_encoding() -> tiktoken.Encoding:
    """The encoding, by tiktoken itself."""
    return tiktoken.Encoding("drawn", pat_str=_PATTERN, mergeable_ranks=_list_ranks(), special_tokens={})


def _list_ranks() -> dict[bytes, int]:
    """Every byte, and the merges."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for pair in _MERGES.split(","):
        ranks.setdefault(pair.replace(" ", "").replace("Ġ", " ").replace("Ċ", "\n").encode(), len(ranks))
    return ranks


@contextmanager
def install_encodings(folder: Path) -> Iterator[dict[str, str]]:
    """Puts a plug-in with the encoding, and a cache with the ranks of the shipped one, into a folder where tiktoken finds them. Gives the
    variables by which another process does.
    """
    (folder / "tiktoken_ext").mkdir()
    made = {"name": "drawn", "pat_str": _PATTERN, "mergeable_ranks": _list_ranks(), "special_tokens": {}}
    (folder / "tiktoken_ext" / "drawn.py").write_text(f"ENCODING_CONSTRUCTORS = {{'drawn': lambda: {made!r}}}", encoding="utf-8")
    shutil.copy(ROOT / "tools" / "ranks" / "o200k_base.tiktoken", folder / sha1(_ADDRESS.encode()).hexdigest())
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    sys.path.insert(0, str(folder))
    _forget_plugins()
    try:
        yield {"TIKTOKEN_CACHE_DIR": str(folder), "PYTHONPATH": str(folder)}
    finally:
        sys.path.remove(str(folder))
        _forget_plugins()
        del os.environ["TIKTOKEN_CACHE_DIR"]
        os.environ |= {"TIKTOKEN_CACHE_DIR": before} if before is not None else {}


def _forget_plugins() -> None:
    registry.ENCODING_CONSTRUCTORS = None
    registry._available_plugin_modules.cache_clear()
    for name in [name for name in sys.modules if name.startswith("tiktoken_ext.")]:
        del sys.modules[name]
