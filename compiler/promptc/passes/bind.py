"""The first pass: asserts, `let`, the choice of variants and patches, the budget.

Also the names that a section sees, and functions that evaluate values of the state by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from promptc.diag.findings import Diagnostic, PromptcError, Span, UsageError, fail, name_kind, offer_names, show_value, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.budget import TotalBudget, describe_room, settle_budget
from promptc.model.messages import UNPROVIDED
from promptc.model.pack import Assign, Axis, Band, CalibrationEntry, Choice, Let, PackModel, Plan
from promptc.model.section import DEFERRED, Section, settle_cap
from promptc.model.stages import Bound, RenderOptions, Selection
from promptc.model.state import State
from promptc.template.compile import Expression
from promptc.template.runtime.run import RUN, price_count, read_run
from promptc.text.counters.counter import Meter
from promptc.text.json import find_whole

REDACTIONS = "__redactions__"
"""The name under which a render that redacts has its placeholders. No template can read it."""
_TEXT = 100
_ADD_MARGIN = "add what is missing, or hold back 10 % of the budget: `margin: 10`"
_NAME_KEY = "write an expression with such a value, such as `item.id`"


def bind(pack: PackModel, state: State, meter: Meter, options: RenderOptions) -> Bound:
    """Bind the pack to a state.

    Raises `UsageError` for an unknown axis, case, patch or model in the options, `PromptcError` for a failed assert, a `let` that cannot be
    evaluated, or a state that selects no case.
    """
    run = pack.open_account()
    bare: dict[str, Any] = {"state": state.value, RUN: run, **options.given}
    if pack.redact:
        from promptc.passes.redact import Redactions

        bare[REDACTIONS] = Redactions(pack.redact, state.value, lambda steps: run.pay(steps, None, "redacting the state"))
    warnings = check_asserts(pack, bare)
    names = bind_lets(pack, bare)
    due = tuple(one.operation for one in pack.conditions if one.when.evaluate({**names, "args": one.args}))
    _check_sections(pack, options.without)
    check_choice(pack, options.variants, options.patches)
    choice = Choice(_choose_cases(pack.axes, names, options.variants), tuple(options.patches))
    plan = pack.load_plan(choice)
    budget = settle_budget(plan.budget, options.model, pack.load_models)
    if options.model is not None and options.provider is None and not plan.budget.model:
        raise _refuse_model(options.model)
    total = options.budget if options.budget is not None else budget.total
    if total <= 0:
        raise fail("PC0501", f"the budget leaves {total} tokens for the prompt", budget.span, help=describe_room(budget))
    if pack.counting.reason:
        warnings.append(_report_fallback(pack))
    calibrated = _choose_calibrated(pack, plan, budget, options)
    return Bound(
        pack,
        state,
        meter,
        names,
        choice,
        options.format or plan.output.format,
        pack.hold_back(total, calibrated),
        budget,
        frozenset(options.without),
        (*pack.warnings, *state.warnings, *warnings),
        provider=options.provider,
        due=due,
        model=options.model,
        whole=total,
        calibrated=calibrated,
    )


def _choose_calibrated(pack: PackModel, plan: Plan, budget: TotalBudget, options: RenderOptions) -> CalibrationEntry | None:
    """Return the calibration entry of the model that a request would name; None without an entry, or while a fallback counts."""
    if pack.calibration is None or pack.counting.reason:
        return None
    provider = options.provider.name if options.provider is not None else None
    requested = plan.output.models.get(provider) if provider is not None else None
    return pack.calibration.choose(provider, options.model or requested or budget.model)


def _refuse_model(name: str) -> UsageError:
    message = f"`--model {name}` changes nothing: the budget of the pack names no model, and `--format` no provider"
    help = "add `--format` with a provider, or write `budget: {model: …, reserve: …}` in the pack"
    return UsageError([Diagnostic("PC0709", message, help=help)])


def _check_sections(pack: PackModel, names: Sequence[str]) -> None:
    for name in names:
        if name not in pack.sections:
            raise UsageError([Diagnostic("PC0704", f"the pack has no section `{name}`", help=suggest(name, pack.sections))])


def _report_fallback(pack: PackModel) -> Diagnostic:
    counting = pack.counting
    message = f"counted with `{counting.counter.name}`, not `{counting.wanted}`: {counting.reason}"
    return Diagnostic(
        "PC0502",
        message,
        counting.span,
        f"add what is missing; until then promptc holds back {counting.margin} % of the budget" if counting.margin else _ADD_MARGIN,
        "warn",
    )


def _choose_cases(axes: Sequence[Axis], names: dict[str, Any], asked: Mapping[str, str]) -> tuple[tuple[str, str | None], ...]:
    chosen: dict[str, str | None] = {}
    names["variant"] = chosen
    for axis in axes:
        chosen[axis.name] = _choose_case(axis, names, asked.get(axis.name))
    return tuple(chosen.items())


def _choose_case(axis: Axis, names: Mapping[str, Any], asked: str | None) -> str | None:
    if asked is not None:
        return asked
    value = axis.select.evaluate(names)
    if isinstance(value, str) and value in axis.cases:
        return value
    if axis.default is None:
        raise _refuse_case(axis, value)
    return axis.default


def _refuse_case(axis: Axis, value: object) -> PromptcError:
    if value is None or isinstance(value, str):
        shown = "nothing" if value is None else show_value(value)
        message = f"the state selects {shown} for the variant `{axis.name}`, which has no such case and no default"
        help = suggest(value, axis.cases) if value is not None else offer_names(axis.cases)
    else:
        told = f"that is {name_kind(value)}, and only a string names a case"
        message = f"the state selects {show_value(value)} for the variant `{axis.name}`: {told}"
        is_near = isinstance(value, int | float) and str(value) in axis.cases
        help = "make it a string, as `select: state.level | string` does" if is_near else offer_names(axis.cases)
    return fail("PC0506", message, axis.select.span, help=help)


def check_choice(pack: PackModel, cases: Mapping[str, str], patches: Sequence[str]) -> None:
    """Raise `UsageError` for an axis (PC0701), a case (PC0702) or a patch (PC0703) that the pack does not have."""
    axes = {axis.name: axis.cases for axis in pack.axes}
    for axis, case in cases.items():
        if axis not in axes:
            raise UsageError([Diagnostic("PC0701", f"the pack has no variant axis `{axis}`", help=suggest(axis, axes))])
        if case not in axes[axis]:
            raise UsageError([Diagnostic("PC0702", f"the axis `{axis}` has no case `{case}`", help=suggest(case, axes[axis]))])
    for name in patches:
        if name not in pack.patch_names:
            help = suggest(name, pack.patch_names) or "declare it under `patches`"
            raise UsageError([Diagnostic("PC0703", f"the pack has no patch `{name}`", help=help)])


def check_asserts(pack: PackModel, names: Mapping[str, Any]) -> list[Diagnostic]:
    """Return the warnings of failed asserts; `names` include the state. Raises `PromptcError` if a failed assert is an error."""
    failed = [one for one in pack.asserts if not one.that.evaluate(names)]
    found = [Diagnostic("PC0503", one.otherwise.render(names).strip(), one.span, level=one.level) for one in failed]
    if any(one.level == "error" for one in found):
        raise PromptcError(found)
    return found


def bind_lets(pack: PackModel, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return `names`, which include the state, extended by those of `let`, each of which sees the earlier ones.

    Raises `PromptcError` for a value that cannot be evaluated.
    """
    bound = dict(names)
    for let in pack.lets:
        bound[let.name] = _evaluate_let(let, bound)
    return bound


