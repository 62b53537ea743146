"""The view of a render as plain JSON, which `describe_view` makes from an `Outcome` alone.

Cuts are marked in place: a piece names the notch that removed or shortened it, and `notches` lists all notches. Whoever draws the view can
thus show the prompt after any notch without another render. What views have in common is sent once: views refer to it by its number in
`Known`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from promptc.diag.findings import Diagnostic, PromptcError, Span, sort_diagnostics
from promptc.diag.typed import Any
from promptc.explain.items import count_tokens_held, describe_lack, iter_ladders, list_rest
from promptc.model.section import Ratio, Section, Step
from promptc.passes.bind import find_cap
from promptc.passes.fit.result import Applied, Fitted, FittedItem, FittedSection, LadderResult, Part
from promptc.passes.report import build_outline, iter_guarded, name_place
from promptc.pipeline import Outcome

_MOST_NOTCHES = 400
"""The most notches of a ladder that are listed one by one. If there are more, the notches that trimmed the same text count as one."""

_MOST_KNOWN = 16_000_000
"""Characters of known values after which all are forgotten and sent anew."""

View = dict[str, Any]


class Known:
    """The values that views refer to by number: pieces, and what notches have in common.

    A client that has the first values requests the rest.
    """

    def __init__(self) -> None:
        self._places: dict[Hashable, int] = {}
        self._values: list[Any] = []
        self._chars = 0
        self._turn = 0

    def find(self, key: Hashable) -> int | None:
        """Return the number of the value with this key, or None if it is not known."""
        return self._places.get(key)

    def number(self, key: Hashable, value: Any, chars: int = 40) -> int:
        """Return the number of a value, which `key` identifies. `chars` is its approximate length."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._values)
            self._values.append(value)
            self._chars += chars
        return place

    def renew(self) -> None:
        """Forget all values if they are too many. Call it before a view is made."""
        if self._chars > _MOST_KNOWN:
            self._places.clear()
            self._values = []
            self._chars = 0
            self._turn += 1

    def tell(self, has: Any = None) -> View:
        """Return the values that a client lacks. It `has` the first `count` values of a turn, as `[turn, count]`.

        Return all values if they were forgotten since that turn, or if `has` is None.
        """
        turn, count = has if has is not None else (self._turn, 0)
        start = int(count) if turn == self._turn and 0 <= int(count) <= len(self._values) else 0
        return {"turn": self._turn, "from": start, "values": self._values[start:]}


def describe_view(outcome: Outcome, known: Known, more: Sequence[Diagnostic] = ()) -> View:
    """Return the view of a render, which need not fit. `more` are findings of the pack."""
    fitted = outcome.fitted
    bound, outline = fitted.strained.selection.bound, build_outline(fitted)
    places = Places(bound.pack.file, bound.state.name, [one.section for one in fitted.strained.selection.sections])
    notches = _Notches(fitted, known, places)
    sections = [_describe_section(fitted, one, places) for one in outline["sections"]]
    held = sum(one["held"] for one in sections)
    found = sort_diagnostics(dict.fromkeys([*outcome.errors, *outcome.warnings, *more]))
    return {
        "pack": outline["pack"],
        "version": outline["version"],
        "format": outline["format"],
        "provider": bound.provider.name if bound.provider is not None and outline["format"] == "messages" else None,
        "counter": outline["counter"]["name"],
        "exact": outline["counter"]["exact"],
        "budget": outline["budget"],
        "model": bound.budget.model or None,
        "tokens": outcome.tokens,
        "lack": describe_lack(fitted),
        "strain": _describe_strain(fitted, outline),
        "variants": outline["variants"],
        "patches": outline["patches"],
        "sections": sections,
        "rest": [[*one] for one in list_rest(fitted, outcome.tokens, held)] if outcome.tokens is not None else [],
        "pools": outline.get("pools", []),
        "guarded": _sum_guarded(fitted),
        "messages": list(_iter_messages(fitted, notches)),
        "ladders": notches.ladders,
        "notches": notches.told,
        "findings": [_describe_finding(one, places) for one in found],
    }


