"""The compiler's passes in order: bind, strain (which selects, gathers and measures), fit, assemble, verify.

`compile_prompt` runs them and returns an `Outcome`, also for content that does not fit. `Prompt` is a prompt that fits, as the library
returns it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from promptc.diag.findings import Diagnostic, FitError, UsageError, check_arguments, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.messages import CHAT, Provider
from promptc.model.pack import Format, PackModel, Plan
from promptc.model.stages import Bound, Gathering, RenderOptions
from promptc.model.state import State
from promptc.passes.assemble import Emitted, assemble, verify, warn
from promptc.passes.bind import REDACTIONS, bind, choose_model
from promptc.passes.fit.fit import fit
from promptc.passes.fit.result import Fitted, Part
from promptc.passes.select import CostlyWork
from promptc.passes.strain import strain
from promptc.text.counters.counter import Meter


def compile_prompt(
    pack: PackModel,
    state: State,
    meter: Meter,
    options: RenderOptions | None = None,
    gather: Callable[[Bound], Gathering] | None = None,
    work: CostlyWork | None = None,
) -> Outcome:
    """Render `state` with `pack`.

    - `gather`: a function that makes the object that queries the sources of a pack with stores or indexes.
    - `work`: replaces the passes' own costly work.

    Raises `PromptcError` for anything that is invalid. Content that does not fit is an `Outcome` with errors.
    """
    bound = bind(pack, state, meter, options or RenderOptions())
    frame = None
    if bound.provider is not None and bound.provider.name == CHAT:
        from promptc.passes.payload.chat import TemplateFrame

        frame = TemplateFrame(bound)
        bound = replace(bound, provider=frame.provider)
    fitted = fit(strain(bound, gather(bound) if gather is not None else None, work), work, frame)
    if any(found.level == "error" for found in fitted.errors):
        bound.run.renew()
        return Outcome(fitted, None, None, warn(fitted, None))
    emitted = assemble(fitted, frame)
    tokens = verify(fitted, emitted, frame)
    bound.run.renew()
    return Outcome(fitted, emitted, tokens, (*warn(fitted, emitted), *(frame.warnings if frame is not None else ())))


class Outcome:
    """The result of a render. `emitted` and `tokens` are None if the content does not fit; `errors` then say why.

    `report` is built when it is first read. `kept` says how much of what was read outside the state came from the cache, or is None without
    a cache; it is not part of the report, since equal renders have equal reports. `refit` renders the state again in messages that are
    counted by the rules of a provider. `retry` renders the state again with other plans.
    """

    def __init__(self, fitted: Fitted, emitted: Emitted | None, tokens: int | None, warnings: tuple[Diagnostic, ...]) -> None:
        self.refit: Callable[[Provider, str | None], Outcome] | None = None
        self.retry: Callable[[Callable[[Plan], Plan]], Outcome] | None = None
        self.kept: Mapping[str, Any] | None = None
        self.fitted = fitted
        self.emitted = emitted
        self.tokens = tokens
        self.warnings = warnings

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that prevented the prompt."""
        return tuple(found for found in self.fitted.errors if found.level == "error")

    @cached_property
    def report(self) -> dict[str, Any]:
        """The report (contract.md §13)."""
        from promptc.passes.report import build_report  # late: a render whose report nobody reads does not load this

        return build_report(self.fitted, self.account)

    @cached_property
    def account(self) -> dict[str, Any]:
        """The report without its `digests`: what a view shows of a render. The cost depends on what is shown, not on the state."""
        from promptc.passes.report import build_account

        return build_account(self.fitted, self.emitted, self.tokens, self.warnings)

    def build_row(self, more: Sequence[Diagnostic] = ()) -> dict[str, Any]:
        """Build the row of a batch from the report.

        The row has `tokens`, the tokens of each section, the tier, how many items of each section are left out, and every finding,
        including those in `more`.
        """
        from promptc.passes.report import build_row

        return build_row(self.fitted, self.emitted, self.tokens, (*self.errors, *self.warnings, *more))

    @cached_property
    def redactions(self) -> dict[str, str]:
        """The original texts of the placeholders in the prompt, by placeholder. Empty if the prompt has no placeholders."""
        redactions = self.fitted.strained.selection.bound.names.get(REDACTIONS)
        if redactions is None or self.emitted is None:
            return {}
        from promptc.passes.redact import list_placeholders

        found: dict[str, str] = list_placeholders("".join(part.text for part in self.emitted.parts), redactions.originals)
        return found

    @cached_property
    def slack(self) -> tuple[Any, ...]:
        """The room that coarse notches left, and the order of steps that would have used it, found by renders.

        Empty if the content does not fit.
        """
        from promptc.explain.slack import list_slack

        retry = self.retry
        if self.tokens is None or retry is None:
            return ()

        def render(change: Callable[[Plan], Plan]) -> tuple[Fitted, int | None]:
            after = retry(change)
            return after.fitted, after.tokens

        found: tuple[Any, ...] = list_slack(self.fitted, self.tokens, render)
        return found

    @property
    def facts(self) -> dict[str, Any]:
        """The `strain`, `variants` and `flags` of the report, and the id and state of each of its `sections`."""
        from promptc.passes.report import build_facts

        return build_facts(self.fitted)


