"""A compiled prompt, as the library gives it."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, FitError, UsageError, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.messages import Provider
from promptc.model.pack import Format
from promptc.passes.assemble import Emitted
from promptc.passes.fit.result import Part
from promptc.pipeline import Outcome


class Prompt:
    """A compiled prompt. Frozen; its report is built when first asked for."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    @property
    def format(self) -> Format:
        """`text` or `messages`."""
        return self._outcome.fitted.layout.format

    @property
    def provider(self) -> str | None:
        """The provider whose overheads were counted; None where none was asked for."""
        provider = self._outcome.fitted.strained.selection.bound.provider
        return provider.name if provider is not None else None

    @property
    def text(self) -> str:
        """The prompt of a text render, ending in one newline (empty when no section is present)."""
        return self._emitted("text").text

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of a messages render: `role` and `content`."""
        return [dict(message) for message in self._emitted("messages").messages]

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools of a messages render: `name`, `description` and `input_schema`. A text render has none."""
        return [tool.counted for tool in self._outcome.fitted.layout.tools]

    @property
    def response(self) -> Mapping[str, Any] | None:
        """The JSON Schema of the answer, in a messages render of a pack that has one: the whole of it, whatever of it a provider takes."""
        response = self._outcome.fitted.strained.selection.plan.response if self.format == "messages" else None
        return response.schema if response is not None else None

    def to(self, provider: str, model: str | None = None) -> dict[str, Any]:
        """The body of a request to a provider: messages, tools, response schema, limits and cache breakpoints where it takes them.

        It is fitted to that provider's account: what `render(..., format=provider)` with the same budget gives, to the byte. Where this
        prompt was counted otherwise, it is rendered once more; its own `tokens` and `report` stay what they are.

        Of a messages render. Raises `UsageError` for an unknown provider, `FitError` where the content does not fit with its overheads,
        `PromptcError` for what it cannot take.
        """
        body: dict[str, Any] = self.build_payload(provider, model).body
        return body

    def build_payload(self, provider: str, model: str | None = None) -> Any:
        """As `to`, with what was said while it was made: a `Payload`. Its warnings are those of the body, and of the second render."""
        from promptc.frontend.output import load_provider
        from promptc.passes.payload.build import ReplyLimits, read_messages
        from promptc.passes.payload.checks import build_payload

        self._emitted("messages")
        known = load_provider(provider)
        outcome = self._fit_to(known)
        fitted, emitted = outcome.fitted, outcome.emitted
        assert emitted is not None
        budget = fitted.strained.selection.plan.budget
        payload = build_payload(
            read_messages(fitted, emitted),
            fitted.layout.tools,
            fitted.layout.response,
            provider=known,
            limits=ReplyLimits(budget.reserve, budget.context, budget.span),
            model=model,
        )
        return payload if outcome is self._outcome else replace(payload, warnings=(*outcome.warnings, *payload.warnings))

    def _fit_to(self, provider: Provider) -> Outcome:
        """This render where it was counted as the provider counts, else another of the same."""
        if self.provider == provider.name:
            return self._outcome
        assert self._outcome.refit is not None
        outcome = self._outcome.refit(provider)
        if outcome.emitted is None:
            account = f"counted for `{provider.name}`; the prompt was fitted to the account of `{self.provider or self.format}`"
            raise FitError((replace(one, message=f"{one.message} ({account})") for one in outcome.errors), outcome.report)
        return outcome

    @property
    def tokens(self) -> int:
        """The exact count of the output, message overhead included."""
        assert self._outcome.tokens is not None
        return self._outcome.tokens

    @property
    def report(self) -> dict[str, Any]:
        """The report (language.md §13)."""
        return self._outcome.report

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was said while rendering."""
        return self._outcome.warnings

    def find_section(self, *names: str) -> str:
        """What these sections added to the output, fences included; empty when they are absent. Raises `UsageError` for an unknown one."""
        return "".join(part.text for part in self._iter_parts(names))

    def find_messages(self, *names: str) -> list[dict[str, Any]]:
        """The messages of a messages render with nothing in them but these sections. Raises `UsageError` for an unknown one."""
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
