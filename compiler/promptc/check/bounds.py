"""How much a section holds in any state: texts that read nothing are counted, others bounded by the schema (contract.md §11, Pinned).

`SettledTexts` knows what constant texts come to. `bound_section` tells at most how many tokens the part of a section takes that no step
may touch, `make_cost` how a constant text is weighed for that, `count_characters` how long a text may be, `count_offer` what tools and a
response schema take.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import ceil, inf

from promptc.check.scopes import Scopes
from promptc.check.texts import UsedText
from promptc.diag.findings import PromptcError
from promptc.diag.frozen import frozen
from promptc.model.media import MEDIA_KINDS
from promptc.model.pack import Output, PackModel, Plan
from promptc.model.section import Items, Matches, Retrieve, Section
from promptc.template.compile import Expression, Template
from promptc.template.runtime.run import RUN
from promptc.template.types.algebra import find_count, keep_members
from promptc.template.types.bounds import MAX_TOKEN, UNBOUNDED, Amount, amount_of, choose_largest, measure
from promptc.template.types.infer import InferredTypes, weigh_bytes
from promptc.template.types.types import UNKNOWN_TYPE, ListType, NoneType, NumberType, Type, list_members, text_of, text_up_to
from promptc.template.types.walk import Cost
from promptc.text.counters.counter import Counter, Meter
from promptc.text.guard import iter_invisible
from promptc.text.json import render_canonical_json

_FRAME = 16

MESSAGE = Amount(16, 0, 64, 0)
"""What a message adds at most: its frame and the name of its role."""

_BREAK = Amount(1, 1, 1, 1)
_MET = 3
_ROOM = 32
_SLACK = 256

_SAMPLE = 1000
_INVISIBLE = 10
"""An escaped invisible character takes at most ten times its bytes."""


@frozen(eq=False)
class SectionTexts:
    """The texts of one section, each with what is known of it."""

    found: dict[int, InferredTypes]

    def amount(self, code: Template | None) -> Amount:
        """What a template puts out."""
        if code is None:
            return Amount()
        return self.found[id(code)].amount if id(code) in self.found else UNBOUNDED

    def kind(self, code: object) -> Type:
        """What an expression gives; unknown for another source of items."""
        return (self.found[id(code)].kind or UNKNOWN_TYPE) if id(code) in self.found else UNKNOWN_TYPE


class SettledTexts:
    """Answers about one pack. Each text is evaluated at most once, however many combinations share it."""

    def __init__(self, pack: PackModel) -> None:
        self._run = pack.open_account()
        self._meter = Meter(pack.counting.counter)
        self._truths: dict[int, tuple[Expression, bool | None]] = {}
        self._texts: dict[tuple[int, str, str, str], tuple[Template, str | None]] = {}

    def is_always(self, expression: Expression | None, truth: bool) -> bool:
        """True when the expression reads nothing and its value is true (or false, by `truth`)."""
        if expression is None or expression.reads:
            return False
        if id(expression) not in self._truths:
            self._truths[id(expression)] = (expression, self._evaluate(expression))
        return self._truths[id(expression)][1] is truth

    def is_off(self, section: Section) -> bool:
        """True when the section's `when` is constantly false."""
        return self.is_always(section.when, False)

    def find_static(self, template: Template | None, section: Section) -> str | None:
        """What the template renders to in any state, or None when that depends on it. No template is an empty text."""
        if template is None:
            return ""
        key = (id(template), section.id, section.title, section.role)
        if key not in self._texts:
            self._texts[key] = (template, self._render(template, section))
        return self._texts[key][1]

    def find_content(self, section: Section) -> str | None:
        """The content of a section that is the same in any state; None for all others, and for lists."""
        text = self.find_static(section.text, section) if section.text is not None else None
        return text.strip("\r\n") if text is not None else None

    def count(self, text: str) -> int:
        """The text's tokens."""
        return self._meter.tokens(self._meter.count(text))

    def find_most(self, section: Section, separator: str) -> int | None:
        """At least as many tokens as a section of constant content is ever charged, or None when its content depends on the state."""
        fence = section.fence
        parts = (
            self.find_static(fence.open if fence else None, section),
            self.find_static(section.header, section),
            self.find_content(section),
            self.find_static(fence.close if fence else None, section),
        )
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        count = self.count("\n".join(part for part in known if part) + "\n" + separator)
        return count + count // 20 + _FRAME  # room for what the guard escapes and for a message's frame

    def _evaluate(self, expression: Expression) -> bool | None:
        try:
            return bool(expression.evaluate({RUN: self._run}))
        except PromptcError:
            return None

    def _render(self, template: Template, section: Section) -> str | None:
        if any(path[0] != "section" for path in template.reads):
            return None
        shown = {"id": section.id, "title": section.title, "role": section.role}
        try:
            return template.render({"section": shown, RUN: self._run})
        except PromptcError:
            return None


