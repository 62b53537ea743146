"""Jinja's lexer and parser, with a place for every token. Nothing of Jinja runs beyond this."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.lexer import TokenStream
from jinja2.parser import Parser

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.template.check_bounds import check_bounds, check_size
from promptc.template.limits import Limits
from promptc.template.place import Place
from promptc.template.runtime.reword import reword

Token = tuple[int, str, str]


class PartsBudget:
    """What is left of `Limits.parts` for a template and the files it brings in."""

    __slots__ = ("left", "most")

    def __init__(self, limits: Limits) -> None:
        self.left = self.most = limits.parts


def parse(
    text: str, name: str, place: Place, limits: Limits, *, expression: bool = False, parts: PartsBudget | None = None
) -> nodes.Template:
    """Jinja's tree of a template, or of one expression. The `lineno` of every node is its place: the characters before it, plus 1.

    `parts` is what the other files of the template have left of that limit.
    `text` has line ends as `\\n`. Bounds are checked before the parser, which recurses, sees a token. Raises `PromptcError`.
    """
    _raise(check_size(text, name, place, limits))
    tokens: list[Token] = []
    try:
        placed = _note(_iter_placed(text, "variable" if expression else None), tokens, parts or PartsBudget(limits))
        _raise(check_bounds(placed, text, name, place, limits))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python deprecates unknown escapes in a text; Jinja takes them as they stand
            environment = _find_environment()
            parser = Parser(environment, "")
            parser.stream = TokenStream(environment.lexer.wrap(tokens), None, None)
            return _parse_expression(parser) if expression else parser.parse()
    except _TooMany as wrong:
        help = "print less by hand: loop, or raise `limits.parts`"
        raise PromptcError([Diagnostic("PC0403", wrong.message or "", place.find_span(name, text, wrong.lineno), help)]) from None
    except TemplateSyntaxError as wrong:
        raise PromptcError([wrong_syntax(wrong.message, name, text, wrong.lineno, place)]) from None


def verbatim(text: str) -> nodes.Template:
    """The tree of a file that stands as it is."""
    return nodes.Template([nodes.Output([nodes.TemplateData(text, lineno=1)], lineno=1)], lineno=1)


def iter_tokens(text: str) -> Iterator[Token]:
    """The tokens of a template that can be parsed, white space and comments included: the place of each, its kind, its text."""
    return _iter_placed(text, None)


def wrong_syntax(why: str | None, name: str, text: str, at: int, place: Place) -> Diagnostic:
    """The finding for what Jinja's grammar does not know."""
    message = reword(why or "wrong syntax")[0]
    if message.startswith("unexpected char "):
        message = message.rpartition(" at ")[0]  # Jinja's count of characters, of a text that the author does not see
    return Diagnostic("PC0401", message, place.find_span(name, text, at), _advise(message))


def _advise(message: str) -> str:
    if message == "unexpected char '#'":
        return "an expression has no remarks, also over several lines: put it above the key, where YAML reads it"
    return "something is left open before this place" if "end of" in message else "see docs/templates.md"


def _iter_placed(source: str, state: str | None) -> Iterator[Token]:
    """The lexer's tokens with their places. Only white space is ever skipped between two, so each is found from the last on."""
    at = 0
    tokens = _find_environment().lexer.tokeniter(source, None, None, state)
    while True:
        try:
            _, kind, value = next(tokens)
        except StopIteration:
            return
        except TemplateSyntaxError as wrong:
            raise TemplateSyntaxError(wrong.message or "", at + 1) from None
        at = source.find(value, at)
        yield at + 1 + (value == "." and kind == "operator"), kind, value
        at += len(value)


def _note(tokens: Iterator[Token], noted: list[Token], parts: PartsBudget) -> Iterator[Token]:
    for token in tokens:
        parts.left -= token[1] not in _FREE
        if parts.left < 0:
            raise _TooMany(f"more than {parts.most} parts: tags, names, signs and texts, files that are brought in included", token[0])
        noted.append(token)
        yield token


_FREE = frozenset({"whitespace", "comment_begin", "comment", "comment_end"})
"""Tokens the parser never sees."""


class _TooMany(TemplateSyntaxError):
    """The template has more parts than it may."""


@cache
def _find_environment() -> Environment:
    return Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False, optimized=False, cache_size=0)


def _raise(findings: Iterator[Diagnostic]) -> None:
    found = list(findings)
    if found:
        raise PromptcError(found)


def _parse_expression(parser: Parser) -> nodes.Template:
    found = parser.parse_expression()
    if not parser.stream.eos:
        current = parser.stream.current
        raise TemplateSyntaxError(f"the expression ends before `{current}`", current.lineno)
    tree = nodes.Template([nodes.Output([found], lineno=found.lineno)], lineno=1)
    tree.set_environment(parser.environment)
    return tree
