"""Rules on budgets: whether pinned content always fits, bounds against each other and the total, and what voids monotony.

`check_models` checks the models that a pack names in its budget, under `models` and in requests. `list_settled` returns the pack with the
budget of each of these models, so that all other rules can check each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from promptc.check.bounds import SettledTexts, bound_section, count_characters, count_offer, infer_texts
from promptc.check.configurations import Configuration, Configurations, for_each, merge_configurations
from promptc.diag.findings import Diagnostic, PromptcError, Span, count_noun, join_some, shorten, show_share
from promptc.diag.frozen import frozen, replace
from promptc.model.budget import KnownModel, ModelTable, TotalBudget, describe_room, describe_unknown, settle_budget
from promptc.model.media import MEDIA_KINDS
from promptc.model.pack import MILLION, Output, PackModel, Plan, Strain
from promptc.model.section import TOOLS, Evict, Pool, Section, Segments, Size, Trim, Window
from promptc.model.state import Node
from promptc.template.compile import Template
from promptc.template.types.bounds import Amount
from promptc.text.counters.counter import ENCODING

PROVABLE = ("cl100k_base", "o200k_base", "chars/4")
"""Counters by which a text never has more tokens than bytes."""

_PROMPT = 3
_SHOWN = 4
_CHARS, _ROOM = 400, 200
"""The example numbers in the help of a finding: the length of a cut, and a cap."""

_LEAST = 20
"""A cap or a length below this is not suggested, as it would leave nothing of use."""

_EMPTY_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_LOST = "a larger total budget may remove content"
_OWN_FILE = "hf:"
_PLENTY = 10**9
"""The window of a model that no table knows, in tokens: its pack can still be checked in all other respects."""

_Claim = tuple[str, int]


@frozen(eq=False)
class _Case:
    """The bounds of one plan by section, with its fences, its offer (tools and response schema) with the tokens, and its total."""

    bounds: tuple[tuple[Section, Amount], ...]
    output: Output
    fences: tuple[str, ...]
    offer: tuple[str, int]
    pools: tuple[Pool, ...]
    total: int
    span: Span


def is_share(section: Section) -> bool:
    """Return whether the section's grant depends on what other sections leave."""
    return not section.pinned and section.budget is not None and section.budget.is_share