def infer_texts(texts: Iterator[UsedText], section: Section, scopes: Scopes) -> SectionTexts:
    """The section's own texts."""
    return SectionTexts({id(text.code): scopes.infer(text) for text in texts if text.section is section})


def count_least(kind: Type, none: int) -> int:
    """The least whole number from 0 that a value of the kind may stand for, where none stands for `none`."""
    return max(0, min((_count_least(member, none) for member in list_members(kind)), default=0))


def _count_least(kind: Type, none: int) -> int:
    if isinstance(kind, NoneType):
        return none
    if not isinstance(kind, NumberType):
        return 0
    whole = [int(value) for value in kind.values or () if float(value).is_integer()]
    return min(whole) if whole else ceil(kind.least) if kind.least not in (None, -inf) else 0


def make_cost(counter: Counter, fences: tuple[str, ...]) -> Cost:
    """At most so many tokens a constant text takes in any surroundings: those between its first and last safe place, and for what is left
    at its ends a token for each byte, with one more for what the guard may put where it meets something else. What the guard might
    escape inside it is counted in bytes."""

    def cost(text: str) -> tuple[int, int]:
        found = [_weigh(counter, "".join(lines), plain) for plain, lines in groupby(text.splitlines(keepends=True), is_plain)]
        return sum(tokens for tokens, _ in found), sum(loose for _, loose in found)

    def is_plain(line: str) -> bool:
        return _is_plain(line, fences)

    return cost


def _weigh(counter: Counter, text: str, plain: bool) -> tuple[int, int]:
    inner = counter.find_inner(text) if plain else None
    if inner is None:
        return weigh_bytes(text)
    start, stop = inner
    ends = len((text[:start] + text[stop:]).encode("utf-8", "surrogatepass"))
    return counter.measure(text[start:stop]) + ends + _MET, ends


def _is_plain(text: str, fences: tuple[str, ...]) -> bool:
    if "<|" in text or "<\\" in text or next(iter_invisible(text), None) is not None:
        return False
    lines = [line.strip().lstrip("\\") for line in text.splitlines()]
    return not any(line and (line.startswith(fence) or fence.startswith(line)) for line in lines for fence in fences)


def bound_section(section: Section, texts: SectionTexts, output: Output, fences: tuple[str, ...]) -> Amount:
    """The charge of what is pinned or kept in a section; of a section that is neither, nothing."""
    content = _bound_content(section, texts)
    if content is None:
        return Amount()
    fence = section.fence
    frame = [texts.amount(fence.open), texts.amount(fence.close), _BREAK, _BREAK] if fence is not None else []
    separator = amount_of(text_of(output.separator))
    return _escape(_redact(content, section), output, fences).plus(*frame, _BREAK, separator, MESSAGE)


def _bound_content(section: Section, texts: SectionTexts) -> Amount | None:
    header = texts.amount(section.header).plus(_BREAK)
    if section.pinned and section.text is not None:
        return texts.amount(section.text).plus(header)
    items = section.items
    if items is None or not (section.pinned or items.keep):
        return None
    count, at = _count_items(items, texts) if section.pinned else _count_kept(items, texts)
    between = amount_of(text_of(section.separator)) if section.separator is not None else Amount()
    return bound_item(items, texts).plus(_BREAK, between).times(count, at).plus(header)


def _count_items(items: Items, texts: SectionTexts) -> tuple[int | None, str]:
    """At most so many items a pinned section has, and where that has no bound."""
    source = texts.kind(items.source)
    counts = [find_count(source), items.limit.count if items.limit is not None else None]
    if items.freeze is not None:  # what stands goes past all stages
        return (find_count(source) if isinstance(items.source, Expression) else None), _place_open_list(source)
    if isinstance(items.source, Retrieve):
        counts.append(items.source.top)
    if items.window is not None:
        window = items.window.max if items.window.max is not None else items.window.last
        last = window if isinstance(window, int) else _find_most(texts.kind(window))
        more = [_count_matches(one, texts) for one in (*items.keep, *([items.anchors] if items.anchors is not None else []))]
        counts.append(last + sum(more) if last is not None and items.window.whole == "item" else None)
    known = [count for count in counts if count is not None]
    return (min(known) if known else None), _place_open_list(source)


def _find_most(kind: Type) -> int | None:
    members = list_members(kind)
    if len(members) != 1 or not isinstance(members[0], NumberType) or members[0].most is None:
        return None
    return max(0, int(members[0].most))


