"""The vocabularies that are shipped: what each is, where it lies, and that it is the right one."""

from pathlib import Path

from promptc.diag.errors import fail
from promptc.diag.frozen import frozen
from promptc.diag.span import Span
from promptc.text.digest import render_digest

_FOLDER = Path(__file__).resolve().parent.parent.parent / "vocabularies"


@frozen
class Vocabulary:
    """A rank file (one `base64 rank` a line, ranks rising from 0), how many ranks it has, and the pattern its tokenizer splits text by."""

    sha256: str
    ranks: int
    pattern: str


VOCABULARIES: dict[str, Vocabulary] = {
    "cl100k_base": Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        ranks=100_256,
        pattern="|".join(
            (
                r"'(?i:[sdmt]|ll|ve|re)",
                r"[^\r\n\p{L}\p{N}]?+\p{L}++",
                r"\p{N}{1,3}+",
                r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
                r"\s++$",
                r"\s*[\r\n]",
                r"\s+(?!\S)",
                r"\s",
            )
        ),
    ),
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        ranks=199_998,
        pattern="|".join(
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
    ),
}


def find_vocabulary(name: str) -> Path:
    """Where the rank file of a shipped vocabulary lies."""
    return _FOLDER / f"{name}.tiktoken"


def load_vocabulary(name: str, path: Path, span: Span | None = None) -> bytes:
    """The bytes of the rank file at `path`, which are those of the vocabulary `name`; PC0181 when they are missing or others."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise fail("PC0181", f"the vocabulary of `{name}` is missing: `{path.name}`: {reason}", span, help=_REINSTALL) from error
    digest = render_digest(raw)
    if digest != f"sha256:{VOCABULARIES[name].sha256}":
        raise fail("PC0181", f"`{path.name}` is not the vocabulary of `{name}`: its digest is {digest}", span, help=_REINSTALL)
    return raw


_REINSTALL = "install promptc anew, or name a counter under `tokenizer: {fallback: ...}`"
