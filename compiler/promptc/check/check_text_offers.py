"""Tools and response schemas of packs that render text."""

from collections.abc import Iterator, Sequence

from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel


def check_text_offers(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """A note where the output is text in every combination, and some offer tools or ask for an answer by a schema."""
    if any(look.plan.output.format == "messages" for look in looks):
        return
    offering = next((look.plan for look in looks if look.plan.tools or look.plan.response is not None), None)
    if offering is None:
        return
    parts = [*(["tools"] if offering.tools else []), *(["response"] if offering.response is not None else [])]
    are = "is" if parts == ["response"] else "are"
    message = f"{' and '.join(parts)} {are} left out of text, and this pack renders text"
    help = "write `output: {format: messages}`, or ask for messages or a provider by `--format`"
    yield Diagnostic("PC0649", message, pack.manifest.key_span(parts[0]), help, "note")
