"""Sections that are never on."""

from collections.abc import Iterator, Sequence

from promptc.check.registry import Configuration
from promptc.check.settled import SettledTexts
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel
from promptc.model.section import Section


def check_never_on(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Sections whose `when` is constantly false in every combination, `--patch` included."""
    off: dict[str, Section] = {}
    on: set[str] = set()
    settled = SettledTexts(pack)
    for look in looks:
        for section in look.plan.sections:
            if settled.is_off(section):
                off.setdefault(section.id, section)
            else:
                on.add(section.id)
    for name, section in off.items():
        if name not in on and section.when is not None:
            message = f"`{name}` is {'required and ' if section.required else ''}never on: its `when` is false in every combination"
            help = "take the section out, or let a variant or patch switch it on"
            yield Diagnostic("PC0643", message, section.when.span, help, "error" if section.required else "note")
