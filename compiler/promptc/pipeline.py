"""The straight list: bind, strain (which selects, gathers what selecting needs, and measures), fit, assemble, verify."""

from collections.abc import Callable
from functools import cached_property

from promptc.diag.findings import Diagnostic
from promptc.diag.typed import Any
from promptc.model.messages import Provider
from promptc.model.pack import PackModel
from promptc.model.stages import Bound, Gathering, RenderOptions
from promptc.model.state import State
from promptc.passes.assemble import Emitted, assemble, verify, warn
from promptc.passes.bind import bind
from promptc.passes.fit.fit import fit
from promptc.passes.fit.result import Fitted
from promptc.passes.strain import strain
from promptc.text.counters.counter import Meter


class Outcome:
    """What a render came to. `emitted` and `tokens` are None where the content did not fit; `errors` then say why.

    The report is built when asked for. `refit` renders the same once more, in messages that are counted as a provider counts them.
    """

    def __init__(self, fitted: Fitted, emitted: Emitted | None, tokens: int | None, warnings: tuple[Diagnostic, ...]) -> None:
        self.refit: Callable[[Provider], Outcome] | None = None
        self.fitted = fitted
        self.emitted = emitted
        self.tokens = tokens
        self.warnings = warnings

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that kept the prompt from being emitted."""
        return tuple(found for found in self.fitted.errors if found.level == "error")

    @cached_property
    def report(self) -> dict[str, Any]:
        """The report (language.md §13)."""
        from promptc.passes.report import build_report  # a render that asks for no report does not pay for it

        return build_report(self.fitted, self.emitted, self.tokens, self.warnings)

    @property
    def facts(self) -> dict[str, Any]:
        """The report's `strain`, `variants`, `flags`, and the id and state of each of its `sections`, without the rest of it."""
        from promptc.passes.report import build_facts

        return build_facts(self.fitted)


def compile_prompt(
    pack: PackModel,
    state: State,
    meter: Meter,
    options: RenderOptions | None = None,
    gather: Callable[[Bound], Gathering] | None = None,
) -> Outcome:
    """Renders `state` by `pack`. Raises `PromptcError` for what is invalid; content that does not fit is an `Outcome` with errors.

    `gather` makes what asks the sources of a pack that has stores or indexes.
    """
    bound = bind(pack, state, meter, options or RenderOptions())
    fitted = fit(strain(bound, gather(bound) if gather is not None else None))
    if any(found.level == "error" for found in fitted.errors):
        bound.run.renew()
        return Outcome(fitted, None, None, warn(fitted, None))
    emitted = assemble(fitted)
    tokens = verify(fitted, emitted)
    bound.run.renew()
    return Outcome(fitted, emitted, tokens, warn(fitted, emitted))
