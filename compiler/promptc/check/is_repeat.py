"""Whether two sections say the same."""

from hashlib import blake2b

from promptc.model.section import Items, Retrieve, Section, Segments, iter_expressions
from promptc.template.compile import Expression, Template
from promptc.template.types.algebra import read_code
from promptc.template.types.infer import find_shown, spell_tree

_OWN = frozenset(("section", "selected"))
"""Names that make the same text say something else in another section."""


class Repeats:
    """Compares the sections of one pack, each with each; a text is spelled once, however often it is compared."""

    def __init__(self) -> None:
        self._spelled: dict[int, tuple[object, bytes]] = {}
        self._shown: dict[int, tuple[object, tuple[str, ...] | None]] = {}

    def is_repeat(self, first: Section, second: Section) -> bool:
        """True where both have the same text, or list the same items by the same filter in the same form."""
        if first.text is not None and second.text is not None:
            return self._is_same(first.text, second.text)
        if first.items is None or second.items is None:
            return False
        return self._list_the_same(first.items, second.items) and self._show_the_same(first.items, second.items)

    def find_shown(self, section: Section) -> tuple[str, ...] | None:
        """The path that a section's text puts out as all it holds; None for all others."""
        text = section.text
        if text is None:
            return None
        if id(text) not in self._shown:
            self._shown[id(text)] = (text, find_shown(read_code(text)))
        return self._shown[id(text)][1]

    def _is_same(self, first: Expression | Template | None, second: Expression | Template | None) -> bool:
        if first is None or second is None:
            return first is second
        if any(path[0] in _OWN for path in (*first.reads, *second.reads)):
            return False
        return self._spell(first) == self._spell(second)

    def _spell(self, code: Expression | Template) -> bytes:
        if id(code) not in self._spelled:
            spelled = spell_tree(read_code(code)).encode("utf-8", "surrogatepass")
            self._spelled[id(code)] = (code, blake2b(spelled).digest())
        return self._spelled[id(code)][1]

    def _list_the_same(self, first: Items, second: Items) -> bool:
        return self._ask_the_same(first.source, second.source) and self._is_same(first.where, second.where)

    def _ask_the_same(self, first: Expression | Segments | Retrieve, second: Expression | Segments | Retrieve) -> bool:
        """Of two sources: lists, stores or indexes."""
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
            self._is_same(one, two) for (_, one), (_, two) in zip(own, other, strict=True)
        )

    def _show_the_same(self, first: Items, second: Items) -> bool:
        if first.message is not None or second.message is not None:
            own, other = first.message, second.message
            return own is not None and other is not None and self._is_same(own.content, other.content)
        return any(self._is_same(one, other) for one in first.forms for other in second.forms)