def _describe_strain(fitted: Fitted, outline: Mapping[str, Any]) -> View | None:
    """Return the tier, the pressure that selects it, and the per cent at which each tier begins and ends; None without strain tiers."""
    rules = fitted.strained.selection.bound.pack.strain
    if rules is None:
        return None
    (spent, allowed), (later, _) = outline["pressure"]["before"], outline["pressure"]["after"]
    tiers = [{"name": one.name, "at": _show_percent(one.at), "leave": _show_percent(one.leave)} for one in rules.tiers]
    return {"tier": outline["strain"], "spent": spent, "allowed": allowed, "later": later, "tiers": tiers}


def _show_percent(ratio: Ratio) -> float:
    return ratio.numerator * 10_000 // ratio.denominator / 100


def _describe_section(fitted: Fitted, section: Mapping[str, Any], places: Places) -> View:
    name = section["id"]
    selected = fitted.strained.selection.find_selected(name)
    fit, budget = fitted.sections.get(name), selected.section.budget if selected is not None else None
    is_chars = budget is not None and budget.cap is not None and budget.cap.unit == "chars"
    cap = fitted.grants.get(name)
    if cap is None and selected is not None and budget is not None and budget.cap is not None:
        cap = find_cap(selected.section, fitted.strained.selection.bound)
    return {
        "id": name,
        "title": section["title"],
        "role": section["role"],
        "pinned": section["pinned"],
        "state": section["state"],
        "held": count_tokens_held(fitted, name),
        "wanted": section.get("demand", section.get("demand_at_least", 0)),
        "is_more": "demand_at_least" in section,
        "cap": cap,
        "unit": "characters" if is_chars else "tokens",
        "chars": sum(len(one.text) for one in fit.alive) if fit is not None and is_chars else None,
        "items": [len(fit.alive), len(fit.entries)] if fit is not None and fit.section.items is not None else None,
        "left_out": section["left_out"],
        "at": places.name(selected.section.span) if selected is not None else None,
    }


def _sum_guarded(fitted: Fitted) -> list[View]:
    """Return what the guard found in each section, the same in several places once, with the number of times."""
    found = Counter[tuple[str, str, str, str]]()
    for one in iter_guarded(fitted):
        found[one["section"], one["kind"], one["text"], one["policy"]] += one["count"]
    return [
        {"section": name, "kind": kind, "text": text, "policy": policy, "count": count}
        for (name, kind, text, policy), count in found.items()
    ]


class _Notches:
    """The notches of all ladders, numbered from 1 in the order in which they were made, and their effects on the items."""

    def __init__(self, fitted: Fitted, known: Known, places: Places) -> None:
        self.ladders: list[View] = []
        self.told: list[list[int]] = []
        self.known = known
        self._places = places
        self._fitted = fitted
        self._gone: dict[int, int] = {}
        self._made: dict[int, int] = {}
        self._edits: dict[int, list[tuple[int, Applied]]] = {}
        self._steps: dict[tuple[str, int], int] = {}
        for ladder in iter_ladders(fitted):
            self.ladders.append({"title": ladder.title, "goal": ladder.goal, "target": ladder.target})
            is_least = fitted.make_least_test(ladder.name) if ladder.target is not None and ladder.run.moves else None
            for cut, needs in _iter_cuts(ladder.run):
                is_known = is_least is not None and needs > 0 and not is_least(cut)
                self._add(cut, fitted.count_more(ladder.name, needs) if is_known else 0)

    def _add(self, cut: Applied, more: int) -> None:
        """Add a notch: ladder, step, items, reason, tokens before and after, and how many tokens `more` would have spared it.

        The last number is 0 if it is not known.
        """
        tokens, number = self._fitted.layout.meter.tokens, self.known.number
        items = (*[one.item.id for one in cut.gone], *[one.id for one in cut.added if one.before is not None])
        self.told.append(
            [
                len(self.ladders) - 1,
                self._number_step(cut.section, cut.step),
                number(("items", *items), list(items)),
                number(("why", cut.why), cut.why),
                tokens(cut.before),
                tokens(cut.after),
                more,
            ]
        )
        at = len(self.told)
        for one in cut.gone:
            self._gone.setdefault(id(one.item), at)
        if cut.made is not None:
            self._made[id(cut.made)] = at
        if cut.edited is not None:
            self._edits.setdefault(id(cut.edited.item), []).append((at, cut))

    def _number_step(self, section: str, step: Step) -> int:
        """Return the number of a step. It is found once for each step, because a step makes many notches."""
        key = section, id(step)
        if key not in self._steps:
            place = "the default overflow" if step.is_default else self._places.name(step.span)
            self._steps[key] = self.known.number(("step", section, step.rule, place), [section, step.rule, place])
        return self._steps[key]

    def describe(self, section: str, entry: FittedItem, end: str) -> Any:
        """Return the piece for an item: its number in `known`, together with its history if it has one.

        The history is the notch that removed it (None if the item is in the prompt, 0 if no notch removed it), the notch that made it, and
        its edits.
        """
        item, edits = entry.item, self._edits.get(id(entry.item))
        places = _place_edits(entry, edits) if edits is not None else []
        text, whole = entry.text, ""
        if edits is not None:
            text, whole = (item.raw, "") if len(places[-1]) > 1 else (text, item.text)
        key = ("item", section, item.id, text, whole, item.role, item.open, item.close, end)
        number = self.known.find(key)
        if number is None:
            number = self.known.number(key, _describe_item(*key), len(text) + len(whole) + 100)
        made = self._made.get(id(item))
        if entry.is_alive and made is None and not places:
            return number
        return [number, None if entry.is_alive else self._gone.get(id(item), 0), made, places]


