"""What stands around items: where a piece ends, which message it belongs to, what a message costs (language.md §8, §10)."""

from collections.abc import Mapping, Sequence

from promptc.diag.frozen import frozen
from promptc.model.pack import Format, Output, Plan
from promptc.model.section import Section
from promptc.passes.tape import Cell
from promptc.text.meter import Meter

MESSAGE_TOKENS = 3
PROMPT_TOKENS = 3
"""Per message, and for the whole: OpenAI's published overhead for chat messages, stated in the report as an estimate."""


@frozen(eq=False)
class Frame:
    """The layout of one plan in one format. `messages` gives every section the index of its message, `roles` a message's role."""

    format: Format
    sections: tuple[Section, ...]
    separator: str
    messages: Mapping[str, int]
    roles: tuple[str, ...]
    shared: frozenset[str]
    each: frozenset[str]
    meter: Meter

    @property
    def fixed(self) -> int:
        """Units of the whole that belong to no section."""
        return PROMPT_TOKENS * self.meter.counter.unit if self.format == "messages" else 0

    def order(self) -> list[int]:
        """The sections' indexes in the order of the output."""
        places = range(len(self.sections))
        if self.format == "text":
            return list(places)
        return sorted(places, key=lambda place: (self.messages[self.sections[place].id], place))

    def trail(self, cell: Cell, follower: Cell | None) -> str:
        """What follows a piece's body, given the piece behind it."""
        if follower is None or follower.message != cell.message:
            return "\n" if self.format == "text" else ""
        if follower.part != cell.part:
            return "\n" + self.separator
        separator = self.sections[cell.part].separator
        if separator is not None and cell.kind == follower.kind == "item":
            return separator
        return "\n"

    def overhead(self, cell: Cell) -> int:
        """Units of the message that a piece opens: 3 tokens and those of its role's name."""
        if self.format == "text":
            return 0
        return (MESSAGE_TOKENS + self.meter.counter.role_tokens(self.role(cell))) * self.meter.counter.unit

    def role(self, cell: Cell) -> str:
        """The role of the message a piece belongs to."""
        section = self.sections[cell.part]
        item_role = getattr(getattr(cell.owner, "item", None), "role", "")
        if section.id in self.each:
            return item_role or section.role
        return self.roles[self.messages[section.id]]

    def endings(self, section: Section) -> tuple[str, ...]:
        """How the section's last piece may end where it stands: with the single line end, or with the separator behind it."""
        if self.format == "text":
            return ("\n", "\n" + self.separator)
        return ("", "\n" + self.separator) if section.id in self.shared else ("",)


def load_frame(plan: Plan, format: Format, meter: Meter) -> Frame:
    """The frame of a plan: its sections placed in messages."""
    output: Output = plan.output
    messages: dict[str, int] = {}
    for index, message in enumerate(output.messages):
        messages.update(dict.fromkeys(message.sections, index))
    return Frame(
        format=format,
        sections=plan.sections,
        separator=output.separator,
        messages=messages,
        roles=tuple(message.role for message in output.messages),
        shared=_find_shared(plan),
        each=frozenset(name for message in output.messages if message.each for name in message.sections),
        meter=meter,
    )


def _find_shared(plan: Plan) -> frozenset[str]:
    shared: Sequence[tuple[str, ...]] = [message.sections for message in plan.output.messages if len(message.sections) > 1]
    return frozenset(name for names in shared for name in names)
