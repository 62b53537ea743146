"""What a token counter offers. The rest of the compiler knows no tokenizer but through this protocol."""

from collections.abc import Sequence

from promptc.diag.typed import Protocol
from promptc.text.counters.runs import TokenRun


class Counter(Protocol):
    """Counts a text in *units*: tokens, or for `chars/4` characters, of which `unit` make a token.

    Text in which a special token is spelt out is ordinary text. Texts hold no lone surrogates: they are refused where they are read.
    A counter is immutable and may be used from several threads.
    """

    @property
    def name(self) -> str:
        """What a manifest calls it: `cl100k_base`, `chars/4`, `hf:tokenizer.json`."""

    @property
    def digest(self) -> str:
        """`sha256:…` of the vocabulary it counts with."""

    @property
    def exact(self) -> bool:
        """False for an estimate."""

    @property
    def unit(self) -> int:
        """How many units make a token: tokens = ceil(units / unit)."""

    @property
    def special_tokens(self) -> Sequence[str]:
        """What its tokenizer takes for structure where it is not told otherwise, beside the usual special tokens."""

    def measure(self, text: str) -> int:
        """The units of `text`; 0 for an empty one. Takes any text of any length."""

    def recount(self, text: str) -> int:
        """`measure(text)`, to confirm a sum: `text` is gone over whole, and nothing that the sum was made of is taken from it."""

    def is_safe(self, left: str, right: str) -> bool:
        """True only if `measure(left + right) == measure(left) + measure(right)`, told from the two ends alone.

        It chains: where each neighbour in a row of non-empty texts meets the next safely, the whole row adds up.
        """

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """The first and last places i <= j inside `text` where `text[:i]`, `text[i:j]`, `text[j:]` add up, whatever stands before or after
        `text`; None when there is no such place."""

    def find_runs(self, text: str) -> list[TokenRun]:
        """The stretches of `text` without safe places in which its tokens may still be joined, in order (see `runs`)."""

    def iter_starts(self, text: str) -> Sequence[int]:
        """For every token the place of its first byte in the UTF-8 form of `text`, rising."""

    def token_ends(self, text: str) -> Sequence[int]:
        """The places (in characters, rising) where a token ends that are no part of a character or of a CR LF; the last is the text's
        end."""

    def role_tokens(self, role: str) -> int:
        """The tokens that a role's name adds to a message."""
