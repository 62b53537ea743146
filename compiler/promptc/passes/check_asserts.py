"""What a pack asserts of a state."""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.typed import Any
from promptc.model.pack import PackModel


def check_asserts(pack: PackModel, names: Mapping[str, Any]) -> list[Diagnostic]:
    """The warnings of asserts that fail; `names` hold the state. Raises `PromptcError` where one fails whose level is an error."""
    failed = [one for one in pack.asserts if not one.that.evaluate(names)]
    found = [Diagnostic("PC0503", one.otherwise.render(names).strip(), one.span, level=one.level) for one in failed]
    if any(one.level == "error" for one in found):
        raise PromptcError(found)
    return found
