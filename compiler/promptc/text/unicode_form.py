"""Unicode's normal forms, in a time that grows with the text and nothing else."""

from __future__ import annotations

from promptc.diag.typed import Literal
from promptc.text.compile_later import compile_later

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

_CROWD = compile_later(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){32,}")
"""Where so many marks may stand on one letter: no mark is a letter or digit, but for two half-width ones in their compatibility form."""


def find_form(form: Form, text: str) -> str:
    """`unicodedata.normalize(form, text)`, the same characters. Python's own brings the marks of one letter into their order by
    exchanging neighbours, which takes seconds for 20 000 of them and hours for a million: they are sorted before it sees them."""
    if text.isascii():
        return text
    from unicodedata import normalize

    if _CROWD.search(text):
        whole: Form = "NFKD" if "K" in form else "NFD"
        text = _CROWD.sub(lambda found: _sort_marks("".join([normalize(whole, one) for one in found[0]])), text)
    return normalize(form, text)


def _sort_marks(text: str) -> str:
    """`text`, decomposed, with each run of marks in canonical order."""
    from unicodedata import combining

    made: list[str] = []
    marks: list[str] = []
    for character in text:
        if combining(character):
            marks.append(character)
        else:
            made += sorted(marks, key=combining)
            made.append(character)
            marks.clear()
    return "".join(made + sorted(marks, key=combining))