def _count_matches(matches: Matches, texts: SectionTexts) -> int:
    last = _find_most(texts.kind(matches.last)) if matches.last is not None else None
    return matches.within if last is None else min(last, matches.within)


def _place_open_list(kind: Type) -> str:
    return next((one.at for one in list_members(kind) if isinstance(one, ListType) and one.most is None), "")


def _count_kept(items: Items, texts: SectionTexts) -> tuple[int | None, str]:
    source = texts.kind(items.source)
    count, most = sum(_count_matches(one, texts) for one in items.keep), find_count(source)
    return (count if most is None else min(count, most)), _place_open_list(source)


def bound_item(items: Items, texts: SectionTexts) -> Amount:
    """One item with its fence, and the header of a group it may open."""
    made = _bound_trimmed(items, texts, choose_largest(texts.amount(form) for form in items.forms))
    if items.message is not None and not set(MEDIA_KINDS).isdisjoint(items.message.passing):
        return UNBOUNDED  # what a picture counts is not told by the schema
    if items.message is not None:
        content = texts.kind(items.message.content)
        text = keep_members(content, lambda one: not isinstance(one, ListType))
        parts = keep_members(content, lambda one: isinstance(one, ListType))
        made = choose_largest((_bound_trimmed(items, texts, amount_of(measure(text))), amount_of(measure(parts)))).plus(MESSAGE)
    if items.fence is not None:
        made = made.plus(texts.amount(items.fence.open), texts.amount(items.fence.close), _BREAK, _BREAK)
    return made.plus(texts.amount(items.group.header), _BREAK) if items.group is not None and items.group.header is not None else made


def _bound_trimmed(items: Items, texts: SectionTexts, made: Amount) -> Amount:
    """A text behind `trim_each`, which leaves lists of parts alone."""
    if items.trim_each is None:
        return made
    size = items.trim_each.to
    return _trim(made, size.unit, int(size.amount), texts.amount(items.trim_each.marker))


def _trim(made: Amount, unit: str, most: int, marker: Amount) -> Amount:
    """An item that is cut to a size, marker and escapes included, where there is room for one unit beside the marker.

    Alone it has so many tokens; behind it a line end may join what it ends in, for which there is slack.
    """
    if unit == "share" or marker.size is None or most < marker.size + _ROOM:
        return made
    size = most * (4 if unit == "chars" else MAX_TOKEN)
    tokens, characters = (size, most) if unit == "chars" else (most + _SLACK, 4 * most)
    if made.size is None or made.tokens is None or made.characters is None or (made.tokens > tokens and made.characters > characters):
        return Amount(tokens, size, characters, 0)
    size = min(made.size, size)
    return Amount(min(made.tokens, tokens), size, min(made.characters, characters), size)


def _redact(made: Amount, section: Section) -> Amount:
    """What placeholders may add to texts that are not constant. No token is shorter than a character."""
    if not section.redact or made.loose is None:
        return made
    added = sum(rule.bound_growth(made.loose) for rule in section.redact)
    return made.plus(Amount(added, added, added, added))


def _escape(made: Amount, output: Output, fences: tuple[str, ...]) -> Amount:
    """What the guard may add: a backslash for each line that begins as a fence does, and for each special token. Neither stands in a
    constant text that is counted as it stands."""
    if made.size is None or made.tokens is None or made.characters is None or made.loose is None:
        return made
    guarding = output.guarding
    shortest = min((len(fence) for fence in fences), default=0)
    lines = made.loose // (shortest + 1) + 1 if guarding.fences == "escape" and fences else 0
    added = lines + (made.loose // 5 + 1 if guarding.special_tokens == "escape" else 0)
    if guarding.invisible == "escape":
        added += made.loose * _INVISIBLE
    return made.plus(Amount(added, added, added, added))


def count_characters(units: int, unit: int, output: Output, fences: tuple[str, ...]) -> int:
    """How many characters a text may have, so that it surely adds no more than `units`, escapes included."""
    added = _escape(amount_of(text_up_to(_SAMPLE)), output, fences)
    return units * _SAMPLE // ((added.tokens if unit == 1 else added.characters) or 1)


def count_offer(pack: PackModel, plan: Plan) -> tuple[str, int]:
    """What they are called in a finding (nothing where there are none), and their tokens without any provider's overhead."""
    counter = pack.counting.counter
    values = [tool.definition for tool in plan.tools]
    names = ["tools"] if values else []
    if plan.response is not None:
        values.append(dict(plan.response.schema))
        names.append("response")
    return " and ".join(names), sum(-(-counter.measure(render_canonical_json(value)) // counter.unit) for value in values)
