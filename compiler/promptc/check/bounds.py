"""How large a section can get in any state (contract.md §11, Pinned): constant texts are counted, others bounded by the schema.

`SettledTexts` evaluates constant texts. `bound_section` returns an upper bound for the part of a section that no step may touch, and
`make_cost` a function that weighs a constant text for that bound. `count_characters` returns how long a text may be, and `count_offer` the
tokens of tools and a response schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import ceil, inf

from promptc.check.texts import Scopes, UsedText
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
"""The most that a message adds: its frame and the name of its role."""

_BREAK = Amount(1, 1, 1, 1)
_MET = 3
_ROOM = 32
_SLACK = 256

_SAMPLE = 1000
_INVISIBLE = 10
"""An escaped invisible character needs at most ten times its bytes."""


@frozen(eq=False)
class SectionTexts:
    """What is known of each text of one section."""

    found: dict[int, InferredTypes]

    def amount(self, code: Template | None) -> Amount:
        """Return an upper bound for the output of a template; 0 for None."""
        if code is None:
            return Amount()
        return self.found[id(code)].amount if id(code) in self.found else UNBOUNDED

    def kind(self, code: object) -> Type:
        """Return the type of an expression's value; the unknown type for any other source of items."""
        return (self.found[id(code)].kind or UNKNOWN_TYPE) if id(code) in self.found else UNKNOWN_TYPE


class SettledTexts:
    """The constant texts of one pack. Each text is evaluated at most once, however many combinations share it."""

    def __init__(self, pack: PackModel) -> None:
        self._run = pack.open_account()
        self._meter = Meter(pack.counting.counter)
        self._truths: dict[int, tuple[Expression, bool | None]] = {}
        self._texts: dict[tuple[int, str, str, str], tuple[Template, str | None]] = {}

    def is_always(self, expression: Expression | None, truth: bool) -> bool:
        """Return whether the expression reads nothing and its value is true (or false, if `truth` is False)."""
        if expression is None or expression.reads:
            return False
        if id(expression) not in self._truths:
            self._truths[id(expression)] = (expression, self._evaluate(expression))
        return self._truths[id(expression)][1] is truth

    def is_off(self, section: Section) -> bool:
        """Return whether the section's `when` is always false."""
        return self.is_always(section.when, False)

    def find_static(self, template: Template | None, section: Section) -> str | None:
        """Return what a template renders to in every state, or None if that depends on the state. For None, return an empty text."""
        if template is None:
            return ""
        key = (id(template), section.id, section.title, section.role)
        if key not in self._texts:
            self._texts[key] = (template, self._render(template, section))
        return self._texts[key][1]

    def find_content(self, section: Section) -> str | None:
        """Return the content of a section if it is the same in every state; None if it is not, or if it is a list."""
        text = self.find_static(section.text, section) if section.text is not None else None
        return text.strip("\r\n") if text is not None else None

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        return self._meter.tokens(self._meter.count(text))

    def find_most(self, section: Section, separator: str) -> int | None:
        """Return an upper bound for the charge of a section with constant content, or None if the content depends on the state."""
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
        return count + count // 20 + _FRAME  # leave room for the guard's escapes and the frame of a message

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
    """Return what is known of the section's own texts."""
    return SectionTexts({id(text.code): scopes.infer(text) for text in texts if text.section is section})


def count_least(kind: Type, none: int) -> int:
    """Return the least whole number, at least 0, that a value of the type can mean. None means `none`."""
    return max(0, min((_count_least(member, none) for member in list_members(kind)), default=0))


def _count_least(kind: Type, none: int) -> int:
    if isinstance(kind, NoneType):
        return none
    if not isinstance(kind, NumberType):
        return 0
    whole = [int(value) for value in kind.values or () if float(value).is_integer()]
    return min(whole) if whole else ceil(kind.least) if kind.least not in (None, -inf) else 0


def make_cost(counter: Counter, fences: tuple[str, ...]) -> Cost:
    """Return a function that bounds the tokens of a constant text in any surroundings.

    The text between its first and last safe boundary is counted. The ends outside of them cost a token for each byte, and a few more for
    what the guard may insert where the text meets another. A text that the guard may escape inside costs a token for each byte.
    """

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
    """Return an upper bound for the charge of what is pinned or kept in a section; 0 if nothing is."""
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
    """Return the most items that a pinned section can have, and the place in the schema that leaves the number open."""
    source = texts.kind(items.source)
    counts = [find_count(source), items.limit.count if items.limit is not None else None]
    if items.freeze is not None:  # frozen items bypass all stages
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
    """Return an upper bound for one item with its fence, and with the header of a group that it may open."""
    made = _bound_trimmed(items, texts, choose_largest(texts.amount(form) for form in items.forms))
    if items.message is not None and not set(MEDIA_KINDS).isdisjoint(items.message.passing):
        return UNBOUNDED  # the schema does not say how many tokens a picture costs
    if items.message is not None:
        content = texts.kind(items.message.content)
        text = keep_members(content, lambda one: not isinstance(one, ListType))
        parts = keep_members(content, lambda one: isinstance(one, ListType))
        made = choose_largest((_bound_trimmed(items, texts, amount_of(measure(text))), amount_of(measure(parts)))).plus(MESSAGE)
    if items.fence is not None:
        made = made.plus(texts.amount(items.fence.open), texts.amount(items.fence.close), _BREAK, _BREAK)
    return made.plus(texts.amount(items.group.header), _BREAK) if items.group is not None and items.group.header is not None else made


def _bound_trimmed(items: Items, texts: SectionTexts, made: Amount) -> Amount:
    """Return the bound of a text after `trim_each`, which does not cut lists of parts."""
    if items.trim_each is None:
        return made
    size = items.trim_each.to
    return _trim(made, size.unit, int(size.amount), texts.amount(items.trim_each.marker))


def _trim(made: Amount, unit: str, most: int, marker: Amount) -> Amount:
    """Return the bound of an item cut to a size, marker and escapes included, if there is room for a unit in addition to the marker.

    An item alone has at most that many tokens. A line end after it may merge with its last token, for which there is slack.
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
    """Add what placeholders of `redact` may add to texts that are not constant. No token is shorter than a character."""
    if not section.redact or made.loose is None:
        return made
    added = sum(rule.bound_growth(made.loose) for rule in section.redact)
    return made.plus(Amount(added, added, added, added))


def _escape(made: Amount, output: Output, fences: tuple[str, ...]) -> Amount:
    """Add what the guard may insert: a backslash before each line that begins like a fence, and for each special token.

    Constant texts that are counted as they are contain neither.
    """
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
    """Return how many characters a text may have so that it adds at most `units`, escapes included."""
    added = _escape(amount_of(text_up_to(_SAMPLE)), output, fences)
    return units * _SAMPLE // ((added.tokens if unit == 1 else added.characters) or 1)


def count_offer(pack: PackModel, plan: Plan) -> tuple[str, int]:
    """Return a name for a plan's tools and response schema (empty if it has neither), and their tokens without provider overhead."""
    counter = pack.counting.counter
    values = [tool.definition for tool in plan.tools]
    names = ["tools"] if values else []
    if plan.response is not None:
        values.append(dict(plan.response.schema))
        names.append("response")
    return " and ".join(names), sum(-(-counter.measure(render_canonical_json(value)) // counter.unit) for value in values)