def _describe_item(kind: str, section: str, name: str, text: str, whole: str, role: str, open: str, close: str, end: str) -> View:
    told = {"kind": kind, "section": section, "item": name, "text": text}
    told |= {"whole": whole} if whole else {}
    told |= {"role": role} if role else {}
    told |= {"open": open, "close": close} if open else {}
    return told if end == "\n" else {**told, "end": end}


def _iter_cuts(run: LadderResult) -> Iterator[tuple[Applied, int]]:
    """Yield the cuts of a ladder, each with the size that it needs; notch by notch if there are few."""
    if sum(one.notches for one in run.moves) <= _MOST_NOTCHES or all(one.slid is None for one in run.moves):
        yield from ((one, one.needs) for one in run.applied)
    else:
        yield from ((one, run.count_needs(at)) for at, one in enumerate(run.moves))


def _place_edits(entry: FittedItem, edits: Sequence[tuple[int, Applied]]) -> list[list[Any]]:
    """Return the edits as places in the whole text, in UTF-16 code units as scripts count them.

    Return only the numbers of the notches if the places are not known: a text in a shorter form is not a part of the whole text.
    """
    raw, last = entry.item.raw, edits[-1][1].cut if edits else None
    is_cut = all(cut.cut is not None for _, cut in edits) and entry.form == 0 and last is not None
    if not is_cut or last is None or raw[: last.start] + last.middle + raw[last.stop :] != entry.text:
        return [[number] for number, _ in edits]
    places = [(number, cut.cut) for number, cut in edits if cut.cut is not None]
    return [[at, _count_units(raw, one.start), _count_units(raw, one.stop), one.middle] for at, one in places]


def _count_units(text: str, end: int) -> int:
    return end if text.isascii() else len(text[:end].encode("utf-16-le", "surrogatepass")) // 2


def _iter_messages(fitted: Fitted, notches: _Notches) -> Iterator[View]:
    """Yield the messages with their pieces, in the order of the output.

    What was removed appears where it was: a message that is gone is one with its role and no index. A section of which nothing is left
    appears after the sections before it. If the prompt does not fit, all pieces are in one message.
    """
    tools = [one for one in fitted.sections.values() if one.section.is_tools and one.entries]
    if tools:
        pieces = [notches.describe(one.section.id, entry, "\n") for one in tools for entry in one.entries]
        yield {"role": "tools", "index": None, "pieces": pieces}
    for place, drawn in groupby(_iter_pieces(fitted, notches), key=itemgetter(0)):
        role, index = (place, None) if isinstance(place, str) else (_find_role(fitted, place), place)
        yield {"role": role, "index": index, "pieces": [piece for _, piece in drawn]}


def _find_role(fitted: Fitted, index: int | None) -> str | None:
    return None if fitted.layout.format == "text" or index is None or index >= len(fitted.roles) else fitted.roles[index]


