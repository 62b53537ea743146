"""Tools that no mood uses."""

from collections.abc import Iterator, Sequence

from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel


def check_unused_tools(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """A tool that some list names, and that is in force in no combination of cases, tiers and patches; a file beside the tools that looks
    like one, and that no list names.
    """
    offers = pack.find_offers()
    used = {id(tool) for look in looks for plan in (look.plan, look.base) for tool in plan.tools}
    unused = {id(tool): (tool, span) for tool, span in offers.listed if id(tool) not in used}
    for tool, span in unused.values():
        message = f"the tool `{tool.name}` is never offered: other lists take the place of this one in every combination"
        yield Diagnostic("PC0647", message, span, "name it in a list that is in force, or take it out", "warn")
    for file, span in offers.loose:
        message = f"`{file}` looks like a tool, and no list names it"
        yield Diagnostic("PC0647", message, span, "name it under `tools`, here or in a case, or remove the file", "warn")
