"""Rules on repetition: sections that share a list, lists that are alike, comparisons that miss duplicates, and repeated texts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice, product
from urllib.parse import unquote

from promptc.check.configurations import Configuration, PackFacts, for_each
from promptc.check.texts import UsedText
from promptc.diag.findings import Diagnostic, Level
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.pack import PackModel
from promptc.model.section import Dedupe, Items, Retrieve, Section, Segments, iter_expressions
from promptc.template.compile import Expression, Template
from promptc.template.types.algebra import part_type
from promptc.template.types.conditions import ANYTHING, Cases, Origin, find_clash, join_cases, list_cases, list_origins
from promptc.template.types.infer import find_shown, list_filters, read_code, spell_tree
from promptc.template.types.types import (
    UNKNOWN_TYPE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    list_members,
)
from promptc.text.characters import is_blank
from promptc.text.json import find_at

_SAID = frozenset(("$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"))
"""Keywords that do not validate anything."""

Path = tuple[str, ...]

_WORDS = 80
"""A text of at most this many characters is a name or a label, which may well occur twice."""

_MOST_EARLIER = 100
"""The most earlier sections that a section is compared with, so that the work grows with the number of sections and not with its square."""

_MOST_TOLD = 4
"""The most earlier lists that are named as overlapping with a list."""

_OWN = frozenset(("this", "section", "selected", "group", "each"))
"""Names that mean something else in another section."""

_OWN_WORDS = frozenset(("section", "selected"))
"""Names that make the same text print something else in another section."""


@frozen(eq=False)
class _ComparedBlock:
    """A section that may be on.

    `cases` are those of its `when`, and for a list also of its `where`. `origins` are the lists of the state from which its items come,
    `prints` the parts of `item` that their texts read, and `item` the type of an item.
    """

    section: Section
    cases: Cases
    origins: tuple[Origin, ...] = ()
    prints: frozenset[tuple[str, ...]] = frozenset()
    item: Type = UNKNOWN_TYPE


@for_each
def check_overlaps(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report two sections of one list whose conditions may hold for the same item, and which both print some of it.

    Nothing is reported if a condition looks the item up in a value that is not known (`item.id not in shown`), or if the list is cut by
    place. Repeated sections are left to another rule.
    """
    blocks, repeats = configuration.facts.get(_BlockFinder), configuration.facts.get(_Repeats)
    lists = [block for block in blocks.list_blocks(configuration) if block.origins]

    def judge(first: _ComparedBlock, second: _ComparedBlock) -> Diagnostic | None:
        path = _name_shared_list(first, second)
        if not path or _is_deduped(first.section, second.section) or repeats.is_repeat(first.section, second.section):
            return None
        return _describe_overlap(first.section, second.section, path)

    yield from configuration.facts.get(_Overlaps).iter_found(lists, lambda block: {one.path for one in block.origins}, judge, _MOST_TOLD)


class _Pairs:
    """Compares the blocks of the configurations of one pack in pairs, for one rule. A pair is judged once for all configurations."""

    def __init__(self, _facts: PackFacts) -> None:
        self._judged: dict[tuple[int, int], Diagnostic | None] = {}

    def iter_found(
        self,
        blocks: Iterable[_ComparedBlock],
        list_keys: Callable[[_ComparedBlock], Iterable[Hashable]],
        judge: Callable[[_ComparedBlock, _ComparedBlock], Diagnostic | None],
        most: int,
    ) -> Iterator[Diagnostic]:
        """Yield what `judge` finds in a block and the earlier ones that share a key with it: for each block, the first `most` findings."""
        listed = list(blocks)
        met: dict[Hashable, list[int]] = {}
        for at, second in enumerate(listed):
            keys = set(list_keys(second))
            earlier = sorted({one for key in keys for one in met.get(key, ())})[:_MOST_EARLIER]
            yield from islice(filter(None, (self._judge(listed[one], second, judge) for one in earlier)), most)
            for key in keys:
                if len(met.setdefault(key, [])) < _MOST_EARLIER:
                    met[key].append(at)

    def _judge(
        self, first: _ComparedBlock, second: _ComparedBlock, judge: Callable[[_ComparedBlock, _ComparedBlock], Diagnostic | None]
    ) -> Diagnostic | None:
        pair = id(first), id(second)
        if pair not in self._judged:
            self._judged[pair] = judge(first, second)
        return self._judged[pair]


