"""How far a list that has reach must be read in any case; `promptc.model.reach` tells which lists have it."""

from promptc.model.section import Section
from promptc.model.step import Evict


def find_floor(section: Section) -> int:
    """How many of the newest items must be read whatever they cost: those no eviction may take."""
    window = section.items.window if section.items is not None else None
    floors = [step.floor for step in section.overflow if isinstance(step, Evict)]
    return max([*floors, window.min if window is not None else 0])
