"""From a manifest's `tokenizer` to the counter in force, or its fallback."""

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.model.pack import Counting
from promptc.model.state import Node
from promptc.text.counters.exact import load_counter

MISSING = "PC0181"
"""The one finding a fallback stands in for: a counter's file or package is missing, or its digest is wrong."""


def load_counting(node: Node, findings: list[Diagnostic]) -> Counting | None:
    """The counter in force; None where neither it nor its fallback can be loaded, and why is added to `findings`."""
    use = node.get("use") or node
    wanted = str(use.value)
    try:
        return Counting(load_counter(wanted, folder=use.folder, span=use.span), node.span, wanted=wanted)
    except PromptcError as error:
        fallback = node.get("fallback")
        if fallback is None or any(one.code != MISSING for one in error.diagnostics):
            findings.extend(error.diagnostics)
            return None
        return _load_fallback(node, fallback, wanted, error.diagnostics[0].message, findings)


def _load_fallback(node: Node, fallback: Node, wanted: str, reason: str, findings: list[Diagnostic]) -> Counting | None:
    margin = node.get("margin")
    try:
        counter = load_counter(str(fallback.value), folder=fallback.folder, span=fallback.span)
    except PromptcError as error:
        findings.extend(error.diagnostics)
        return None
    return Counting(counter, node.span, int(margin.value) if margin is not None else 0, wanted, reason)
