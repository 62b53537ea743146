"""What differs between two prompts: facts, sections, items, words."""

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence

from promptc.compare.side import BETWEEN, WHOLE, Gap, Side, SideItem, SideSection
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Literal
from promptc.text.diff import TextRun, diff_words

Change = Literal["gained", "lost", "changed", "moved"]


@frozen
class FactChange:
    """A named fact that differs; empty where a side has none."""

    name: str
    old: str
    new: str


@frozen
class ItemChange:
    """An item that came, went, reads otherwise or stands elsewhere among those that stayed. `why` names what removed it, where known."""

    id: str
    change: Change
    old_tokens: int
    new_tokens: int
    why: str = ""


@frozen
class SectionChange:
    """A section that differs: its state and tokens on both sides (None: no such section, or not told), its items, and all its words."""

    id: str
    old_state: str | None
    new_state: str | None
    old_tokens: int | None
    new_tokens: int | None
    items: tuple[ItemChange, ...]
    runs: tuple[TextRun, ...]
    is_moved: bool = False


@frozen
class Difference:
    """What differs, in the order of the new side; `shared` characters of the old side's `length` are the beginning of both."""

    facts: tuple[FactChange, ...] = ()
    sections: tuple[SectionChange, ...] = ()
    shared: int = 0
    length: int = 0
    unchanged: tuple[str, ...] = field(default_factory=tuple)

    @property
    def is_empty(self) -> bool:
        """True when the prompts are the same."""
        return not self.facts and not self.sections and self.shared == self.length


def compare_sides(old: Side, new: Side) -> Difference:
    """The difference. Equal prompts with equal reports give an empty one. What changes between sections (separators, roles) is told as a
    section of its own, `BETWEEN`.

    Where one side has no report, both are compared as a whole; so they are where they differ in nothing that has a name.
    """
    if _is_whole(old) or _is_whole(new):
        old, new = _make_whole(old), _make_whole(new)
    sections = (*_iter_sections(old.sections, new.sections), *_compare_gaps(old.gaps, new.gaps))
    if old.text != new.text and not sections:
        sections = tuple(_iter_sections(_make_whole(old).sections, _make_whole(new).sections))
    names = sorted(set(old.facts) | set(new.facts), key=[*new.facts, *old.facts].index)
    facts = tuple(
        FactChange(name, old.facts.get(name, ""), new.facts.get(name, ""))
        for name in names
        if old.facts.get(name, "") != new.facts.get(name, "")
    )
    changed = {one.id for one in sections}
    unchanged = tuple(one.id for one in new.sections if one.id not in changed and one.state == "present")
    shared = _count_shared(old.text, new.text)
    length = max(len(old.text), len(new.text) if new.text.startswith(old.text) else 0)
    return Difference(facts, sections, shared, length, unchanged)


def _is_whole(side: Side) -> bool:
    return [one.id for one in side.sections] == [WHOLE]


def _make_whole(side: Side) -> Side:
    """The prompt without its parts, as one is known that has no report."""
    return Side({}, (SideSection(WHOLE, "present", side.text),), side.text)


def _compare_gaps(old: Sequence[Gap], new: Sequence[Gap]) -> Iterator[SectionChange]:
    """The stretches between the same two parts that read otherwise, and those between others that the other side has nowhere."""
    went, came = "".join(_find_own(old, new)), "".join(_find_own(new, old))
    if went != came:
        yield SectionChange(BETWEEN, "present", "present", None, None, (), diff_words(went, came))


def _find_own(gaps: Sequence[Gap], others: Sequence[Gap]) -> Iterator[str]:
    known = {one[:2]: one[2] for one in others}
    told = set(known.values())
    for before, behind, text in gaps:
        if known.get((before, behind), text) != text:
            yield text
        elif (before, behind) not in known and text not in told:
            told.add(text)
            yield text


def _count_shared(old: str, new: str) -> int:
    """The characters that both begin with."""
    return bisect(range(1, min(len(old), len(new)) + 1), False, key=lambda length: not new.startswith(old[:length]))


def _iter_sections(old: Sequence[SideSection], new: Sequence[SideSection]) -> Iterator[SectionChange]:
    before = {one.id: one for one in old}
    after = {one.id: one for one in new}
    held = {one.id for one in old if one.text} & {one.id for one in new if one.text}
    moved = _find_moved([one.id for one in old if one.id in held], [one.id for one in new if one.id in held])
    for name in _order(list(before), list(after)):
        found = _compare(name, before.get(name), after.get(name), is_moved=name in moved)
        if found is not None:
            yield found


def _order(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new ones in their order, each old one that is gone behind the one it followed."""
    order = list(new)
    for place, name in enumerate(old):
        if name not in new:
            order.insert(order.index(old[place - 1]) + 1 if place else 0, name)
    return order


def _find_moved(old: Sequence[str], new: Sequence[str]) -> frozenset[str]:
    """Of the same ids in two orders the fewest whose moving makes one of the other: those outside a longest rising run, found by patience
    sorting.
    """
    places = {name: place for place, name in enumerate(old)}
    ends: list[int] = []
    before: dict[int, int] = {}
    for place in (places[name] for name in new):
        pile = bisect(ends, place)
        ends[pile : pile + 1] = [place]
        if pile:
            before[place] = ends[pile - 1]
    kept, place = set(), ends[-1] if ends else -1
    while place >= 0:
        kept.add(place)
        place = before.get(place, -1)
    return frozenset(name for name in new if places[name] not in kept)


def _compare(name: str, old: SideSection | None, new: SideSection | None, *, is_moved: bool) -> SectionChange | None:
    before, after = old or _NONE, new or _NONE
    if before.text == after.text and (before.state or "off") == (after.state or "off") and before.tokens == after.tokens and not is_moved:
        return None
    if before.text == after.text and (old is None or new is None):
        return None  # a section that is declared on one side only and shows on neither
    items = tuple(_iter_items(before.items, after.items, after.gone))
    return SectionChange(
        name,
        old.state if old is not None else None,
        new.state if new is not None else None,
        before.tokens,
        after.tokens,
        items,
        diff_words(before.text, after.text),
        is_moved,
    )


_NONE = SideSection("", "", "")


def _iter_items(old: Sequence[SideItem], new: Sequence[SideItem], gone: Mapping[str, str]) -> Iterator[ItemChange]:
    before, after = {one.id: one for one in old}, {one.id: one for one in new}
    moved = _find_moved([name for name in before if name in after], [name for name in after if name in before])
    for name in _order(list(before), list(after)):
        one, other = before.get(name), after.get(name)
        if one is None and other is not None:
            yield ItemChange(name, "gained", 0, other.tokens)
        elif one is not None and other is None:
            yield ItemChange(name, "lost", one.tokens, 0, gone.get(name, ""))
        elif one is not None and other is not None and one.text != other.text:
            yield ItemChange(name, "changed", one.tokens, other.tokens)
        elif one is not None and other is not None and name in moved:
            yield ItemChange(name, "moved", one.tokens, other.tokens)