def read_output(prompt: Prompt) -> str | list[dict[str, Any]]:
    """Return what a prompt is sent as: its text, also for a chat template, or else its messages."""
    return prompt.text if prompt.format == "text" or prompt.provider == CHAT else prompt.messages


class Prompt:
    """A finished, immutable prompt. Reading `text` of a prompt in messages, or `messages` of a text, raises `UsageError`."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    @property
    def format(self) -> Format:
        """`text` or `messages`."""
        return self._outcome.fitted.layout.format

    @property
    def provider(self) -> str | None:
        """The provider whose rules counted the tokens, or None."""
        provider = self._outcome.fitted.strained.selection.bound.provider
        return provider.name if provider is not None else None

    @property
    def text(self) -> str:
        """The prompt as text. It ends in one newline, and is empty if no section is present.

        With the format `chat` it is exactly the text that the chat template makes from the messages, byte for byte.
        """
        return self._emitted("messages" if self.provider == CHAT else "text").text

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages: a list of dicts with `role` and `content`."""
        return [dict(message) for message in self._emitted("messages").messages]

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that go with the messages: dicts with `name`, `description` and `input_schema`. Empty for a text.

        A tool that the model has to search for has `defer_loading: True` and comes after all other tools.
        """
        return [tool.definition for tool in self._outcome.fitted.tools]

    @property
    def response(self) -> Mapping[str, Any] | None:
        """The whole JSON Schema of the answer, for messages of a pack that declares one, or None."""
        response = self._outcome.fitted.strained.selection.plan.response if self.format == "messages" else None
        return response.schema if response is not None else None

    def to(self, provider: str, model: str | None = None) -> dict[str, Any]:
        """Build the body of a request to a provider: messages, tools, the schema of the answer, limits and cache breakpoints.

        - `provider`: the name of the provider, such as `openai`.
        - `model`: the model to name in the request. It takes precedence over the model of the render, `output.models` and the model of the
          budget.

        Each provider adds a few tokens of its own. If this prompt was counted by other rules, it is rendered again, so that the body fits.
        The `tokens` and the `report` of this prompt do not change.

        Raises `UsageError` for an unknown provider or a text prompt, `FitError` if the prompt no longer fits, and `PromptcError` for
        content that the provider does not accept.
        """
        body: dict[str, Any] = self.build_payload(provider, model).body
        return body

    def build_payload(self, provider: str, model: str | None = None) -> Any:
        """Build the body as `to` does, and return it with its warnings as a `Payload`. Raises what `to` raises."""
        from promptc.frontend.output import load_provider
        from promptc.passes.payload.bodies import ReplyLimits, read_messages
        from promptc.passes.payload.checks import build_payload

        check_arguments(provider=provider, model=model)
        self._emitted("messages")
        known = load_provider(provider)
        outcome = self._fit_to(known, model)
        fitted, emitted = outcome.fitted, outcome.emitted
        assert emitted is not None
        bound = fitted.strained.selection.bound
        budget = bound.budget
        payload = build_payload(
            read_messages(fitted.layout, emitted),
            fitted.tools,
            fitted.layout.response,
            provider=known,
            limits=ReplyLimits(budget.reserve, budget.context, budget.span),
            model=choose_model(fitted.strained.selection.plan, bound, model or bound.model),
        )
        return payload if outcome is self._outcome else replace(payload, warnings=(*outcome.warnings, *payload.warnings))

    def _fit_to(self, provider: Provider, model: str | None) -> Outcome:
        """Return this render if it was counted by the rules of the provider and the model, or else render the same again by those rules."""
        other = model if model is not None and (self._counts_media_otherwise(model) or self._defers_otherwise(provider, model)) else None
        if self.provider == provider.name and other is None:
            return self._outcome
        assert self._outcome.refit is not None
        outcome = self._outcome.refit(provider, other)
        if outcome.emitted is None:
            account = f"counted for `{provider.name}`; the prompt was fitted to the account of `{self.provider or self.format}`"
            raise FitError((replace(one, message=f"{one.message} ({account})") for one in outcome.errors), outcome.report)
        return outcome

    def _defers_otherwise(self, provider: Provider, model: str) -> bool:
        """Return whether tools are deferred but the model cannot search for tools, or the other way round."""
        sections = [held.section for held in self._outcome.fitted.sections.values()]
        forms = next((one.items.tool for one in sections if one.items and one.items.tool), None)
        return forms is not None and (forms.defers or forms.is_cut) and forms.defers != (provider.find_search(model) is not None)

    def _counts_media_otherwise(self, model: str) -> bool:
        """Return whether the prompt contains media that were counted by a rule other than the model's."""
        for held in self._outcome.fitted.sections.values():
            message = held.section.message
            rule = message.media.table.find(model) if message is not None and message.media is not None else None
            if message is not None and message.media is not None and rule is not None:
                counted = {one.by for entry in held.alive for one in entry.item.media} - {"", "tokens"}
                if any(message.media.table.find(by) is not rule for by in counted):
                    return True
        return False

    @property
    def tokens(self) -> int:
        """The exact number of tokens, including the overhead of messages."""
        assert self._outcome.tokens is not None
        return self._outcome.tokens

    @property
    def report(self) -> dict[str, Any]:
        """The report of the render: the content of each section, what was cut, and why."""
        return self._outcome.report

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The findings that did not prevent the prompt."""
        return self._outcome.warnings

    @property
    def redactions(self) -> dict[str, str]:
        """The original texts of the placeholders in the prompt, such as `{"[EMAIL_1]": "ada@example.com"}`.

        They are not part of any report. Empty without `redact`.
        """
        return self._outcome.redactions

    def restore(self, answer: str) -> str:
        """Return a model's answer with the original texts in place of their placeholders.

        If the pack has a `response`, the answer is JSON, and the texts are escaped. Raises `PromptcError` (PC0814) if the result would have
        more than 8,000,000 characters.
        """
        from promptc.passes.redact import restore

        check_arguments(answer=answer)
        return restore(answer, self.redactions, is_json=self.response is not None)

    def read_sections(self, *names: str) -> str:
        """Return the text of these sections in the prompt, with their fences.

        Raises `UsageError` for a section that the pack does not have.
        """
        return "".join(part.text for part in self._iter_parts(names))

    def list_messages(self, *names: str) -> list[dict[str, Any]]:
        """Return the messages with the content of these sections only. Raises `UsageError` for a section that the pack does not have."""
        messages = self._emitted("messages").messages
        texts: dict[int, str] = {}
        for part in self._iter_parts(names):
            texts[part.message] = texts.get(part.message, "") + part.text
        return [
            {
                "role": messages[index]["role"],
                "content": text.removesuffix("\n") if isinstance(messages[index]["content"], str) else messages[index]["content"],
            }
            for index, text in texts.items()
        ]

    def _iter_parts(self, names: Sequence[str]) -> Iterator[Part]:
        known = [section.id for section in self._outcome.fitted.layout.sections]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UsageError(Diagnostic("PC0704", f"the pack has no section `{name}`", help=suggest(name, known)) for name in unknown)
        emitted = self._outcome.emitted
        return (part for part in (emitted.parts if emitted is not None else ()) if part.section in names and part.owner != "separator")

    def _emitted(self, format: Format) -> Emitted:
        if self.format != format:
            raise UsageError(
                [Diagnostic("PC0705", f"the prompt was rendered as {self.format}", help=f'render it with `format="{format}"`')]
            )
        assert self._outcome.emitted is not None
        return self._outcome.emitted