class _Overlaps(_Pairs):
    """The pairs of `check_overlaps`."""


class _Alikes(_Pairs):
    """The pairs of `check_alike`."""


class _Repetitions(_Pairs):
    """The pairs of `check_repeats`."""


class _BlockFinder:
    """Makes the blocks of the configurations of one pack. A section's block is made once, however many configurations share it."""

    def __init__(self, facts: PackFacts) -> None:
        self._settled = facts.settled
        self._found: dict[int, tuple[Section, _ComparedBlock]] = {}
        self.scopes = facts.scopes

    def list_blocks(self, configuration: Configuration) -> tuple[_ComparedBlock, ...]:
        """Return the blocks of a configuration in order, without those that are always off."""
        texts: dict[str, list[UsedText]] = {}
        for text in configuration.iter_texts():
            if text.section is not None:
                texts.setdefault(text.section.id, []).append(text)
        return tuple(self._load_block(one, texts.get(one.id, [])) for one in configuration.plan.sections if not self._settled.is_off(one))

    def is_blank(self, section: Section) -> bool:
        """Return whether the section is a constant blank text, which makes no block of its own."""
        content = self._settled.find_content(section)
        return content is not None and is_blank(content)

    def _load_block(self, section: Section, texts: list[UsedText]) -> _ComparedBlock:
        if id(section) not in self._found:
            self._found[id(section)] = (section, self._make(section, texts))
        return self._found[id(section)][1]

    def _make(self, section: Section, texts: list[UsedText]) -> _ComparedBlock:
        items, when = section.items, self._list_own_cases(section.when, texts)
        if items is None:
            return _ComparedBlock(section, when)
        shown = [text for text in texts if any(text.code is one for one in _iter_shown(section))]
        prints = frozenset(path for text in shown for path in text.code.reads if path[0] == "item")
        asked = [text for text in texts if text.code is items.where] or shown
        if not asked:
            return _ComparedBlock(section, when, (), prints)
        scope = self.scopes.make_scope(asked[0])
        item = scope.names["item"].kind if "item" in scope.names else UNKNOWN_TYPE
        if not isinstance(items.source, Expression):
            return _ComparedBlock(section, when, (), prints, item)
        cases = join_cases(when, self._list_own_cases(items.where, texts))
        return _ComparedBlock(section, cases, list_origins(read_code(items.source), scope), prints, item)

    def _list_own_cases(self, condition: Expression | None, texts: list[UsedText]) -> Cases:
        """Return the cases of a condition, without demands on names that mean something else in another section."""
        text = next((one for one in texts if one.code is condition), None)
        if condition is None or text is None:
            return ANYTHING
        cases = list_cases(read_code(condition), self.scopes.make_scope(text))
        return tuple(tuple(demand for demand in case if not demand.names & _OWN) for case in cases)


def _iter_shown(section: Section) -> Iterator[object]:
    items = section.items
    if items is not None:
        yield from items.forms
        yield from (items.message.content,) if items.message is not None else ()