def _evaluate_let(let: Let, names: Mapping[str, Any]) -> Any:
    if isinstance(let.value, Band):
        return _choose_label(let, let.value, names)
    if isinstance(let.value, Assign):
        return _draw(let, let.value, names)
    return let.value.evaluate(names)


def _choose_label(let: Let, band: Band, names: Mapping[str, Any]) -> str:
    number = band.value.evaluate(names)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise fail(
            "PC0504",
            f"the band `{let.name}` needs a number, not {show_value(number)}",
            band.value.span,
            help="write an expression that returns a number, such as `state.heat`",
        )
    label = band.bounds[0][1]
    for bound, name in band.bounds:
        if number >= bound:
            label = name
    return label


def _draw(let: Let, assign: Assign, names: Mapping[str, Any]) -> str:
    given = assign.value.evaluate(names)
    key = given if isinstance(given, str) else find_whole(given)
    if key is None:
        what = f"the assignment `{let.name}` needs a string or a whole number as its id, not {show_value(given)}"
        raise fail("PC0505", what, assign.value.span, help="give it one id, such as `state.user_id`")
    from hashlib import sha256

    draws = [
        (sha256(f"{let.name}\0{key}\0{label}\0{turn}\0".encode()).digest(), label)
        for label, weight in assign.weights
        for turn in range(1, weight + 1)
    ]
    return max(draws)[1]


def section_names(names: Mapping[str, Any], section: Section, strain: Mapping[str, Any], selected: Mapping[str, int]) -> dict[str, Any]:
    """Return the names visible in a section: the bound names, redacted by its rules, and `strain`, `selected` and `section`."""
    shown = {"id": section.id, "title": section.title, "role": section.role}
    if section.redact:
        redactions = names[REDACTIONS]
        names = {name: redactions.redact_value(value, section.redact) for name, value in names.items()}
    return {**names, "strain": strain, "selected": selected, "section": shown}


def list_names(selection: Selection, section: Section) -> dict[str, Any]:
    """Return the names that a selected section saw; `selected` has the number of items of each section before it."""
    before = takewhile(lambda one: one.section.id != section.id, selection.sections)
    return section_names(selection.bound.names, section, selection.strain, {one.section.id: len(one.items) for one in before})


