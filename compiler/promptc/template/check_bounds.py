"""Refuse a source that is too large or nests too deeply, before the recursive parser sees it."""

from collections.abc import Iterator
from math import isinf

from promptc.diag.findings import Diagnostic
from promptc.template.limits import Limits
from promptc.template.place import Place

_OPENING = frozenset({"if", "for", "macro", "call", "filter", "block", "with", "autoescape"})
_COUNTED = frozenset({"name", "operator", "integer", "float", "string"})
_LOOSE = frozenset({"and", "or", "not", "if", "else"})


def check_size(text: str, name: str, place: Place, limits: Limits) -> Iterator[Diagnostic]:
    """One finding when the source is over `limits.source` bytes."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.source:
        message = f"the template has {size} bytes; at most {limits.source} are allowed"
        yield Diagnostic("PC0402", message, place.find_span(name, text, 1), "split it, and `include` the parts; or raise `limits.source`")


def check_bounds(tokens: Iterator[tuple[int, str, str]], text: str, name: str, place: Place, limits: Limits) -> Iterator[Diagnostic]:
    """At most one finding: the first bound the tokens (place, kind, text) break."""
    state = _Nesting(limits)
    for at, kind, value in tokens:
        found = state.read(kind, value)
        if found:
            code, message, help = found
            yield Diagnostic(code, message, place.find_span(name, text, at), help)
            return


class _Level:
    """One pair of brackets: how deep, at most, its operators hang on each other.

    `and`, `or`, `not`, `if`, `else` bind loosest, so what stands between them starts afresh; what stands between commas hangs on nothing.
    """

    __slots__ = ("loose", "tight", "tightest", "deepest")

    def __init__(self) -> None:
        self.loose = self.tight = self.tightest = self.deepest = 0

    def end_operand(self) -> None:
        """A loose operator follows."""
        self.tightest = max(self.tightest, self.tight)
        self.tight = 0

    def end_part(self) -> None:
        """A comma follows."""
        self.deepest = self.depth()
        self.loose = self.tight = self.tightest = 0

    def depth(self) -> int:
        """Of the whole pair of brackets so far."""
        return max(self.deepest, self.loose + max(self.tightest, self.tight))


_Found = tuple[str, str, str] | None


class _Nesting:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.levels = [_Level()]
        self.tokens = 0
        self.blocks: list[int] = []
        self.tag = ""
        self.assigns = False

    def read(self, kind: str, value: str) -> _Found:
        """Take in one token; what it breaks, or None."""
        if kind in ("variable_begin", "block_begin"):
            self.levels, self.tokens, self.tag, self.assigns = [_Level()], 0, "?" if kind == "block_begin" else "", False
            return None
        if kind == "block_end":
            return self._end_tag()
        if kind not in _COUNTED:
            return None
        self.tokens += 1
        if self.tokens > self.limits.tokens:
            return "PC0403", f"more than {self.limits.tokens} tokens in one tag", "split it with `set`"
        return self._read_number(kind, value) or self._read_word(kind, value)

    def _read_number(self, kind: str, value: str) -> _Found:
        long = kind in ("integer", "float") and len(value) > self.limits.digits
        if long or (kind == "float" and isinf(float(value))):
            return (
                "PC0404",
                f"the number `{value[:20]}` is too large",
                f"at most {self.limits.digits} digits, and no more than about 1.8e308",
            )
        return None

    def _read_word(self, kind: str, value: str) -> _Found:
        level = self.levels[-1]
        if kind == "name":
            if self.tag == "?":
                self.tag = value
            elif value in _LOOSE:
                level.end_operand()
                level.loose += 1
            elif value in ("in", "is"):
                level.tight += 1
        elif kind == "operator":
            self._read_operator(value, level)
        if len(self.levels) - 1 > self.limits.brackets:
            return "PC0403", f"more than {self.limits.brackets} brackets inside each other", "split the expression with `set`"
        if self.levels[-1].depth() > self.limits.chain:
            return "PC0403", f"more than {self.limits.chain} operators hang on each other in one expression", "split it with `set`"
        return None

    def _read_operator(self, value: str, level: _Level) -> None:
        if value in "([{":
            self.levels.append(_Level())
        elif value in ")]}" and len(self.levels) > 1:
            self.levels.pop()
            self.levels[-1].tight += 1 + level.depth()
        elif value == "~":
            level.end_operand()
        elif value in (",", ":"):
            level.end_part()
        elif value == "=":
            self.assigns = self.assigns or len(self.levels) == 1
        else:
            level.tight += 1

    def _end_tag(self) -> _Found:
        tag, self.tag = self.tag, ""
        if tag in _OPENING or (tag == "set" and not self.assigns):
            self.blocks.append(0)
            if len(self.blocks) > self.limits.blocks:
                return "PC0403", f"more than {self.limits.blocks} statements inside each other", "move the inner ones to a macro"
        elif tag.startswith("end") and self.blocks:
            self.blocks.pop()
        elif tag == "elif" and self.blocks:
            self.blocks[-1] += 1
            if self.blocks[-1] > self.limits.branches:
                return "PC0403", f"more than {self.limits.branches} `elif` in one `if`", "look the value up in a mapping"
        return None
