"""First pass: asserts, `let`, the choice of variants and patches, the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, UsageError, fail, join_names, show_value, suggest
from promptc.diag.typed import Any
from promptc.model.pack import Assign, Axis, Band, Choice, Let, PackModel
from promptc.model.stages import Bound, RenderOptions
from promptc.model.state import State
from promptc.passes.select import find_whole
from promptc.template.runtime.run import RUN
from promptc.text.counters.counter import Meter


def bind(pack: PackModel, state: State, meter: Meter, options: RenderOptions) -> Bound:
    """The pack bound to a state.

    Raises `UsageError` for an unknown axis, case or patch that was asked for, `PromptcError` for a failed assert, a `let` that cannot be
    evaluated, or a state that selects no case.
    """
    bare: dict[str, Any] = {"state": state.value, RUN: pack.open_account(), **options.given}
    warnings = check_asserts(pack, bare)
    names = bind_lets(pack, bare)
    due = _find_due(pack, names)
    _check_sections(pack, options.without)
    choice = Choice(_choose_cases(pack.axes, names, options.variants), _check_patches(pack, options.patches))
    plan = pack.find_plan(choice)
    total = options.budget if options.budget is not None else plan.budget.total
    if total <= 0:
        raise fail(
            "PC0501", f"the budget leaves {total} tokens for the prompt", plan.budget.span, help="make `context` larger than `reserve`"
        )
    counting = pack.counting
    if counting.reason:
        total = total * (100 - counting.margin) // 100
        warnings.append(_report_fallback(pack))
    return Bound(
        pack,
        state,
        meter,
        names,
        choice,
        options.format or plan.output.format,
        total,
        frozenset(options.without),
        (*pack.warnings, *state.warnings, *warnings),
        provider=options.provider,
        due=due,
        memory=options.memory,
    )


def _find_due(pack: PackModel, names: Mapping[str, Any]) -> tuple[str, ...]:
    """The operations whose condition holds, with the defaults of their arguments."""
    return tuple(one.operation for one in pack.conditions if one.when.evaluate({**names, "args": one.args}))


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
        f"{counting.margin} % of the budget is held back" if counting.margin else "",
        "warn",
    )


def _choose_cases(axes: Sequence[Axis], names: dict[str, Any], asked: Mapping[str, str]) -> tuple[tuple[str, str | None], ...]:
    known = [axis.name for axis in axes]
    for name in asked:
        if name not in known:
            raise UsageError([Diagnostic("PC0701", f"the pack has no variant axis `{name}`", help=suggest(name, known))])
    chosen: dict[str, str | None] = {}
    names["variant"] = chosen
    for axis in axes:
        chosen[axis.name] = _choose_case(axis, names, asked.get(axis.name))
    return tuple(chosen.items())


def _choose_case(axis: Axis, names: Mapping[str, Any], asked: str | None) -> str | None:
    if asked is not None:
        if asked not in axis.cases:
            raise UsageError([Diagnostic("PC0702", f"the axis `{axis.name}` has no case `{asked}`", help=suggest(asked, axis.cases))])
        return asked
    value = axis.select.evaluate(names)
    if isinstance(value, str) and value in axis.cases:
        return value
    if axis.default is None:
        shown = "nothing" if value is None else show_value(value)
        help = suggest(str(value), axis.cases) if value is not None else f"known: {join_names(axis.cases)}"
        raise fail(
            "PC0506",
            f"the state selects {shown} on the axis `{axis.name}`, which has no such case and no default",
            axis.select.span,
            help=help,
        )
    return axis.default


def _check_patches(pack: PackModel, patches: Sequence[str]) -> tuple[str, ...]:
    for name in patches:
        if name not in pack.patch_names:
            raise UsageError([Diagnostic("PC0703", f"the pack has no patch `{name}`", help=suggest(name, pack.patch_names))])
    return tuple(patches)


def check_asserts(pack: PackModel, names: Mapping[str, Any]) -> list[Diagnostic]:
    """The warnings of asserts that fail; `names` hold the state. Raises `PromptcError` where one fails whose level is an error."""
    failed = [one for one in pack.asserts if not one.that.evaluate(names)]
    found = [Diagnostic("PC0503", one.otherwise.render(names).strip(), one.span, level=one.level) for one in failed]
    if any(one.level == "error" for one in found):
        raise PromptcError(found)
    return found


def bind_lets(pack: PackModel, names: Mapping[str, Any]) -> dict[str, Any]:
    """`names`, which hold the state, and those of `let`, each of which sees the earlier ones. Raises `PromptcError` for what cannot be
    evaluated.
    """
    bound = dict(names)
    for let in pack.lets:
        bound[let.name] = _evaluate_let(let, bound)
    return bound


def _evaluate_let(let: Let, names: Mapping[str, Any]) -> Any:
    if isinstance(let.value, Band):
        return _find_band(let, let.value, names)
    if isinstance(let.value, Assign):
        return _draw(let, let.value, names)
    return let.value.evaluate(names)


def _find_band(let: Let, band: Band, names: Mapping[str, Any]) -> str:
    number = band.value.evaluate(names)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise fail("PC0504", f"the band `{let.name}` needs a number, not {show_value(number)}", band.value.span)
    label = band.bounds[0][1]
    for bound, name in band.bounds:
        if number >= bound:
            label = name
    return label


def _draw(let: Let, assign: Assign, names: Mapping[str, Any]) -> str:
    given = assign.value.evaluate(names)
    key = given if isinstance(given, str) else find_whole(given)
    if key is None:
        what = f"the assignment `{let.name}` needs a text or a whole number as its id, not {show_value(given)}"
        raise fail("PC0505", what, assign.value.span)
    from hashlib import sha256

    draws = [
        (sha256(f"{let.name}\0{key}\0{label}\0{turn}\0".encode()).digest(), label)
        for label, weight in assign.weights
        for turn in range(1, weight + 1)
    ]
    return max(draws)[1]
