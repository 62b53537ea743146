"""The way of items through selection and fitting, for tools that explain a render; no render needs it.

`trace_items` goes through the pipeline of one section stage by stage, and reports what each stage left out and why. `describe_source`
reports what was requested from a source and what it returned.

For the ladders after that, `iter_ladders` yields those that removed something, each with its goal; `list_items` and `describe_reason`
describe their cuts. `count_tokens_held` counts what is left of a section at the end, and `describe_lack` says what a prompt that does
not fit lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from promptc.diag.findings import PromptcError, Span, count_noun, join_some, show_plural, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.model.section import Dedupe, Items, MessageForm, Ranked, read_micro, show_score
from promptc.model.stages import Gathered, Item, Selected, Selection
from promptc.passes.bind import list_names
from promptc.passes.fit.fit import count_held
from promptc.passes.fit.result import Applied, Fitted, LadderResult
from promptc.passes.items.arrange import arrange_items, make_cap_name, make_dedupe_key, make_id, name_items
from promptc.passes.items.read import HIDDEN, ItemReader, Read, Reading, is_gone, list_kinds
from promptc.passes.items.render import ItemRenderer
from promptc.passes.items.select import list_standing
from promptc.template.compile import Expression, Program

Places = Sequence[int]
_PARTS = 5

_STAGES = {
    "hidden": "hidden",
    "inactive": "inactive",
    "malformed": "malformed",
    "other_variant": "of another locale or version",
    "other_locale": "in no preferred locale",
    "source": "that `segments.where` refuses",
    "candidates": "not among the best of their index",
    "floor": "under the floor",
    "top": "not among the best",
}

WHYS = {
    "floor": "under the floor",
    "candidates": "not among the best of its index",
    "top": "not among the best",
}
_NAMED = 6
_OVER_CAP = ("PC0530", "PC0531", "PC0535")
"""The errors that say that a section or a pool is over its cap."""

SHARED = "shared"
"""The name of the tokens that no section holds alone."""


@frozen(eq=False)
class Stage:
    """One stage: how many items passed it, the places in `from` of those it left out, where it is declared, and why it left one out."""

    name: str
    passed: int
    left_out: Places
    at: str
    explain: Callable[[int], str]
    note: str = ""


@frozen(eq=False)
class Trace:
    """The stages that a section declares, in order. Places count from 0 in `from`; `reads` are the items that the section looked at.

    `parts` are, by place, the kinds of what messages lost to `parts`.
    """

    section: str
    size: int
    stages: tuple[Stage, ...]
    reads: Mapping[int, Read]
    ids: Mapping[int, str]
    read_unread: Callable[[int], str]
    parts: Mapping[int, tuple[str, ...]]

    def name_item(self, place: int) -> str:
        """Return the id of the item at a place.

        For an item that was not looked at, it is the id that the item would have, or its place if that cannot be known.
        """
        return self.ids[place] if place in self.ids else self.read_unread(place)

    def list_places(self, id: str) -> list[int]:
        """Return every place whose item has that id, first those that were looked at."""
        read = [place for place, name in self.ids.items() if name == id]
        return read + [place for place in range(self.size) if place not in self.ids and self.read_unread(place) == id]


def trace_items(selection: Selection, selected: Selected) -> Trace:
    """Trace the pipeline of a selected section: run it again, one stage at a time."""
    assert selected.section.items is not None
    return _Tracing(selection, selected, selected.section.items).run()


class _Tracing:
    """The state of one trace."""

    def __init__(self, selection: Selection, selected: Selected, items: Items) -> None:
        self._selection = selection
        self._selected = selected
        self._items = items
        self._section = selected.section.id
        self._names = list_names(selection, selected.section)
        self._reader = ItemReader(items, self._names, self._section, selection.bound.find_shows(), selected.gathered)
        bound = selection.bound
        self._renderer = ItemRenderer(selected.section, items, self._names, selection.guard, bound.meter, bound.total)
        self._source = self._reader.source
        self._beyond: Places = ()
        self._own = self._read()
        named = self._own if items.freeze is None else self._reader.list_shown()
        self._ids, _ = name_items((read, self._evaluate_id(read)) for read in named)
        standing, _ = list_standing(items, named, self._ids, self._names, self._section)
        self._standing, _ = self._reader.hold(Reading(tuple(self._own), {}), standing)
        self._stands = frozenset(read.place for read in self._standing)
        self._reads = sorted({read.place: read for read in (*self._standing, *self._own)}.values(), key=lambda read: read.place)

    def run(self) -> Trace:
        """Return the whole trace."""
        reads = {read.place: read for read in self._reads}
        stages = tuple(self._iter_stages())
        return Trace(self._section, len(self._source), stages, reads, self._ids, self._read_unread, self._renderer.left_out)

    # --- reading ---

    def _read(self) -> list[Read]:
        """Read the list as the selection did: as far as it was read. What is before that becomes `_beyond`."""
        reading = self._reader.read(lazily=True)
        first = min((item.unit for item in self._selected.items if item.windowed), default=0) if self._selected.is_partial else 0
        if reading.older is None:
            self._beyond = [read.place for read in reading.items if read.place < first and not read.kept]
            return [read for read in reading.items if read.place >= first or read.kept]
        newest: list[Read] = []
        for read in reading.older:
            newest.append(read)
            if read.place <= first:
                break
        places = {read.place for read in newest}
        older = [read for read in reading.items if read.place not in places]
        held = {read.place for read in older}
        self._beyond = [place for place in range(first) if place not in held]
        return [*older, *reversed(newest)]

    def _evaluate_id(self, read: Read) -> str:
        return make_id(self._items, read, self._renderer.bind, self._section)

    def _read_unread(self, place: int) -> str:
        """Return the id of an element that was not looked at.

        It is the place if the element's expressions fail, or if the element is hidden: its name could reveal its content.
        """
        try:
            shows = self._selection.bound.find_shows() if self._selected.gathered is None else None
            if shows is not None and not shows(self._source[place]):
                return str(place)
            return self._evaluate_id(self._reader.read_at(place))
        except PromptcError:
            return str(place)

    # --- the stages ---

    def _iter_stages(self) -> Iterator[Stage]:
        items, size = self._items, len(self._source)
        gathered = self._selected.gathered
        told = describe_source(gathered) if gathered is not None else ""
        yield Stage("from", size, (), str(items.source.span), _say(""), told)
        hidden, refused = (self._list_others(self._reader.list_refused(stage)) for stage in (HIDDEN, "where"))
        seen = size - len(hidden)
        visible = self._selection.bound.pack.visible
        if visible is not None and gathered is None:
            text = f"`visible` is false for it: {_spell_out(visible)}"
            yield Stage(HIDDEN, seen, hidden, str(visible.span), _say(text))
        if items.where is not None:
            text = f"`where` is false for it: {_spell_out(items.where)}"
            yield Stage("where", seen - len(refused), refused, str(items.where.span), _say(text))
        if items.window is not None:
            met = {*hidden, *refused, *self._beyond, *(read.place for read in self._reads)}
            older = [place for place in range(self._reader.size) if place not in met]
            yield Stage("window", seen - len(refused) - len(older), older, str(items.window.span), _say(self._describe_edge("the window")))
        if self._beyond:
            text = self._describe_edge("what the budget can hold")
            yield Stage("reach", len(self._reads), self._beyond, str(items.span), _say(text))
        yield from self._iter_arranged()

    def _list_others(self, places: Places) -> list[int]:
        """Return those of the places whose items do not keep their place by `freeze`: no stage leaves out the others."""
        return [place for place in places if place not in self._stands]

    def _describe_edge(self, what: str) -> str:
        first = next((self._ids[read.place] for read in self._reads if read.windowed), None)
        return f"it is older than {what}, which begins at `{first}`" if first is not None else f"it is older than {what}"

    def _iter_arranged(self) -> Iterator[Stage]:
        items, before = self._items, self._reads
        bare = replace(items, freeze=None, dedupe=None, sort=(), limit_per=None, limit=None, group=None)
        stages: list[tuple[str, Items, Span, Callable[[int], str]]] = []
        if items.freeze is not None:
            bare = replace(bare, freeze=items.freeze)
            stages.append(("freeze", bare, items.freeze.span, self._explain_late))
        if items.dedupe is not None:
            bare = replace(bare, dedupe=items.dedupe)
            stages.append(("dedupe", bare, items.dedupe.by.span, partial(self._explain_double, items.dedupe)))
        if items.sort:
            bare = replace(bare, sort=items.sort)
            stages.append(("sort", bare, items.sort[0].by.span, _say("")))
        if items.limit_per is not None:
            bare = replace(bare, limit_per=items.limit_per)
            stages.append(("limit_per", bare, items.limit_per.by.span, self._explain_limit_per))
        if items.limit is not None:
            bare = replace(bare, limit=items.limit)
            stages.append(("limit", bare, items.limit.span, _say(f"it is not among the {items.limit.side} {items.limit.count}")))
        if items.group is not None:
            bare = replace(bare, group=items.group)
            stages.append(("group", bare, items.group.by.span, _say("")))
        against = self._list_against()
        keys: dict[int, Any] = {}
        for name, declared, span, explain in stages:
            arranged = arrange_items(declared, self._own, self._renderer.bind, against, self._section, self._standing)
            after = arranged.items
            keys = {read.place: key for read, key in zip(after, arranged.keys, strict=True)}
            places = {read.place for read in after}
            note = self._describe_held() if name == "freeze" else ""
            yield Stage(name, len(after), [read.place for read in before if read.place not in places], str(span), explain, note)
            before = list(after)
        yield from self._iter_rendered(before, keys)

    def _iter_rendered(self, before: Sequence[Read], keys: Mapping[int, Any]) -> Iterator[Stage]:
        """Yield the stages from rendering on. `keys` are the keys of groups, by place; empty if the list has no groups."""
        rendered = [(read, self._renderer.render(read, self._ids[read.place], keys.get(read.place))) for read in before]
        lost = self._renderer.left_out
        if self._items.message is not None and lost:
            yield self._describe_parts(self._items.message, [(read, item) for read, item in rendered if read.place in lost], len(before))
        gone = {read.place for read, item in rendered if item is None and is_gone(lost.get(read.place, ()))}
        before = [read for read in before if read.place not in gone]
        empty = [read.place for read, item in rendered if item is None and read.place not in gone]
        yield Stage("render", len(before) - len(empty), empty, str(self._items.span), _say("it renders to white space only"))
        kept = {(item.id, item.number) for item in self._selected.items}
        alone = [read.place for read, item in rendered if item is not None and (item.id, item.number) not in kept]
        if alone:
            text = "the tool use or the results it belongs to are not selected"
            yield Stage("unit", len(before) - len(empty) - len(alone), alone, str(self._items.span), _say(text))
        if self._items.trim_each is not None:
            whole = replace(self._items, trim_each=None)
            there = [(read, item) for read, item in rendered if item is not None]
            yield self._describe_trimmed(there, whole, self._items.trim_each.span)

    def _describe_parts(self, message: MessageForm, lost: Sequence[tuple[Read, Item | None]], before: int) -> Stage:
        gone = [read.place for read, item in lost if item is None and is_gone(self._renderer.left_out[read.place])]
        told = [f"{list_kinds(self._renderer.left_out[read.place])} of item `{self._ids[read.place]}`" for read, _ in lost]
        note = f"parts left out: {'; '.join(told[:_PARTS])}{f'; and of {len(told) - _PARTS} more' if len(told) > _PARTS else ''}"
        return Stage("parts", before - len(gone), gone, str(message.span), self._explain_parts, note)

    def _explain_parts(self, place: int) -> str:
        return f"`parts` lets none of its parts pass: {list_kinds(self._renderer.left_out[place])}"

    def _describe_trimmed(self, rendered: Sequence[tuple[Read, Item]], items: Items, span: Span) -> Stage:
        bound = self._selection.bound
        whole = ItemRenderer(self._selected.section, items, self._names, self._selection.guard, bound.meter, bound.total)
        cut = [read.place for read, item in rendered if _differs(whole.render(read, item.id, item.key), item)]
        note = f"shortened: {', '.join(self._ids[place] for place in cut)}" if cut else ""
        return Stage("trim_each", len(rendered), (), str(span), _say(""), note)

    def _describe_held(self) -> str:
        held = [f"{item.id} ({item.held})" for item in self._selected.items if item.held]
        gone = self._selected.gone
        told = [f"held: {join_some(held, _NAMED)}"] if held else []
        told += [f"not in the source any more: {join_some(gone, _NAMED)}"] if gone else []
        return "; ".join(told)

    # --- why ---

    def _explain_late(self, _: int) -> str:
        return f"it comes late: `{self._ids[max(self._stands)]}` follows it in the list, and is in the prompt already"

    def _list_against(self) -> dict[str, tuple[Any, ...]]:
        names = self._items.dedupe.against if self._items.dedupe is not None else ()
        found = {name: self._selection.find_selected(name) for name in names}
        return {name: tuple(item.value for item in one.items) if one is not None else () for name, one in found.items()}

    def _explain_double(self, dedupe: Dedupe, place: int) -> str:
        def key(read: Read) -> str:
            return make_dedupe_key(dedupe, self._renderer.bind(read), self._section)

        own = key(self._take_read(place))
        for name, values in self._list_against().items():
            if any(key(Read(-1, -1, value)) == own for value in values):
                return f"`{name}` has the same"
        twins = [self._ids[read.place] for read in self._reads if read.place != place and key(read) == own]
        twin = twins[0] if dedupe.keep == "first" else twins[-1]
        return f"`{twin}` has the same: {dedupe.by.text.strip()}"

    def _explain_limit_per(self, place: int) -> str:
        limit = self._items.limit_per
        assert limit is not None
        name = make_cap_name(limit, self._renderer.bind(self._take_read(place)), self._section)
        return f"`caps` lets {dict(limit.caps)[name]} of `{name}` pass, and others came first"

    def _take_read(self, place: int) -> Read:
        return next(read for read in self._reads if read.place == place)


def _differs(whole: Item | None, item: Item) -> bool:
    return whole is not None and whole.raw != item.raw


def _say(text: str) -> Callable[[int], str]:
    return lambda _: text


def describe_source(gathered: Gathered) -> str:
    """Describe what was requested, and what the source had but did not return."""
    account = gathered.account
    asked = "; ".join(_iter_segments(account) if account["kind"] == "segments" else _iter_retrieval(account))
    left_out = ", ".join(f"{count} {_STAGES[stage]}" for stage, count in gathered.left_out.items())
    unwanted = f"; `where` refused {gathered.unwanted} before" if gathered.unwanted else ""
    return (f"{asked}; left out: {left_out}" if left_out else asked) + unwanted


def describe_refused(gathered: Gathered) -> tuple[str, ...]:
    """Return a line for each of the best chunks that were scored but not returned, best first, with its score and the reason."""
    return tuple(f"{_describe_chunk(chunk)}: {WHYS[chunk['why']]}" for chunk in gathered.refused)


def _describe_chunk(chunk: Mapping[str, Any]) -> str:
    neighbours = f", neighbours {show_score(read_micro(chunk['neighbours']))}" if "neighbours" in chunk else ""
    boosts = f", boosts {_show_boost(chunk, 3)}" if chunk["boost"] else ""
    where = f" of {chunk['file']}" if chunk["file"] else ""
    score, words, vectors = (show_score(read_micro(chunk[key])) for key in ("score", "words", "vectors"))
    return f"{score} `{chunk['id']}`{where} (words {words}, vectors {vectors}{neighbours}{boosts})"


def _show_boost(chunk: Mapping[str, Any], places: int) -> str:
    micro = read_micro(chunk["boost"])
    return f"{'+' if micro >= 0 else ''}{show_score(micro, places)}"


def describe_value(gathered: Gathered, place: int) -> str:
    """Describe where one of the values comes from and, for a chunk, how its score is composed."""
    value = gathered.values[place]
    if gathered.account["kind"] == "segments":
        told = [f"{name} {value[name]}" for name in ("ref_id", "locale", "version") if value[name] is not None]
        return ", ".join([f"segment `{value['id']}` of the store `{gathered.account['store']}`, scope `{value['scope']}`", *told])
    if place >= len(gathered.account["chunks"]):
        file = f", {value['file']}" if value["file"] else ""
        return f"chunk `{value['id']}` of the index `{value['index']}`{file}\nread by its id: the query does not find it"
    chunk = gathered.account["chunks"][place]
    score, words, vectors = (show_score(read_micro(chunk[key]), 6) for key in ("score", "words", "vectors"))
    neighbours = [f"neighbours {show_score(read_micro(chunk['neighbours']), 6)}"] if "neighbours" in chunk else []
    parts = [f"words {words}", f"vectors {vectors}", *neighbours, f"boosts {_show_boost(chunk, 6)}"]
    queries = gathered.account["queries"]
    by = f"\nfound by {show_value(queries[chunk['query']])}" if len(queries) > 1 else ""
    by += f"\nnearest: its asked line {show_value(chunk['asked'])}" if "asked" in chunk else ""
    where = f", {chunk['file']}" if chunk["file"] else ""
    version = f", version {chunk['version']}" if chunk["version"] else ""
    return f"chunk `{chunk['id']}` of the index `{chunk['index']}`{where}{version}\nscore {score}: {', '.join(parts)}{by}"


def _iter_segments(account: Mapping[str, Any]) -> Iterator[str]:
    yield f"store `{account['store']}`, scope `{account['scope']}`"
    for asked in account["asked"]:
        refs = asked["refs"]
        about = "all of it" if refs is None else f"about {join_some(refs, _NAMED)}"
        locales = f", locale {' → '.join(asked['locales'])}" if asked["locales"] else ""
        yield about + locales + (f", version {asked['version']}" if asked["version"] else "")
    if not account["asked"]:
        yield "nothing was asked"


def _iter_retrieval(account: Mapping[str, Any]) -> Iterator[str]:
    names = dict.fromkeys(index["name"] for index in account["indexes"])
    if not names:
        yield "a query without words retrieves nothing"
        return
    version = f", version {account['version']}" if account["version"] else ""
    queries = account["queries"]
    asked = ", ".join(map(show_value, queries))
    yield f"{', '.join(f'`{name}`' for name in names)}{version}, {'query' if len(queries) == 1 else 'queries'} {asked}"
    for one in account.get("idle", ()):
        yield f"{show_value(queries[0])} is idle in `{one['index']}`, near its line {show_value(one['line'])}: nothing is looked up there"
    yield f"{count_noun(account['considered'], 'chunk')} scored" + (", sparse" if account["sparse"] else "")
    yield from account["notes"]


def _spell_out(expression: Expression) -> str:
    """Return an expression as its author wrote it, and what the definitions in it mean."""
    files = expression.program.files if isinstance(expression.program, Program) else ()
    named = dict.fromkeys(site.definition for file in files for site in file.sites)
    meant = "; ".join(f"`{one.signature}` is {one.text.strip()}" for one in named)
    return f"{expression.text.strip()} ({meant})" if meant else expression.text.strip()


@frozen
class Ladder:
    """A ladder that removed something: its name, what it shortens, its goal, and its run.

    `target` are the tokens of its cap or of the budget, as authors write it (None: no target).
    """

    name: str
    title: str
    goal: str
    run: LadderResult
    target: int | None


def iter_ladders(fitted: Fitted) -> Iterator[Ladder]:
    """Yield the ladders that removed something, in the order they ran: a tier's `do`, the sections', the pools', the total's."""
    bound = fitted.strained.selection.bound
    rules = bound.pack.strain
    if rules is not None and fitted.done is not None and fitted.done.applied:
        yield Ladder("do", "strain", f"as strain {rules.tiers[fitted.strained.tier].name} says", fitted.done, None)
    for name, run in fitted.ladders.items():
        if run.applied:
            grant = fitted.grants.get(name)
            cap = show_plural(grant, "token") if grant is not None else show_plural(run.target, "character")
            yield Ladder(name, name, f"for its cap of {cap}{_tell_squeezed(fitted, name, grant)}", run, grant)
    for one in fitted.pools:
        if one.run.applied:
            sections = ", ".join(one.pool.sections)
            goal = f"for the cap of {show_plural(one.cap, 'token')} that {sections} share"
            yield Ladder(one.pool.ladder, f"the pool {one.pool.name}", goal, one.run, one.cap)
    if fitted.truncated is not None and fitted.truncated.applied:
        goal = f"for the budget of {show_plural(bound.total, 'token')}{bound.held_back}"
        yield Ladder("truncate", "the whole prompt", goal, fitted.truncated, bound.whole)


def _tell_squeezed(fitted: Fitted, name: str, grant: int | None) -> str:
    """Return what is said of a percentage that gets less than itself, because others take their room first; else nothing."""
    budget = fitted.sections[name].section.budget
    if grant is None or budget is None or budget.cap is None or not budget.is_percent:
        return ""
    share = budget.cap.tokens(fitted.strained.selection.bound.total)
    return f", what others leave of its share of {share:,}" if grant < share else ""


def list_items(cuts: Sequence[Applied], *, placed: bool = False) -> list[str]:
    """Return the items that were removed or changed, each once, in the order of the cuts.

    With `placed`, each is prefixed with its section, as commands accept it.
    """
    found = ((cut.section, name) for cut in cuts for name, before, _ in cut.changes if before)
    return list(dict.fromkeys(f"{section}/{name}" if placed else name for section, name in found))


def describe_reason(cut: Applied) -> str:
    """Return why a cut was made, without what differs between items: the boundary of a trim, and the value of a step's `by`."""
    why = cut.why.partition("; ")[2] if cut.boundary else cut.why
    if not isinstance(cut.step, Ranked) or cut.step.by is None:
        return why
    by = cut.step.by.text.strip()
    return re.sub(re.escape(by) + r" = \S+, smallest first", lambda _: f"{by}, smallest first", why)