def _iter_pieces(fitted: Fitted, notches: _Notches) -> Iterator[tuple[int | str | None, Any]]:
    """Yield each piece with the index of its message, or with its role if it was a message between two others."""
    sections = {one.section.id: one for one in fitted.sections.values() if not one.section.is_tools}
    order = [name for name in (fitted.layout.sections[at].id for at in fitted.layout.order()) if name in sections]
    lefts = {name: [entry for entry in sections[name].entries if not entry.is_alive] for name in order}
    last = {part.section: at for at, part in enumerate(fitted.parts)}
    bodies = {part.section: at for at, part in enumerate(fitted.parts) if part.item is not None}
    places = {id(entry.item): place for one in sections.values() for place, entry in enumerate(one.entries)}
    waiting = [name for name in order if name not in last]

    def describe_gone(name: str, entries: Iterable[FittedItem], at: int, home: int | None) -> Iterator[tuple[int | str | None, Any]]:
        """Yield entries of a section that stand before the part of index `at`: in the message `home`, or on their own between two."""
        beside = {one.message for one in fitted.parts[max(0, at - 1) : at + 1]} if 0 < at < len(fitted.parts) else set()
        is_between = fitted.layout.format != "text" and len(fitted.parts) > 0 and len(beside) != 1
        for entry in entries:
            yield (entry.item.role if is_between and entry.item.role else home), notches.describe(name, entry, "\n")

    for name, entries in _iter_waiting(waiting, order, "", sections, lefts):
        yield from describe_gone(name, entries, 0, 0)
    for at, part in enumerate(fitted.parts):
        if part.item is not None:
            own = lefts.get(part.section, [])
            while own and places[id(own[0].item)] < places.get(id(part.item.item), 0):
                yield from describe_gone(part.section, [own.pop(0)], at, part.message)
        yield part.message, _describe_part(part, notches)
        if at == bodies.get(part.section):
            yield from describe_gone(part.section, lefts.get(part.section, []), at + 1, part.message)
        if at == last.get(part.section):
            for name, entries in _iter_waiting(waiting, order, part.section, sections, lefts):
                yield from describe_gone(name, entries, at + 1, part.message)


def _iter_waiting(
    waiting: list[str],
    order: Sequence[str],
    behind: str,
    sections: Mapping[str, FittedSection],
    lefts: Mapping[str, Sequence[FittedItem]],
) -> Iterator[tuple[str, Sequence[FittedItem]]]:
    """Yield the sections with no output, from the one after `behind` up to the next section that has output, each with its entries."""
    place = order.index(behind) + 1 if behind in order else 0
    while place < len(order) and order[place] in waiting:
        yield order[place], lefts[order[place]] or sections[order[place]].entries
        place += 1


def _describe_part(part: Part, notches: _Notches) -> Any:
    if part.item is None:
        told = {"kind": part.owner, "section": part.section, "text": part.text}
        return notches.known.number(("part", *told.values()), told, len(part.text) + 60)
    body = part.item.body
    end = part.text[len(body) :] if part.text.startswith(body) else ""
    return notches.describe(part.section, part.item, end)


# --- findings ---


class Places:
    """Names places as reports do, independent of the folder of the pack, and finds their sections."""

    def __init__(self, manifest: str, state: str, sections: Sequence[Section] = ()) -> None:
        self._manifest = manifest
        self._state = state
        self._sections = sections
        self._files = {place.file: one.id for one in sections for place in _list_templates(one) if place.file != manifest}

    def name(self, span: Span) -> str:
        """Return a place as `FILE:LINE:COLUMN`."""
        return name_place(span, self._manifest, self._state)

    def find_section(self, span: Span | None) -> str | None:
        """Return the id of the section to which a place belongs, or None."""
        if span is None:
            return None
        if span.file in self._files:
            return self._files[span.file]
        above = [one for one in self._sections if one.span.file == span.file and one.span.line <= span.line]
        return max(above, key=lambda one: one.span.line).id if above else None


def _list_templates(section: Section) -> list[Span]:
    forms = section.items.forms if section.items is not None else ()
    return [one.place.span for one in (section.text, section.header, *forms) if one is not None]


def _describe_finding(found: Diagnostic, places: Places) -> View:
    return {
        "code": found.code,
        "level": found.level,
        "message": found.message,
        "help": found.help or None,
        "at": places.name(found.span) if found.span is not None else None,
        "excerpt": found.span.excerpt if found.span is not None else "",
        "section": places.find_section(found.span),
    }


def describe_failure(error: PromptcError, places: Places) -> View:
    """Return the view of an error that kept the render from being made: its findings."""
    return {"failed": True, "findings": [_describe_finding(one, places) for one in sort_diagnostics(error.diagnostics)]}
