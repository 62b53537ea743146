"""One of two prompts that are compared."""

from collections.abc import Mapping

from promptc.diag.frozen import field, frozen

WHOLE = ""
"""The id of the one section of a prompt whose report is not known."""

BETWEEN = "between sections"
"""Stands in a difference for the text that is no section's. No section is called so: it has a space."""


Gap = tuple[str, str, str]
"""A stretch that is no section's: the name of what it follows, of what follows it, and its text."""


@frozen
class SideItem:
    """An item: its text where it stands, and its tokens there."""

    id: str
    tokens: int
    text: str


@frozen(eq=False)
class SideSection:
    """A section that is in the prompt, or would be: its text with fences and header, empty where it is not present.

    `tokens` are None where no report tells them; `gone` names by item the cut that removed it.
    """

    id: str
    state: str
    text: str
    tokens: int | None = None
    items: tuple[SideItem, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)


@frozen(eq=False)
class Side:
    """A prompt: named facts of it in a fixed order, its sections in theirs, and the whole as it is sent (messages with their roles).

    `gaps` are the stretches of the whole that are no section's (separators, roles); what they follow is a section, or an item that is a
    message of its own, empty at both ends. With the sections they are the whole.
    """

    facts: Mapping[str, str]
    sections: tuple[SideSection, ...]
    text: str
    gaps: tuple[Gap, ...] = ()
