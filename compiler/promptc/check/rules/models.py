"""The models that a pack names, in its budget, under `models` and in requests: `check_models` judges them, `list_settled` gives the pack
as it is for each, so that all other rules can judge that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptc.check.configurations import Configurations
from promptc.diag.findings import Diagnostic, PromptcError, Span, count_noun, shorten
from promptc.diag.frozen import replace
from promptc.model.budget import KnownModel, ModelTable, TotalBudget, describe_unknown, settle_budget
from promptc.model.pack import PackModel
from promptc.model.state import Node
from promptc.text.counters.counter import ENCODING

_OWN_FILE = "hf:"
_PLENTY = 10**9
"""Tokens of a model that no table knows, so that its pack can be judged in all other respects."""


def check_models(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Models that no table knows, budgets that one does not take, replies longer than it gives, tokens counted otherwise than it does; and
    models that the pack names without listing them."""
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
    """Models that a budget, a request or media name, in the pack or in a variation of it, and that are not under its `models`."""
    listed, table = [str(one.value) for one in pack.manifest.list("models")], pack.load_models()
    known = [table.find(name) for name in listed]
    for name, span in _iter_named(pack.manifest) if listed else ():
        found = table.find(name)
        if name not in listed and (found is None or found not in known):
            message = f"`{shorten(name)}` is named here and not under `models`: `check` does not prove the pack for it"
            help = f"add it: `models: [{', '.join([*listed, shorten(name)])}]`; or name one of those"
            yield Diagnostic("PC0546", message, span, help, "warn")


def _iter_named(node: Node, key: str = "") -> Iterator[tuple[str, Span]]:
    """Every model that is named outside the list, with its place; `node` stands under `key`. One with a `context` beside it needs no table,
    and may be in none.
    """
    for name, inner in node.value.items() if isinstance(node.value, dict) else ():
        if key in ("budget", "media") and name == "model" and node.get("context") is None:
            yield str(inner.value), inner.span
        elif key == "output" and name == "models":
            yield from ((str(one.value), one.span) for one in inner.value.values())
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
    """A budget in tokens that is more than the model takes."""
    room = _measure_room(known, budget.reserve or 0)
    if budget.total > room:
        message = f"the budget allows {count_noun(budget.total, 'token')}, and `{known.name}` leaves room for {room}"
        help = "lower the budget, or let it follow the model: `budget: {model: …, reserve: …}`"
        yield Diagnostic("PC0624", message, span, help)


def _measure_room(known: KnownModel, reserve: int) -> int:
    """How many tokens a prompt for the model may have."""
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
        message = f"the pack counts by `{used}`, and `{known.name}` by `{known.tokenizer}`: every count is off"
        yield Diagnostic("PC0626", message, span, f"write `tokenizer: {known.tokenizer}`", "warn")
    elif not known.tokenizer and counting.counter.exact:
        message = f"the tokenizer of `{known.name}` is not known: for it, the counts of `{used}` are an estimate"
        yield Diagnostic("PC0658", message, span, "leave room for the difference: a larger `reserve`", "note")


def _judge_request(pack: PackModel, budget: TotalBudget, provider: str, name: str) -> Iterator[Diagnostic]:
    """A request that names a model which takes less than the budget allows."""
    known = pack.load_models().find(name)
    settled = _settle(budget, budget.model, pack.load_models)
    if known is not None and settled.total > _measure_room(known, settled.reserve or 0):
        room = _measure_room(known, settled.reserve or 0)
        message = f"requests to `{provider}` name `{name}`, which leaves room for {room} tokens; the budget allows {settled.total}"
        yield Diagnostic("PC0659", message, budget.span, f"write `budget: {{model: {name}, reserve: …}}`, or name another model", "warn")


def list_settled(pack: PackModel, configurations: Configurations) -> Sequence[tuple[str, PackModel]]:
    """The pack for each of its models that differ in their windows, with their names; of a pack whose budget follows none itself. A model
    that no table knows has a boundless window here, so that all else can be judged.
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