class _Repeats:
    """Compares the sections of one pack in pairs. A text is spelled once, however often it is compared."""

    def __init__(self, facts: PackFacts) -> None:
        self._spelled: dict[int, tuple[object, bytes]] = {}
        self._shown: dict[int, tuple[object, tuple[str, ...] | None]] = {}

    def is_repeat(self, first: Section, second: Section) -> bool:
        """Return whether both have the same text, or list the same items by the same filter in the same form."""
        if first.text is not None and second.text is not None:
            return self._is_same(first.text, second.text)
        if first.items is None or second.items is None:
            return False
        return self._list_the_same(first.items, second.items) and self._show_the_same(first.items, second.items)

    def list_keys(self, section: Section) -> Iterator[Hashable]:
        """Yield what a section has in common with those that it may repeat: at least one of these keys."""
        if section.text is not None:
            yield self._spell(section.text)
            yield from filter(None, (self.find_shown(section),))
        elif section.items is not None:
            source, message = section.items.source, section.items.message
            asked = tuple(self._spell(code) for _, code in iter_expressions(source))
            yield from ((asked, self._spell(form)) for form in (section.items.forms if message is None else (message.content,)))

    def find_shown(self, section: Section) -> tuple[str, ...] | None:
        """Return the path whose value is all that a section's text prints, or None."""
        text = section.text
        if text is None:
            return None
        if id(text) not in self._shown:
            self._shown[id(text)] = (text, find_shown(read_code(text)))
        return self._shown[id(text)][1]

    def _is_same(self, first: Expression | Template | None, second: Expression | Template | None) -> bool:
        if first is None or second is None:
            return first is second
        if any(path[0] in _OWN_WORDS for path in (*first.reads, *second.reads)):
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
        """Return whether both use the same list, store or index, with the same queries."""
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


def _name_shared_list(first: _ComparedBlock, second: _ComparedBlock) -> str:
    """Return the first list from which an item of both may come; empty if there is none, or if they print no common part of it."""
    if not any(one[: len(other)] == other[: len(one)] for one in first.prints for other in second.prints):
        return ""
    for one in first.origins:
        for other in second.origins:
            if one.path == other.path and _can_hold_for_one_item(first.cases, one.cases, second.cases, other.cases):
                return one.spelled
    return ""


def _is_deduped(first: Section, second: Section) -> bool:
    """Return whether a `dedupe.against` of one section names the other."""
    pairs = ((first, second), (second, first))
    return any(one.items is not None and one.items.dedupe is not None and other.id in one.items.dedupe.against for one, other in pairs)


def _describe_overlap(first: Section, second: Section, path: str) -> Diagnostic:
    span = second.items.source.span if second.items is not None else second.span
    message = f"`{first.id}` and `{second.id}` may both list the same item of `{path}`"
    help = f"give `{second.id}` a `dedupe` with `against: [{first.id}]`, or each a `where` that the other excludes"
    return Diagnostic("PC0670", message, span, help, "warn")


def _can_hold_for_one_item(*cases: Cases) -> bool:
    """Return whether all cases can hold together for one item. Alternatives that look the item up in an unknown value are ignored."""
    told = tuple(case for case in join_cases(*cases) if not any(demand.operator == "outside" and "item" in demand.names for demand in case))
    return bool(told) and find_clash(told) is None


