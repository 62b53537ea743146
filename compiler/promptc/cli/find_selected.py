"""A section that an argument names."""

from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.model.stages import Selected
from promptc.pipeline import Outcome


def find_selected(outcome: Outcome, name: str) -> Selected:
    """The section of that id as it was selected. `UsageError` (PC0704) when the pack has none."""
    selection = outcome.fitted.strained.selection
    found = selection.find_selected(name)
    if found is None:
        help = suggest(name, [one.section.id for one in selection.sections])
        raise UsageError([Diagnostic("PC0704", f"the pack has no section `{name}`", help=help)])
    return found
