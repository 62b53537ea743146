"""A tokenizer file of the Hugging Face kind, made of a few merges: its counts add up nowhere, as none of its boundaries is known."""

from functools import cache

from tokenizers import Tokenizer, models, pre_tokenizers

NAME = "hf:tokenizer.json"
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
