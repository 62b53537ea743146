"""Long runs of one class of characters: texts without a safe boundary, such as a hundred thousand `a`, or writing without spaces.

The pattern takes such a run in one match (digits three by three) and merges bytes inside it. There, tokens join wherever they fit: a row of
tokens is the encoding of its text exactly if each two neighbours are that of theirs (shown for this kind of byte-pair encoding by the
authors of the Rust crate `bpe`). So the tokens of a text that was cut inside a run need not be made anew from the beginning of the run.
"""

import re
import unicodedata

from promptc.diag.typed import NamedTuple

_LONG = 256
_EDGE = 4  # characters; a contraction (`'ll`) may take the first letters of a run
_RUN = re.compile(rf"([luopd])\1{{{_LONG - 1},}}")
_ENDS = frozenset("pdw")


class Run(NamedTuple):
    """`text[first:last]` may be cut at any of its token ends; with `step` 3 at every third character from `first`, of which each is one."""

    first: int
    last: int
    step: int


def find_runs(text: str, *, cased: bool) -> list[Run]:
    """The long runs of `text` that do not touch anything which might be taken into the same match.

    `cased`: whether small letters, capitals and other letters and marks are classes of their own (o200k_base), or letters are one class
    and marks are like punctuation (cl100k_base).
    """
    if len(text) < _LONG:
        return []
    classes = text.translate(_CASED if cased else _PLAIN)
    found = (_trim_run(text, classes, *run.span()) for run in _RUN.finditer(classes))
    return [run for run in found if run is not None]


def ends_match(character: str) -> bool:
    """Whether `character`, after a cut inside a run, ends the match: a digit, punctuation, white space."""
    return character.translate(_CASED) in _ENDS


def _trim_run(text: str, classes: str, first: int, last: int) -> Run | None:
    kind = classes[first]
    after_line = text[max(first - 1, 0) : first] in ("\r", "\n") and text[first] == "/"  # o200k_base takes slashes after a line end
    if (classes[last : last + 1] or "w") not in _ENDS or (first and classes[first - 1] == "?") or after_line:
        return None
    if kind == "d":
        return Run(first, last, 3)
    while first < last and unicodedata.category(text[first])[0] == "M":
        first += 1  # marks after punctuation may belong to it
    return Run(first + _EDGE, last, 1) if first + _EDGE < last else None


class _Classes(dict[int, str]):
    """A table for `str.translate`. Letters are those that Unicode 3.2 and the present version agree on, so they
    stay as they are; `?` is what they do not."""

    def __init__(self, cased: bool) -> None:
        super().__init__()
        self._cased = cased

    def __missing__(self, code: int) -> str:
        self[code] = kind = self._find_class(chr(code))
        return kind

    def _find_class(self, character: str) -> str:
        if character.isspace():
            return "w"
        old, new = unicodedata.ucd_3_2_0.category(character), unicodedata.category(character)
        kind = _KINDS.get(new, "?")
        if kind != _KINDS.get(old, "?") and not (kind == "p" and old == "Cn"):
            return "?"
        return kind if self._cased else {"l": "l", "u": "l", "o": "p" if new[0] == "M" else "l"}.get(kind, kind)


_KINDS = {
    **dict.fromkeys(("Ll",), "l"),
    **dict.fromkeys(("Lu", "Lt"), "u"),
    **dict.fromkeys(("Lo", "Lm", "Mn", "Mc", "Me"), "o"),
    **dict.fromkeys(("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So"), "p"),
    **dict.fromkeys(("Nd", "Nl", "No"), "d"),
}
_CASED = _Classes(True)
_PLAIN = _Classes(False)