def describe_lack(fitted: Fitted) -> str | None:
    """Return why a prompt does not fit: what is over its cap, which section has no content, or how much of the budget is missing.

    Return None for a prompt that fits.
    """
    code, section, missing = next((one.code for one in fitted.errors if one.level == "error"), None), fitted.short, fitted.missing
    name = section.removeprefix("pools.")
    what = f"`{section}`" if name == section else f"the pool `{name}`"
    if code is None:
        return None
    if code in _OVER_CAP:
        return f"does not fit: {what} is {show_plural(missing, 'character' if fitted.counts_chars(section) else 'token')} over its cap"
    if code == "PC0518":
        return f"does not fit: {what} is required, and no content of it is left"
    if code == "PC0533":
        return f"does not fit: the strain tier fails for {what}"
    budget = show_plural(fitted.strained.selection.bound.total, "token")
    return f"does not fit {budget}: {show_plural(missing, 'token')} {'is' if missing == 1 else 'are'} missing"


def count_tokens_held(fitted: Fitted, section: str) -> int:
    """Return the tokens of what is left of a section at the end, or 0 if nothing of it was selected."""
    return fitted.layout.meter.tokens(count_held(fitted, section)) if section in fitted.sections else 0


def list_rest(fitted: Fitted, total: int, held: int) -> list[tuple[str, int]]:
    """Return what a total has besides the `held` tokens of its sections, by name: what belongs to no section, and what is shared.

    Shared is the difference that remains: what messages have in common, and pieces that meet. It may be negative, and is left out if 0.
    """
    layout = fitted.layout
    offered = [(layout.offer, layout.offered)] if layout.offer else []
    shared = total - held - layout.offered
    return [*offered, (SHARED, shared)] if shared else offered
