"""The sections of a plan as blocks that may say the same thing twice: what they list, on what conditions, what they print of it."""

from collections.abc import Iterator

from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.settled import SettledTexts
from promptc.check.texts import UsedText, iter_texts
from promptc.diag.frozen import frozen
from promptc.model.pack import PackModel
from promptc.model.section import Section
from promptc.template.compile import Expression
from promptc.template.types.algebra import read_code
from promptc.template.types.conditions import ANYTHING, Cases, Origin, join_cases, list_cases, list_origins
from promptc.template.types.types import UNKNOWN_TYPE, Type
from promptc.text.white import is_blank

_OWN = frozenset(("this", "section", "selected", "group", "each"))
"""Names that stand for something else in another section."""


@frozen(eq=False)
class ComparedBlock:
    """A section that may be on. `cases`: its `when`, and of a list also its `where`. `origins`: the lists of the state that its items come
    from; `prints`: the parts of `item` that their texts read; `item`: what an item is.
    """

    section: Section
    cases: Cases
    origins: tuple[Origin, ...] = ()
    prints: frozenset[tuple[str, ...]] = frozenset()
    item: Type = UNKNOWN_TYPE


class BlockFinder:
    """Finds them in the looks of one pack; each section once, however many looks share it."""

    def __init__(self, pack: PackModel) -> None:
        self._pack = pack
        self._settled = SettledTexts(pack)
        self._found: dict[int, tuple[Section, ComparedBlock]] = {}
        self.scopes = Scopes(pack)

    def list_blocks(self, look: Configuration) -> tuple[ComparedBlock, ...]:
        """Those that are not constantly off, in order."""
        texts: dict[str, list[UsedText]] = {}
        for text in iter_texts(self._pack, look.plan, look.combination.tier + 1):
            if text.section is not None:
                texts.setdefault(text.section.id, []).append(text)
        return tuple(self._find(one, texts.get(one.id, [])) for one in look.plan.sections if not self._settled.is_off(one))

    def is_blank(self, section: Section) -> bool:
        """True for a constant text of white space: there is no such block."""
        content = self._settled.find_content(section)
        return content is not None and is_blank(content)

    def _find(self, section: Section, texts: list[UsedText]) -> ComparedBlock:
        if id(section) not in self._found:
            self._found[id(section)] = (section, self._make(section, texts))
        return self._found[id(section)][1]

    def _make(self, section: Section, texts: list[UsedText]) -> ComparedBlock:
        items, when = section.items, self._find_cases(section.when, texts)
        if items is None:
            return ComparedBlock(section, when)
        shown = [text for text in texts if any(text.code is one for one in _iter_shown(section))]
        prints = frozenset(path for text in shown for path in text.code.reads if path[0] == "item")
        asked = [text for text in texts if text.code is items.where] or shown
        if not asked:
            return ComparedBlock(section, when, (), prints)
        scope = self.scopes.open(asked[0])
        item = scope.names["item"].kind if "item" in scope.names else UNKNOWN_TYPE
        if not isinstance(items.source, Expression):
            return ComparedBlock(section, when, (), prints, item)
        cases = join_cases(when, self._find_cases(items.where, texts))
        return ComparedBlock(section, cases, list_origins(read_code(items.source), scope), prints, item)

    def _find_cases(self, condition: Expression | None, texts: list[UsedText]) -> Cases:
        """What a condition demands of what another section may speak of as well."""
        text = next((one for one in texts if one.code is condition), None)
        if condition is None or text is None:
            return ANYTHING
        cases = list_cases(read_code(condition), self.scopes.open(text))
        return tuple(tuple(demand for demand in case if not demand.names & _OWN) for case in cases)


def _iter_shown(section: Section) -> Iterator[object]:
    items = section.items
    if items is not None:
        yield from items.forms
        yield from (items.message.content,) if items.message is not None else ()