def check_worst_case(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report the plan that needs the most, or each section that has no bound. Nothing is reported if nothing is pinned or kept."""
    if pack.schema is None or pack.counting.counter.name not in PROVABLE:
        return
    cases = list(_iter_cases(pack, configurations))
    open_sections = {section.id: (section, amount) for case in cases for section, amount in case.bounds if amount.size is None}
    for section, amount in open_sections.values():
        yield _report_open(pack, section, amount)
    bounded = [case for case in cases if case.bounds and case.total > 0]  # PC0605 reports a total of nothing
    if not open_sections and bounded:
        yield _report_bound(pack, max(bounded, key=lambda case: _sum_case(pack, case) - case.total))


def _iter_cases(pack: PackModel, configurations: Configurations) -> Iterator[_Case]:
    for one in configurations:
        fences = list_fences(one.plan, one.facts.settled)
        bounds = tuple(_iter_worst_bounds(one, fences))
        offer, total = count_offer(pack, one.plan), _count_total(pack, one.plan)
        yield _Case(bounds, one.plan.output, fences, offer, one.plan.pools, total, one.plan.budget.span)


def _iter_worst_bounds(configuration: Configuration, fences: tuple[str, ...]) -> Iterator[tuple[Section, Amount]]:
    """Yield the bound of each section that is pinned or keeps something, with the least cap that it may have."""
    scopes = configuration.facts.load_bounding_scopes(fences)
    for section in configuration.plan.sections:
        if configuration.facts.settled.is_off(section) or not (section.pinned or (section.items is not None and section.items.keep)):
            continue
        texts = infer_texts(configuration.iter_texts(), section, scopes)
        yield configuration.settle_least(section), bound_section(section, texts, configuration.plan.output, fences)


def _count_total(pack: PackModel, plan: Plan) -> int:
    return pack.hold_back(plan.budget.total, pack.calibration.largest if pack.calibration is not None else None)


def check_calibration(pack: PackModel, _: Configurations) -> Iterator[Diagnostic]:
    """Report entries of a calibration with too few pairs, or older than what the table says of their model.

    With too few pairs, the highest ratio of all takes the place of the quantile.
    """
    calibration = pack.calibration
    if calibration is None:
        return
    share, table = show_share(calibration.quantile), pack.load_models()
    needed = -(-MILLION // (MILLION - calibration.quantile))
    for entry in calibration.entries:
        of = f"of {entry.provider} `{entry.model}`"
        if entry.pairs < needed:
            message = f"`{calibration.file}` has {count_noun(entry.pairs, 'pair')} {of}; a quantile of {share} needs at least {needed}"
            help = "add the usage of more renders, and run `promptc calibrate` again; or choose a lower quantile, such as `--quantile 0.9`"
            yield Diagnostic("PC0697", message, calibration.span, help, "warn")
        known = table.find(entry.model)
        if known is not None and entry.last < known.as_of:
            message = f"the pairs {of} in `{calibration.file}` end on {entry.last}; its entry in the table of models is from {known.as_of}"
            help = "run `promptc calibrate` again with the usage of later renders: the provider may count differently now"
            yield Diagnostic("PC0698", message, calibration.span, help, "warn")


def _report_open(pack: PackModel, section: Section, amount: Amount) -> Diagnostic:
    what = "the pinned content" if section.pinned else "what `keep` holds"
    pointer = amount.at.removeprefix("#")
    place = pack.find_schema_place
    span = place(pointer) if place is not None and pointer else section.span
    why, help = _explain_open(section, pointer)
    return Diagnostic("PC0655", f"promptc cannot prove that {what} of `{section.id}` always fits: {why}", span, help, "note")


def _explain_open(section: Section, pointer: str) -> tuple[str, str]:
    if pointer:
        return (
            f"the schema sets no limit for `{_spell(pointer)}`",
            f"give it a `maxLength`, `maxItems`, `maximum` or `enum`; or {_advise(section, _CHARS, _ROOM)}",
        )
    message = section.message
    if message is not None and not set(MEDIA_KINDS).isdisjoint(message.passing):
        return (
            "the size of a picture has no limit in the schema",
            "leave pictures to a section that a step may shorten, or pin none of them",
        )
    if isinstance(section.source, Segments):
        help = "render with the longest segments of the store: pinned text that does not fit is an error, and is never cut"
        return "a segment of a store may have any length", help
    return "some of what it prints has no limit", f"give the lists that it goes over a `maxItems`; or {_advise(section, _CHARS, _ROOM)}"


def _advise(section: Section, chars: int, room: int) -> str:
    """Return how the section itself can be bounded: a text of at most `chars` characters, or a cap of `room` tokens in place of the pin."""
    if section.id == TOOLS:
        return "set a `limit`, or keep fewer tools"
    if section.items is not None:
        way = f"write `budget: {room}` in place of `pinned: true`, so that the oldest items go" if section.pinned else "keep fewer items"
        each = f"cut each item with `trim_each: {{to: {{chars: {chars}}}, at: token}}`{' and set a `limit`' if section.pinned else ''}"
        return way if section.items.message is not None else f"{each}; or {way}"
    has_tokens = section.text is not None and "tokens=" in section.text.text
    tokens = " (not `tokens=`: a text may take more of them inside a prompt)" if has_tokens else ""
    cut = f"cut it in its text with `truncate_at('word', chars={chars})`{tokens}"
    return f"{cut}; or write `budget: {room}` and `overflow: [{{trim: {{at: token}}}}]` in place of `pinned: true`"


def _advise_bound(case: _Case, section: Section, amount: Amount, excess: int, unit: int) -> str:
    """Return the advice of `_advise`, with numbers by which the section needs `excess` tokens less."""
    room = ((amount.tokens if unit == 1 else amount.characters) or 0) // unit - excess
    free = ((amount.loose if unit == 1 else amount.characters) or 0) - unit * excess
    chars = _round(count_characters(free * 9 // 10, unit, case.output, case.fences))
    is_single = section.text is not None and section.text.text.count("{{") == 1 and "{%" not in section.text.text
    if room < _LEAST or (is_single and chars < _LEAST):
        return "pin less"
    return _advise(section, chars if is_single else _CHARS, _round(room))


def _round(number: int) -> int:
    """Round a number down to one that is easy to read."""
    return number - number % (1000 if number > 9999 else 100 if number > 999 else 10)


def _spell(pointer: str) -> str:
    """Return a place in the schema as a path: `person.friends[]`."""
    shown = ""
    for token in pointer.split("/")[1:]:
        if token == "items":
            shown += "[]"
        elif token not in ("properties", "$defs") and not token.isdecimal():
            shown += f".{token}" if shown else token
    return shown


def _report_bound(pack: PackModel, case: _Case) -> Diagnostic:
    most, unit = _sum_case(pack, case), pack.counting.counter.unit
    held = [(count(pack, amount), f"`{section.id}`") for section, amount in case.bounds]
    held += [(case.offer[1], case.offer[0])] if case.offer[1] else []
    largest = sorted(held, key=lambda one: (-one[0], one[1]))
    shown = join_some([f"{name} {tokens}" for tokens, name in largest], _SHOWN)
    added = f", and what a provider adds for {case.offer[0]}" if case.offer[1] else ""
    for section, amount, cap in _iter_over(pack, case):
        tokens = count(pack, amount)
        message = f"`{section.id}` is pinned and may exceed its own cap: the schema allows up to {count_noun(tokens, 'token')}"
        help = f"lower its bounds in the schema, or raise its budget; or {_advise_bound(case, section, amount, tokens - cap, unit)}"
        return Diagnostic("PC0657", message, section.span, help, "warn")
    for pool in case.pools:
        inside, limit = [one for one in case.bounds if one[0].id in pool.sections], pool.max.tokens(case.total)
        needed = sum(count(pack, amount) for _, amount in inside)
        if needed > limit:
            allowed = f"the schema allows up to {count_noun(needed, 'token')}, and its `max` is {limit}"
            message = f"what is pinned or kept in the pool `{pool.name}` may not fit in it: {allowed}"
            section, amount = max(inside, key=lambda one: count(pack, one[1]))
            advice = _advise_bound(case, section, amount, needed - limit, unit)
            help = f"lower the bounds of `{section.id}` in the schema, or raise `max`; or {advice}"
            return Diagnostic("PC0657", message, pool.span, help, "warn")
    if most <= case.total:
        message = f"pinned content fits for every valid state: at most {most} of {count_noun(case.total, 'token')} ({shown}){added}"
        return Diagnostic("PC0656", message, case.span, "", "note")
    message = f"pinned content may not fit: the schema allows up to {count_noun(most, 'token')}, and the total is {case.total} ({shown})"
    section, amount = max(case.bounds, key=lambda one: count(pack, one[1]))
    advice = _advise_bound(case, section, amount, most - case.total, unit)
    help = f"lower the bounds of `{section.id}` in the schema, or raise the total; or {advice}"
    return Diagnostic("PC0657", message, case.span, help, "warn")


def _sum_case(pack: PackModel, case: _Case) -> int:
    return sum_up(pack, case.bounds) + case.offer[1]


def _iter_over(pack: PackModel, case: _Case) -> Iterator[tuple[Section, Amount, int]]:
    """Yield pinned sections that may exceed their cap, with their bound and their cap. PC0610 reports constant content."""
    for section, amount in case.bounds:
        budget, constant = section.budget, section.text is not None and not section.text.reads
        if not section.pinned or constant or budget is None or budget.cap is None or budget.over == "warn":
            continue
        cap = budget.cap.tokens(case.total)
        if budget.cap.unit != "chars" and count(pack, amount) > cap:
            yield section, amount, cap


def list_fences(plan: Plan, settled: SettledTexts) -> tuple[str, ...]:
    """Return the lines of all fences, or the beginnings of lines if the rest depends on the state.

    An item's fence that begins with an expression adds nothing. A section's fence that does so adds an empty beginning, which fits any
    line.
    """
    found: set[str] = set()
    for section in plan.sections:
        inner = section.items.fence if section.items is not None else None
        for fence, is_inner in ((section.fence, False), (inner, True)):
            for text in (fence.open, fence.close) if fence is not None else ():
                static = settled.find_static(text, section)
                literal = re.split(r"\{[{%#]", text.text, maxsplit=1)[0] if static is None else static
                lines = [line.strip() for line in literal.splitlines()] or [""]
                found.update(line for line in lines if line or not (is_inner or static is not None))
    return tuple(sorted(found))


def sum_up(pack: PackModel, bounds: Sequence[tuple[Section, Amount]]) -> int:
    """Return an upper bound for the tokens of all sections together; with `chars/4`, from their characters."""
    return sum(count(pack, amount) for _, amount in bounds) + _PROMPT


def count(pack: PackModel, amount: Amount) -> int:
    """Return the tokens of one bound."""
    unit = pack.counting.counter.unit
    return (amount.tokens or 0) if unit == 1 else -(-(amount.characters or 0) // unit)


@for_each
def check_bounds(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report contradictory bounds of the prompt and of each section, and windows and evictions by groups or calls that a section lacks.

    Sizes in percent are computed from the pack's own total.
    """
    plan = configuration.plan
    if plan.budget.total <= 0:
        message = f"`reserve: {plan.budget.reserve}` leaves {plan.budget.total} of `context: {plan.budget.context}` for the prompt"
        yield Diagnostic("PC0605", message, plan.budget.span, describe_room(plan.budget))
    for section in plan.sections:
        yield from _iter_budget(section, plan.budget.total)
        yield from _iter_wholes(section, plan)
        window = section.items.window if section.items is not None else None
        if section.items is not None and window is not None:
            yield from _iter_window(section, window)


def _iter_budget(section: Section, total: int) -> Iterator[Diagnostic]:
    budget = section.budget
    if budget is None or budget.min is None or budget.cap is None or "chars" in (budget.min.unit, budget.cap.unit):
        return
    least, most = budget.min.tokens(total), budget.cap.tokens(total)
    if least > most:
        low, high = _show_bound(budget.min, least), _show_bound(budget.cap, most)
        message = f"the budget of `{section.id}` has a `min` of {low}, which is more than its `max` of {high}"
        yield Diagnostic("PC0606", message, budget.span, "lower `min`, or raise `max`")


def _show_bound(size: Size, tokens: int) -> str:
    return f"{float(size.amount * 100):g}% ({count_noun(tokens, 'token')})" if size.unit == "share" else str(tokens)


def _iter_wholes(section: Section, plan: Plan) -> Iterator[Diagnostic]:
    items, help = section.items, "add a `group`, such as `group: {by: item.turn}`, or leave `whole: group` out"
    has_groups = items is not None and items.group is not None
    has_calls = items is not None and items.message is not None and "tool_use" in items.message.passing
    if items is not None and items.window is not None and items.window.whole == "group" and not has_groups:
        message = f"the window of `{section.id}` counts groups, but its `items` have no `group`"
        yield Diagnostic("PC0608", message, items.window.span, help)
    for step in (*section.overflow, *(one for one in plan.list_shared_steps() if section.id in one.sections)):
        if isinstance(step, Evict) and step.whole == "group" and not has_groups:
            message = f"`{step.label}` removes whole groups of `{section.id}`, which has no `group`: it would remove all items at once"
            yield Diagnostic("PC0608", message, step.span, help, "warn")
        elif isinstance(step, Evict) and step.whole == "call" and not has_calls:
            message = f"`{step.label}` removes single tool calls of `{section.id}`, but its `parts` lets none pass: it removes whole items"
            help = "let them pass with `message: {parts: [text, tool_use, tool_result]}`, or leave `whole: call` out"
            yield Diagnostic("PC0608", message, step.span, help, "warn")


def _iter_window(section: Section, window: Window) -> Iterator[Diagnostic]:
    name = f"the window of `{section.id}`"
    if window.max is not None and window.min > window.max:
        yield Diagnostic("PC0607", f"{name} has a `min` of {window.min} over its `max` of {window.max}", window.span, "lower `min`")
        return
    if isinstance(window.last, int):
        yield from _iter_last(name, window, window.last)
    elif window.max is not None and window.max < window.least:
        yield _report_step(name, window, window.max, "max")


def _iter_last(name: str, window: Window, last: int) -> Iterator[Diagnostic]:
    if last < window.min:
        yield Diagnostic("PC0607", f"{name} has `last: {last}` below its `min` of {window.min}", window.span, "raise `last`")
    elif window.max is not None and last > window.max:
        yield Diagnostic("PC0607", f"{name} has `last: {last}` above its `max` of {window.max}", window.span, "lower `last`")
    elif last < window.least:
        yield _report_step(name, window, last, "last")


def _report_step(name: str, window: Window, most: int, key: str) -> Diagnostic:
    least = max(0, most - window.step + 1)
    message = f"{name} moves by {window.step}, so with `{key}: {most}` it may hold as few as {least}, below its `min` of {window.min}"
    if not window.min:
        message = f"{name} moves by {window.step}, more than the {most} of its `{key}`: it may come out empty"
    return Diagnostic("PC0607", message, window.span, f"raise `{key}` to {window.least}, or make `step` smaller")


def check_monotony(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report what voids monotony.

    This is a cap in percent that pressure counts, a size in percent inside a ladder, or a section without a cap in tokens beside sections
    or pools that share the rest.
    """
    rules = pack.strain
    if rules is not None:
        lowest = [one for one in configurations if one.combination.tier == 0]
        yield from merge_configurations(lowest, lambda one: _iter_pressure(rules, one.base))
    yield from merge_configurations(configurations, _iter_shares)


def _iter_pressure(rules: Strain, plan: Plan) -> Iterator[Diagnostic]:
    reads_percent = any(path[:2] in (("strain",), ("strain", "percent")) for section in plan.sections for path in section.reads)
    if len(rules.tiers) < 2 and not reads_percent:
        return
    watched = [name for name, _ in rules.watch]
    for section in plan.sections:
        cap = section.cap
        counts = rules.count is None or section.id in rules.count or section.id in watched
        if counts and section.budget is not None and cap is not None and cap.unit == "share":
            message = f"`strain` counts `{section.id}`, whose cap is in percent: {_LOST}"
            help = "give the section a cap in tokens, such as `budget: 800`, or count other sections"
            yield Diagnostic("PC0617", message, section.budget.span, help, "warn")


def _iter_shares(configuration: Configuration) -> Iterator[Diagnostic]:
    sections = [section for section in configuration.plan.sections if not configuration.facts.settled.is_off(section)]
    yield from _iter_percents(configuration, sections)
    plan = configuration.plan
    shares = [*(section.id for section in sections if is_share(section)), *(f"pools.{pool.name}" for pool in plan.pools if pool.is_share)]
    for section in sections if shares else ():
        yield from _iter_beside(section, shares, plan)


def _iter_percents(configuration: Configuration, sections: Sequence[Section]) -> Iterator[Diagnostic]:
    for section in sections:
        if section.pinned:
            continue
        for what, span in _iter_places(section):
            yield _report_percent(f"`{what}` of `{section.id}`", span)
        for step in configuration.list_steps_on(section):
            if isinstance(step, Trim) and any(size is not None and size.unit == "share" for size in (step.to, step.floor)):
                yield _report_percent(f"`{step.label}`", step.span)


def _iter_places(section: Section) -> Iterator[tuple[str, Span]]:
    items, budget = section.items, section.budget
    if budget is not None and budget.min is not None and budget.min.unit == "share" and budget.min.amount:
        yield "budget.min", budget.span
    if items is not None and items.trim_each is not None and items.trim_each.to.unit == "share":
        yield "trim_each", items.trim_each.span


def _report_percent(what: str, span: Span) -> Diagnostic:
    return Diagnostic("PC0618", f"{what} is a share of the total: {_LOST}", span, "write a number of tokens in place of the share", "warn")


def _iter_beside(section: Section, shares: Sequence[str], plan: Plan) -> Iterator[Diagnostic]:
    budget = section.budget
    if section.pinned or is_share(section):
        return
    named = ", ".join(f"`{one}`" for one in shares[:3]) + (" and others" if len(shares) > 3 else "")
    verb = "shares" if len(shares) == 1 else "share"
    if budget is not None and budget.cap is not None and budget.cap.unit == "chars":
        message = f"`{section.id}` has a cap in characters, next to {named}, which {verb} what is left: {_LOST}"
        yield Diagnostic("PC0619", message, budget.span, f"give `{section.id}` a cap in tokens, such as `budget: 200`", "warn")
    elif (budget is None or budget.cap is None) and plan.find_pool(section.id) is None:
        message = f"`{section.id}` has no cap and is not pinned: it may leave nothing for {named}, which {verb} the rest"
        yield Diagnostic("PC0620", message, section.span, f"give `{section.id}` a cap, such as `budget: 800`, or pin it", "warn")


@for_each
def check_joints(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report what keeps sections from being joined safely: the counter, the separator, or the beginning of a section.

    Only plans in which some section or pool gets a share are reported.
    """
    plan, settled = configuration.plan, configuration.facts.settled
    sections = [section for section in plan.sections if not settled.is_off(section)]
    if len(sections) < 2 or not (any(map(is_share, sections)) or any(pool.is_share for pool in plan.pools)):
        return
    counter, separator = pack.counting.counter, plan.output.separator
    if not counter.is_safe("x\n", "x"):
        message = f"sections share the total, and `{counter.name}` gives them no safe boundary: {_LOST}"
        help = "count with cl100k_base or o200k_base, or use numbers as caps"
        yield Diagnostic("PC0621", message, pack.manifest.value["tokenizer"].span, help, "warn")
    elif not counter.is_safe("x\n" + separator, "x"):
        message = f"sections share the total, but their separator does not end a line: {_LOST}"
        yield Diagnostic("PC0621", message, plan.output.span, 'end `output.separator` with a line end, such as `"\\n\\n"`', "warn")
    elif not counter.is_safe("x\n" + separator, "/x"):
        yield from _iter_openings(sections[1:], counter.name, settled)


def _iter_openings(sections: Sequence[Section], counter: str, settled: SettledTexts) -> Iterator[Diagnostic]:
    """Report sections that may begin with `/`, which o200k_base joins to the text before the line."""
    for section in sections:
        opening = _find_opening(section, settled)
        if opening is None or opening.startswith("/"):
            how = "begins with `/`" if opening is not None else "may begin with `/`"
            message = f"`{section.id}` {how}, which {counter} may join to the section before: {_LOST}"
            help = f"give `{section.id}` a header or a fence that begins differently"
            yield Diagnostic("PC0621", message, section.fence.span if section.fence is not None else section.span, help, "warn")


def _find_opening(section: Section, settled: SettledTexts) -> str | None:
    """Return how the section's text begins in every state, or None if that depends on the state."""
    items = section.items
    group = items.group.header if items is not None and items.group is not None else None
    fence = section.fence.open if section.fence is not None else None
    inner = items.fence.open if items is not None and items.fence is not None else None
    form = items.forms[0] if items is not None and items.forms else section.text
    first: Template | None = next((one for one in (fence, section.header, group, inner) if one is not None), form)
    if first is None:
        return None
    text = settled.find_static(first, section)
    literal = text if text is not None else re.split(r"\{[{%#]", first.text, maxsplit=1)[0]
    return _EMPTY_LINES.sub("", literal) or None


@for_each
def check_totals(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report an error if what is always present may need more than the total, and a warning if only sections with a `when` make it so."""
    plan, settled = configuration.plan, configuration.facts.settled
    total = plan.budget.total
    sections = [section for section in plan.sections if not settled.is_off(section)]
    if total > 0:
        yield from _iter_sums(sections, total, plan, count_offer(pack, plan) if plan.output.format == "messages" else ("", 0))
    for section in sections:
        yield from _iter_texts(configuration.settle_least(section), total, settled)


def _iter_sums(sections: Sequence[Section], total: int, plan: Plan, offer: _Claim) -> Iterator[Diagnostic]:
    if offer[1] > total:
        take, help = ("takes", "shorten its schema") if offer[0] == "response" else ("take", "offer fewer tools")
        message = f"{offer[0]} alone {take} {count_noun(offer[1], 'token')}, and the total is {total}"
        yield Diagnostic("PC0609", message, plan.budget.span, f"{help}, or raise the total")
        return
    for chosen, level in (([one for one in sections if one.when is None], "error"), (sections, "warn")):
        pinned = [(one.id, one.find_cap(total) or 0) for one in chosen if one.pinned]
        least = [(one.id, _count_min(one, total)) for one in chosen if not one.pinned]
        capped = sum(tokens for _, tokens in pinned) + offer[1]
        needed = capped + sum(tokens for _, tokens in least)
        if needed <= total:
            continue
        what = "pinned sections may take" if capped > total else "pinned sections and minimums may take"
        what = f"{offer[0]} with {what}" if offer[1] else what
        shown = _show_total([*((f"`{name}`", tokens) for name, tokens in (*pinned, *least)), offer])
        when = "" if level == "error" else ", all of them present"
        message = f"{what} {count_noun(needed, 'token')}{when}, and the total is {total} ({shown})"
        help = "lower these budgets, or raise the total"
        yield Diagnostic("PC0609", message, plan.budget.span, help, "error" if level == "error" else "warn")
        return


@for_each
def check_pools(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report pools that fixed content overfills, that never cut, or whose steps leave out a section that may overfill them."""
    plan, settled = configuration.plan, configuration.facts.settled
    for pool in plan.pools:
        sections = [one for one in plan.sections if one.id in pool.sections and not settled.is_off(one)]
        yield from _iter_overfilled(pool, sections, plan, settled)
        yield from _iter_idle(pool, sections, plan, settled)
        yield from _iter_untouched(pool, sections, plan.budget.total)


def _iter_overfilled(pool: Pool, sections: Sequence[Section], plan: Plan, settled: SettledTexts) -> Iterator[Diagnostic]:
    total = plan.budget.total
    for chosen, level in (([one for one in sections if one.when is None], "error"), (sections, "warn")):
        claims = [(f"`{one.id}`", _count_pinned(one, total, settled) if one.pinned else _count_min(one, total)) for one in chosen]
        needed, most = sum(tokens for _, tokens in claims), pool.max.tokens(total)
        if needed > most:
            when = "" if level == "error" else ", all of them present"
            message = f"the pinned sections and the minimums in the pool `{pool.name}` may take {count_noun(needed, 'token')}{when}"
            help = "lower these budgets, or raise its `max`"
            full = f"{message}, but its `max` is {most} ({_show_total(claims)})"
            yield Diagnostic("PC0627", full, pool.span, help, "error" if level == "error" else "warn")
            return


def _count_pinned(section: Section, total: int, settled: SettledTexts) -> int:
    content = settled.find_content(section)
    return settled.count(content) if content else section.find_cap(total) or 0


def _iter_idle(pool: Pool, sections: Sequence[Section], plan: Plan, settled: SettledTexts) -> Iterator[Diagnostic]:
    total = plan.budget.total
    most = [_find_most(one, total) or settled.find_most(one, plan.output.separator) for one in sections]
    if None not in most and sum(filter(None, most)) <= pool.max.tokens(total):
        held = sum(filter(None, most))
        message = f"the pool `{pool.name}` never cuts: its sections may take at most {count_noun(held, 'token')} by budgets of their own"
        yield Diagnostic("PC0628", message, pool.span, "lower its `max`, raise these budgets, or remove the pool", "warn")


def _find_most(section: Section, total: int) -> int | None:
    """Return the tokens of a section's own cap, or None if it has no binding cap in tokens."""
    over = section.pinned and section.budget is not None and section.budget.over == "warn"
    return section.find_cap(total) if not over else None


def _iter_untouched(pool: Pool, sections: Sequence[Section], total: int) -> Iterator[Diagnostic]:
    named = {name for step in pool.overflow for name in step.sections}
    for section in sections:
        most = _find_most(section, total)
        if section.pinned or section.id in named or (most is not None and most <= pool.max.tokens(total)):
            continue
        message = f"no step of the pool `{pool.name}` works on `{section.id}`: if it alone outgrows the pool, nothing is rendered"
        help = f"name it in the pool's `overflow`, such as `overflow: [{section.id}]`, or give it a smaller budget of its own"
        yield Diagnostic("PC0629", message, pool.span, help, "warn")


def _count_min(section: Section, total: int) -> int:
    least = section.budget.min if section.budget is not None else None
    return least.tokens(total) if least is not None and least.unit != "chars" else 0


def _show_total(claims: Sequence[_Claim]) -> str:
    largest = sorted((claim for claim in claims if claim[1]), key=lambda claim: (-claim[1], claim[0]))
    return join_some([f"{name} {tokens}" for name, tokens in largest], _SHOWN)


def _iter_texts(section: Section, total: int, settled: SettledTexts) -> Iterator[Diagnostic]:
    """Report a pinned section whose content is the same in every state and over its own cap."""
    budget = section.budget
    content = settled.find_content(section) if section.pinned and budget is not None else None
    if budget is None or budget.cap is None or not content:
        return
    cap = budget.cap.tokens(total)
    spent, noun = (len(content), "characters") if budget.cap.unit == "chars" else (settled.count(content), "tokens")
    if spent > cap:
        message = f"`{section.id}` has a cap of {cap} {noun}, but its pinned content has {spent} without its frame"
        help = f"raise its `budget` above {spent}, or shorten its text"
        yield Diagnostic("PC0610", message, budget.span, help, "warn" if budget.over == "warn" else "error")


def check_models(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report faults of the models of a pack.

    These are models that no table knows, budgets that a model does not accept, replies longer than it gives, tokens that it counts in
    another way, and models that the pack names without listing them.
    """
    for budget in dict.fromkeys(one.plan.budget for one in configurations):
        if pack.models:
            for name, span in pack.models:
                yield from _judge_listed(pack, budget, name, span)
        elif budget.model:
            yield from _judge_own(pack, budget)
    for named in dict.fromkeys((one.plan.budget, *pair) for one in configurations for pair in one.plan.output.models.items()):
        yield from _judge_request(pack, *named)
    yield from _iter_unlisted(pack)


def _iter_unlisted(pack: PackModel) -> Iterator[Diagnostic]:
    """Report models that a budget, a request or media name, in the pack or in a variation of it, without being listed under `models`."""
    listed, table = [str(one.value) for one in pack.manifest.list("models")], pack.load_models()
    known = [table.find(name) for name in listed]
    for name, span in _iter_named(pack.manifest) if listed else ():
        found = table.find(name)
        if name not in listed and (found is None or found not in known):
            message = f"`{shorten(name)}` is named here but not under `models`, so `check` does not test the pack with it"
            help = f"add it: `models: [{', '.join([*listed, shorten(name)])}]`; or name one of those"
            yield Diagnostic("PC0546", message, span, help, "warn")


def _iter_named(node: Node, key: str = "") -> Iterator[tuple[str, Span]]:
    """Yield every model that is named outside the list, with its place; `node` is the value of `key`.

    A model with a `context` next to it is left out: it needs no table and may be in none. A variation may remove a model with `null`.
    """
    for name, inner in node.value.items() if isinstance(node.value, dict) else ():
        if inner.value is None:
            continue
        if key in ("budget", "media") and name == "model" and node.get("context") is None:
            yield str(inner.value), inner.span
        elif key == "output" and name == "models":
            yield from ((str(one.value), one.span) for one in inner.value.values() if one.value is not None)
        else:
            yield from _iter_named(inner, name)
    for inner in node.value if isinstance(node.value, tuple) else ():
        yield from _iter_named(inner)


def _judge_listed(pack: PackModel, budget: TotalBudget, name: str, span: Span) -> Iterator[Diagnostic]:
    table = pack.load_models()
    known = table.find(name)
    if known is None:
        yield describe_unknown(name, table, span)
    elif budget.model:
        yield from _judge_own(pack, replace(budget, model=name, span=span))
    else:
        yield from _iter_wide(budget, known, span)
        yield from _judge_facts(pack, budget, known, span)


def _judge_own(pack: PackModel, budget: TotalBudget) -> Iterator[Diagnostic]:
    try:
        settle_budget(budget, None, pack.load_models)
    except PromptcError as error:
        yield from error.diagnostics
        return
    known = pack.load_models().find(budget.model)
    if known is not None:
        if known.context is not None and budget.context > known.context:
            message = f"`context: {budget.context}` is more than `{known.name}` takes: {count_noun(known.context, 'token')}"
            yield Diagnostic("PC0624", message, budget.span, "leave `context` out, or lower it", "warn")
        yield from _judge_facts(pack, budget, known, budget.span)


def _iter_wide(budget: TotalBudget, known: KnownModel, span: Span) -> Iterator[Diagnostic]:
    """Report a budget in tokens that is more than the model accepts."""
    room = _measure_room(known, budget.reserve or 0)
    if budget.total > room:
        message = f"the budget allows {count_noun(budget.total, 'token')}, but `{known.name}` leaves room for {room}"
        help = "lower the budget, or let it follow the model: `budget: {model: …, reserve: …}`"
        yield Diagnostic("PC0624", message, span, help)


def _measure_room(known: KnownModel, reserve: int) -> int:
    """Return how many tokens a prompt for the model may have."""
    room = known.context - reserve if known.context is not None else _PLENTY
    return min(room, known.input) if known.input is not None else room


def _judge_facts(pack: PackModel, budget: TotalBudget, known: KnownModel, span: Span) -> Iterator[Diagnostic]:
    if known.output is not None and (budget.reserve or 0) > known.output:
        message = f"`reserve: {budget.reserve}` is more than `{known.name}` can reply: {count_noun(known.output, 'token')}"
        yield Diagnostic("PC0625", message, span, f"write `reserve: {known.output}`, or less", "warn")
    counting = pack.counting
    used = counting.wanted or counting.counter.name
    if used.startswith(_OWN_FILE):
        return
    if known.tokenizer and known.tokenizer.removeprefix(ENCODING) != used.removeprefix(ENCODING):
        message = f"the pack counts with `{used}`, but `{known.name}` uses `{known.tokenizer}`: every count is wrong"
        yield Diagnostic("PC0626", message, span, f"write `tokenizer: {known.tokenizer}`", "warn")
    elif not known.tokenizer and counting.counter.exact and not _is_calibrated(pack, known):
        message = f"the tokenizer of `{known.name}` is not known, so the counts of `{used}` are an estimate for it"
        help = "leave room for the difference: a larger `reserve`; or measure it with `promptc calibrate`, and name its file: `calibration`"
        yield Diagnostic("PC0658", message, span, help, "note")


def _is_calibrated(pack: PackModel, known: KnownModel) -> bool:
    return pack.calibration is not None and any(entry.model == known.name for entry in pack.calibration.entries)


def _judge_request(pack: PackModel, budget: TotalBudget, provider: str, name: str) -> Iterator[Diagnostic]:
    """Report a request that names a model which accepts less than the budget allows."""
    known = pack.load_models().find(name)
    settled = _settle(budget, budget.model, pack.load_models)
    if known is not None and settled.total > _measure_room(known, settled.reserve or 0):
        room = _measure_room(known, settled.reserve or 0)
        message = f"requests to `{provider}` name `{name}`, which leaves room for {room} tokens; the budget allows {settled.total}"
        yield Diagnostic("PC0659", message, budget.span, f"write `budget: {{model: {name}, reserve: …}}`, or name another model", "warn")


def list_settled(pack: PackModel, configurations: Configurations) -> Sequence[tuple[str, PackModel]]:
    """Return the pack once for each of its models that differ in their windows, each with the names of these models.

    If the budget follows no model, return the pack itself. A model that no table knows has an unlimited window here, so that all else can
    be checked.
    """
    if not any(one.plan.budget.model for one in configurations):
        return [("", pack)]
    table, groups = pack.load_models(), dict[tuple[int | None, int | None], list[str]]()
    for name, _ in pack.models:
        known = table.find(name)
        groups.setdefault((known.context, known.input) if known is not None else (None, None), []).append(name)
    settled = [(f"with {' or '.join(f'`{name}`' for name in names)}", _settle_pack(pack, names[0])) for names in groups.values()]
    return settled or [("", _settle_pack(pack, ""))]


def _settle_pack(pack: PackModel, name: str) -> PackModel:
    return pack.change_plans(lambda plan: replace(plan, budget=_settle(plan.budget, name or plan.budget.model, pack.load_models)))


def _settle(budget: TotalBudget, name: str, load_models: Callable[[], ModelTable]) -> TotalBudget:
    if not budget.model:
        return budget
    try:
        return settle_budget(replace(budget, model=name), None, load_models)
    except PromptcError:
        return replace(budget, context=_PLENTY)
