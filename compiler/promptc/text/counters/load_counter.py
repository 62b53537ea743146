"""From a counter's name in a manifest to the counter."""

from __future__ import annotations

import os

from promptc.diag.errors import fail
from promptc.diag.span import Span
from promptc.text.counters.character_counter import CharacterCounter
from promptc.text.counters.counter import Counter
from promptc.text.counters.exact import load_table_counter
from promptc.text.counters.vocabulary import VOCABULARIES


def load_counter(
    name: str, *, folder: str | os.PathLike[str], vocabulary: str | os.PathLike[str] = "", span: Span | None = None
) -> Counter:
    """The counter `name`: `cl100k_base`, `o200k_base`, `chars/4`, or `hf:<file>` with a file inside `folder`.

    `vocabulary` is a table to use in place of the shipped one; it has to be the same. `span` is where the name stands. Raises
    PromptcError with PC0180 to PC0183; which other counter is used then is the caller's choice.
    """
    if name == CharacterCounter.name:
        return CharacterCounter()
    if name in VOCABULARIES:
        return load_table_counter(name, os.fspath(vocabulary), span)
    if name.startswith("hf:"):
        from promptc.text.counters.tokenizer_file import load_tokenizer_file

        return load_tokenizer_file(name, folder, span)
    from promptc.diag.suggest import suggest

    known = [*VOCABULARIES, CharacterCounter.name, "hf:tokenizer.json"]
    raise fail("PC0180", f"there is no counter `{name}`", span, help=suggest(name, known))
