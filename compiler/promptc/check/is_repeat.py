"""Whether two sections say the same."""

from promptc.model.section import Items, Section
from promptc.model.source import Retrieve, Segments, iter_expressions
from promptc.template.kinds.shown import spell_tree
from promptc.template.kinds.trees import read_code
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template

_OWN = frozenset(("section", "selected"))
"""Names that make the same text say something else in another section."""


def is_repeat(first: Section, second: Section) -> bool:
    """True where both have the same text, or list the same items by the same filter in the same form."""
    if first.text is not None and second.text is not None:
        return _is_same(first.text, second.text)
    if first.items is None or second.items is None:
        return False
    return _list_the_same(first.items, second.items) and _show_the_same(first.items, second.items)


def _is_same(first: Expression | Template | None, second: Expression | Template | None) -> bool:
    if first is None or second is None:
        return first is second
    if any(path[0] in _OWN for path in (*first.reads, *second.reads)):
        return False
    return spell_tree(read_code(first)) == spell_tree(read_code(second))


def _list_the_same(first: Items, second: Items) -> bool:
    return _ask_the_same(first.source, second.source) and _is_same(first.where, second.where)


def _ask_the_same(first: Expression | Segments | Retrieve, second: Expression | Segments | Retrieve) -> bool:
    if isinstance(first, Segments) and isinstance(second, Segments):
        if (first.store, first.scope) != (second.store, second.scope):
            return False
    elif isinstance(first, Retrieve) and isinstance(second, Retrieve):
        if first.indexes != second.indexes:
            return False
    elif not (isinstance(first, Expression) and isinstance(second, Expression)):
        return False
    own, other = list(iter_expressions(first)), list(iter_expressions(second))
    return [key for key, _ in own] == [key for key, _ in other] and all(
        _is_same(one, two) for (_, one), (_, two) in zip(own, other, strict=True)
    )


def _show_the_same(first: Items, second: Items) -> bool:
    if first.message is not None or second.message is not None:
        own, other = first.message, second.message
        return own is not None and other is not None and _is_same(own.content, other.content)
    return any(_is_same(one, other) for one in first.forms for other in second.forms)
