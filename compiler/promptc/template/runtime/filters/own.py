"""Filters a pack has beyond Jinja's (language.md §3). Pure: the same input gives the same output, everywhere."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.payments import check_defined, list_values, pay_each, price_search
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show
from promptc.text.white import join_words


def normalize_text(run: Run, value: Any) -> str:
    """The text without what makes no difference: the one normalisation (`dedupe` compares by it too)."""
    from promptc.text.guard import normalize

    text = show(run, value)
    _pay_normalizing(run, text)
    return normalize(text)


def _pay_normalizing(run: Run, text: str) -> None:
    """One character may become eighteen, and marks behind a letter are put in order one by one, each past all the others."""
    run.take(1 + 2 * len(text))
    if text.isascii():
        return
    from unicodedata import combining, normalize

    met = set(text)
    sizes = {character: len(normalize("NFKD", character)) for character in met}
    run.take(2 * sum(map(sizes.__getitem__, text)))
    if any(map(combining, met)):
        marks = 0
        for character in text:
            marks = marks + 1 if combining(character) else 0
            run.take(marks >> 5)


def join_lines(run: Run, value: Any) -> str:
    """The text on one line: every run of white space is one space, none at the ends."""
    text = show(run, value)
    run.take(1 + (len(text) >> 1))
    return join_words(text)


def mentions(run: Run, value: Any, words: Any) -> bool:
    """Whether the text holds one of the words (a text or a list of texts), whole and normalised."""
    text = f" {normalize_text(run, value)} "
    sought = [words] if words.__class__ is str or not hasattr(words, "__iter__") else pay_each(run, words, 4)
    return any(_mentions(run, text, normalize_text(run, word)) for word in sought)


def _mentions(run: Run, text: str, word: str) -> bool:
    run.take(price_search(len(text), len(word)))
    return bool(word) and f" {word} " in text


def pick(run: Run, values: Any, seed: Any) -> Any:
    """One element of a list, chosen by the seed alone: sha256 of the seed's text, as a fraction of 2^64, times the length."""
    if not hasattr(values, "__iter__"):
        check_defined(values)
        refuse("PC0414", f"`pick` takes a list, not {name_kind(values)}", "give it a list")
    found = list_values(run, values, 1)
    if not found:
        refuse("PC0424", "`pick` has nothing to pick from", "give it a list that is not empty, or ask for `if list`")
    return found[_draw(run, show(run, seed)) * len(found) >> 64]


def _draw(run: Run, seed: str) -> int:
    from hashlib import sha256

    run.take(2 + (len(seed) >> 3))
    return int.from_bytes(sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big")


FILTERS: dict[str, Callable[..., Any]] = {"normalize": normalize_text, "one_line": join_lines, "mentions": mentions, "pick": pick}