def pay_text(names: Mapping[str, Any], text: str, span: Span | None, what: str) -> None:
    """Charge the work on a rendered text: it is guarded, laid out and counted, and counting costs most."""
    read_run(names).pay(_TEXT + price_count(text), span, what)


def evaluate_count(expression: Expression, names: Mapping[str, Any], what: str) -> int:
    """Return the value of an expression as a whole number of at least 0. Raises PC0507 for any other value."""
    value = expression.evaluate(names)
    count = find_whole(value)
    if count is None or count < 0:
        raise fail(
            "PC0507",
            f"{what} must be a whole number from 0, not {show_value(value)}",
            expression.span,
            help="give a whole number, such as 12",
        )
    return count


def find_cap(section: Section, bound: Bound) -> int | None:
    """Return the section's cap in this render, in tokens, or in characters if the cap is one of characters; None without a cap.

    Raises `PromptcError` (PC0507) if the state chooses the cap and its value is neither a whole number nor null.
    """
    budget = section.budget
    if budget is None or budget.cap is None:
        return None
    most, asked = budget.cap.tokens(bound.total), find_asked(section, bound)
    return most if asked is None else max(0, min(asked, most))


def load_settled(bound: Bound, choice: Choice) -> Plan:
    """Return the plan of a choice, its tools with the forms that the model of this render accepts.

    Raises `PromptcError` (PC0526) if no form is left.
    """
    plan = bound.pack.load_plan(choice)
    if bound.format == "text" or not any(one.items.tool.defers for one in plan.sections if one.items and one.items.tool):
        return plan
    return replace(plan, sections=tuple(_settle_forms(one, plan, bound) for one in plan.sections))


def _settle_forms(section: Section, plan: Plan, bound: Bound) -> Section:
    items, provider = section.items, bound.provider
    if items is None or items.tool is None:
        return section
    model = choose_model(plan, bound, bound.model)
    search = provider.find_search(model) if provider is not None else UNPROVIDED
    if search is not None:
        return replace(section, items=replace(items, tool=replace(items.tool, shown=search.shown)))
    names = tuple(name for name in items.tool.names if name != DEFERRED)
    if not names:
        what = name_undeferring(bound)
        message = f"`tools` has the form `deferred` only, and {what} has no search for tools: the model would never see one"
        raise fail("PC0526", message, items.tool.span, help="name a form to fall back on: `forms: [full, deferred]`")
    return replace(section, items=replace(items, forms=items.forms[: len(names)], tool=replace(items.tool, names=names, is_cut=True)))


def choose_model(plan: Plan, bound: Bound, asked: str | None) -> str | None:
    """Return the model that a request of this render names: `asked`, else that of the provider, else the budget's, else None."""
    named = plan.output.models.get(bound.provider.name) if bound.provider is not None else None
    return asked or named or bound.budget.model or None


def name_undeferring(bound: Bound) -> str:
    """Return the name of what cannot defer tools, worded for a finding: the provider, or the requested model."""
    provider = bound.provider
    assert provider is not None
    model = choose_model(bound.pack.load_plan(bound.choice), bound, bound.model)
    return provider.title if provider.search is None else f"`{model}`"


def settle_caps(plan: Plan, bound: Bound) -> Plan:
    """Return the plan with every cap that the state chooses as the number of this render. Raises like `find_cap`."""
    if not any(one.budget is not None and one.budget.source is not None for one in plan.sections):
        return plan
    return replace(plan, sections=tuple(settle_cap(one, find_cap(one, bound)) for one in plan.sections))


def find_asked(section: Section, bound: Bound) -> int | None:
    """Return the cap that the state requests for a section, or None if it requests none. Raises like `find_cap`."""
    source = section.budget.source if section.budget is not None else None
    value = source.evaluate(bound.names) if source is not None else None
    if source is None or value is None:
        return None
    asked = find_whole(value)
    if asked is None:
        what = f"`budget.from` of `{section.id}` must be a whole number or null, not {show_value(value)}"
        raise fail("PC0507", what, source.span, help="give as many as the section may take, such as 600, or null for all of its `max`")
    return asked


def evaluate_key(expression: Expression, names: Mapping[str, Any], what: str) -> Any:
    """Return a value to compare or group by: text, number, boolean or None. Raises PC0508 for any other value."""
    value = expression.evaluate(names)
    if value is not None and not isinstance(value, str | int | float | bool):
        raise fail(
            "PC0508", f"{what} must be a string, a number, true, false or null, not {show_value(value)}", expression.span, help=_NAME_KEY
        )
    return value


def type_key(key: Any) -> tuple[str, Any]:
    """Return a key with its type, which distinguishes `true` from 1 and 1 from 1.0; Python treats them as equal."""
    return type(key).__name__, key