@for_each
def check_alike(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report pairs of lists whose objects are alike by the schema, if both sections print the same free text of them.

    Their conditions must be able to hold together. Sections of one list are left to another rule.
    """
    if pack.schema is None:
        return
    blocks = configuration.facts.get(_BlockFinder)
    lists = [block for block in blocks.list_blocks(configuration) if block.origins and block.section.items is not None]

    def judge(first: _ComparedBlock, second: _ComparedBlock) -> Diagnostic | None:
        shared = [path for path in _list_shared_prints(first, second) if _is_free_text(first, path) and _is_free_text(second, path)]
        pair = _find_pair(first, second, pack, blocks) if shared else None
        if pair is None or _is_deduped(first.section, second.section):
            return None
        return _describe_alike(first, second, pair, shared[0])

    yield from configuration.facts.get(_Alikes).iter_found(lists, lambda _: ("list",), judge, _MOST_TOLD)


def _list_shared_prints(first: _ComparedBlock, second: _ComparedBlock) -> tuple[Path, ...]:
    """Return the paths of `item` that texts of both read, sorted. Of `item.a` and `item.a.b`, return the longer one."""
    found = set()
    for one in first.prints:
        for other in second.prints:
            if _is_within(one, other) or _is_within(other, one):
                found.add(max(one, other, key=len))
    return tuple(sorted(found))


def _is_within(path: Path, whole: Path) -> bool:
    """Return whether a path is another path or a part of it."""
    return path[: len(whole)] == whole


def _is_free_text(block: _ComparedBlock, path: Path) -> bool:
    """Return whether a part of the block's items is known to be a text without a list of allowed values."""
    kind: Type = block.item
    for part in path[1:]:
        kind = part_type(kind, part)
    texts = [member for member in list_members(kind) if isinstance(member, TextType)]
    return any(text.values is None for text in texts)


def _find_pair(first: _ComparedBlock, second: _ComparedBlock, pack: PackModel, blocks: _BlockFinder) -> tuple[Origin, Origin] | None:
    pairs = [*product(first.origins, second.origins)]
    if any(one.path == other.path for one, other in pairs):
        return None
    for one, other in pairs:
        places = [_place_elements(blocks.scopes.state, origin) for origin in (one, other)]
        if all(places) and _are_alike(pack.schema, *places) and _can_hold_for_one_item(first.cases, one.cases, second.cases, other.cases):
            return one, other
    return None


def _place_elements(state: Type, origin: Origin) -> str:
    """Return where the schema declares the elements of a list; empty if they are not objects of one type."""
    kind = state
    for part in origin.path[1:]:
        if not isinstance(part, str | int):
            return ""
        kind = part_type(kind, part)
    elements = [one for member in list_members(kind) if isinstance(member, ListType) for one in list_members(member.element)]
    places = {one.at if isinstance(one, MappingType) else "" for one in elements}
    return places.pop() if len(places) == 1 else ""


def _are_alike(root: Any, first: str, second: str) -> bool:
    """Return whether `first` and `second`, places of objects in the schema `root` (`#/…`), declare like objects.

    They do if they are the same place or say the same, or if a property of one is declared as a property of the other.
    """
    if first == second:
        return True
    one, other = (find_at(root, unquote(place.removeprefix("#"))) for place in (first, second))
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    return _strip(one) == _strip(other) or _refers(one, second) or _refers(other, first)


def _strip(schema: Any) -> Any:
    """Return a schema without keywords that only explain; names of properties stay."""
    if isinstance(schema, list):
        return [_strip(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return dict(_iter_stripped(schema))


def _iter_stripped(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            yield key, {name: _strip(one) for name, one in value.items()}
        elif key not in _SAID:
            yield key, _strip(value)


def _refers(schema: dict[str, Any], place: str) -> bool:
    properties = schema.get("properties")
    declared = properties.values() if isinstance(properties, dict) else ()
    return any(str(one.get("$ref", "")).startswith(f"{place}/properties/") for one in declared if isinstance(one, dict))


def _describe_alike(first: _ComparedBlock, second: _ComparedBlock, pair: tuple[Origin, Origin], path: Path) -> Diagnostic:
    items, printed = second.section.items, ".".join(path)
    message = (
        f"`{first.section.id}` lists `{pair[0].spelled}` and `{second.section.id}` lists `{pair[1].spelled}`, whose elements have "
        f"the same schema, and both print `{printed}`: the same text may appear twice"
    )
    help = f"give `{second.section.id}` a `dedupe` with `by: {printed}` and `against: [{first.section.id}]`"
    return Diagnostic("PC0675", message, items.source.span if items is not None else second.section.span, help, "note")


@for_each
def check_compared(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report lists whose `dedupe` misses repeated texts of an earlier list, although both print the same free text.

    It compares a part that neither prints, or compares the text exactly.
    """
    met: dict[str, _ComparedBlock] = {}
    for block in configuration.facts.get(_BlockFinder).list_blocks(configuration):
        dedupe = block.section.items.dedupe if block.section.items is not None else None
        for name in dedupe.against if dedupe is not None else ():
            if dedupe is not None and name in met:
                yield from _judge(dedupe, met[name], block)
        met[block.section.id] = block


def _judge(dedupe: Dedupe, first: _ComparedBlock, second: _ComparedBlock) -> Iterator[Diagnostic]:
    shared = [path for path in _list_shared_prints(first, second) if _is_free_text(first, path) and _is_free_text(second, path)]
    compared = [path for path in dedupe.by.reads if path[0] == "item"]
    if not shared or not compared:
        return
    covered = [path for path in shared if any(_is_within(path, one) or _is_within(one, path) for one in compared)]
    if not covered:
        yield _tell_other(dedupe, first, second, compared=min(compared), printed=shared[0])
    elif dedupe.exact and "normalize" not in list_filters(read_code(dedupe.by)):
        yield _tell_exact(dedupe, first, second, covered[0])


def _tell_other(dedupe: Dedupe, first: _ComparedBlock, second: _ComparedBlock, *, compared: Path, printed: Path) -> Diagnostic:
    key, text = ".".join(compared), ".".join(printed)
    message = (
        f"`dedupe` of `{second.section.id}` compares `{key}` with `{first.section.id}`, but both sections print `{text}`: "
        f"the same text under another `{key}` is printed twice"
    )
    level: Level = "note" if _share_a_list(first, second) else "warn"
    return Diagnostic("PC0676", message, dedupe.span, f"compare the text that both print: {_spell_dedupe(dedupe, text)}", level)


def _spell_dedupe(dedupe: Dedupe, by: str) -> str:
    shown = by if by.replace(".", "").replace("_", "").isalnum() else f'"{by}"'
    last = ", keep: last" if dedupe.keep == "last" else ""
    return f"`dedupe: {{by: {shown}, against: [{', '.join(dedupe.against)}]{last}}}`"


def _share_a_list(first: _ComparedBlock, second: _ComparedBlock) -> bool:
    """Return whether both lists have a common origin.

    If so, the key that is compared may tell their elements apart, and only duplicates within the list are missed.
    """
    return any(one.path == other.path for one in first.origins for other in second.origins)


def _tell_exact(dedupe: Dedupe, first: _ComparedBlock, second: _ComparedBlock, path: Path) -> Diagnostic:
    text = ".".join(path)
    message = (
        f"`dedupe` of `{second.section.id}` compares `{text}` with `{first.section.id}` exactly: "
        "the same text with other capitals, spaces or punctuation is printed twice"
    )
    return Diagnostic("PC0676", message, dedupe.span, f"leave `exact` out: {_spell_dedupe(dedupe, dedupe.by.text.strip())}", "note")


@for_each
def check_repeats(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report sections that repeat an earlier one, the first that may be on together with them.

    They have the same text, list the same items in the same form, or print only the same value of the state. A name or a number may repeat.
    """
    blocks, repeats = configuration.facts.get(_BlockFinder), configuration.facts.get(_Repeats)

    def judge(first: _ComparedBlock, second: _ComparedBlock) -> Diagnostic | None:
        why = "" if blocks.is_blank(first.section) else _compare(first.section, second.section, blocks, repeats)
        if not why or _is_deduped(first.section, second.section) or find_clash(join_cases(first.cases, second.cases)) is not None:
            return None
        message = f"`{second.section.id}` repeats `{first.section.id}`: {why}"
        help = "remove one of them, or give each a `when` that the other excludes"
        return Diagnostic("PC0671", message, second.section.span, help, "warn")

    listed = blocks.list_blocks(configuration)  # whether one is blank is asked of pairs alone: it may take all the steps of a render
    yield from configuration.facts.get(_Repetitions).iter_found(listed, lambda block: repeats.list_keys(block.section), judge, 1)


def _compare(first: Section, second: Section, blocks: _BlockFinder, repeats: _Repeats) -> str:
    """Return how the second section repeats the first, or an empty text."""
    if repeats.is_repeat(first, second):
        return "both have the same text" if first.items is None else "both list the same items in the same form"
    path = repeats.find_shown(first)
    if path is None or path != repeats.find_shown(second) or not _is_long(path, blocks):
        return ""
    return f"both contain only `{'.'.join(path)}`"


def _is_long(path: tuple[str, ...], blocks: _BlockFinder) -> bool:
    """Return whether a path may lead to more than a word: not only a number, a boolean, a listed text or a text of few characters."""
    if path[0] != "state":
        return False
    kind: Type = blocks.scopes.state
    for part in path[1:]:
        kind = part_type(kind, part)
    return not all(_is_short(member) for member in list_members(kind))


def _is_short(member: Type) -> bool:
    if isinstance(member, TextType):
        return member.values is not None or (member.characters is not None and member.characters <= _WORDS)
    return isinstance(member, NumberType | BoolType | NoneType | UndefinedType)
