"""First pass: asserts, `let`, the choice of variants and patches, the budget."""

from collections.abc import Mapping, Sequence

from promptc.diag.findings import Diagnostic, UsageError, fail, suggest
from promptc.diag.typed import Any
from promptc.diag.value import join_names, show_value
from promptc.model.pack import Axis, Choice, PackModel
from promptc.model.stages import Bound, RenderOptions
from promptc.model.state import State
from promptc.passes.bind_lets import bind_lets
from promptc.passes.check_asserts import check_asserts
from promptc.template.runtime.run import RUN
from promptc.text.meter import Meter


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
