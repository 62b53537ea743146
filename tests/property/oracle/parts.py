"""What the slow fitter works on: sections and items that are changed in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class It:
    """An item. `raw` is its whole text unguarded, `text` what stands now; `cut` how many characters a trim left; `beyond` how many units
    its message takes beside what its text counts, for its media.
    """

    place: int
    number: int
    id: str
    value: Any
    raw: str = ""
    text: str = ""
    key: Any = None
    role: str = ""
    parts: list[dict[str, Any]] | None = None
    open: str = ""
    close: str = ""
    form: int = 0
    cut: int | None = None
    unit: int = 0
    kept: bool = False
    anchor: bool = False
    windowed: bool = True
    beyond: int = 0
    made: bool = False
    held: bool = False
    gone: bool = False

    @property
    def body(self) -> str:
        """With its own fence."""
        return f"{self.open}\n{self.text}\n{self.close}" if self.open else self.text


@dataclass
class Sec:
    """A section. `spec` is its part of the manifest, `names` what its templates see."""

    id: str
    spec: dict[str, Any]
    names: dict[str, Any]
    items: list[It] = field(default_factory=list)
    headers: dict[Any, str] = field(default_factory=dict)
    open: str = ""
    close: str = ""
    header: str = ""
    marker: str = ""
    is_below: bool = False
    removed: int = 0

    @property
    def alive(self) -> list[It]:
        """What stands."""
        return [item for item in self.items if not item.gone]

    @property
    def role(self) -> str:
        """Its role."""
        return str(self.spec.get("role", "user" if self.id == "input" else "system"))

    @property
    def is_each(self) -> bool:
        """True when each item is a message."""
        return "message" in self.spec.get("items", {})

    @property
    def is_tools(self) -> bool:
        """True for tools that are items."""
        return "tool" in self.spec.get("items", {})

    @property
    def is_frozen(self) -> bool:
        """True for a list in which what was shown once stays in place."""
        return "freeze" in self.spec.get("items", {})

    @property
    def is_ageless(self) -> bool:
        """True where none of the items is older than another."""
        return self.is_tools or (self.is_frozen and "late" not in self.spec["items"]["freeze"])

    def group_of(self, item: It) -> Any:
        """What the items of a group have in common: the key and its kind."""
        return type(item.key).__name__, item.key

    def iter_runs(self) -> Iterator[list[It]]:
        """The standing items, group by group."""
        run: list[It] = []
        for item in self.alive:
            if run and self.headers and self.group_of(run[-1]) != self.group_of(item):
                yield run
                run = []
            run.append(item)
        if run:
            yield run


@dataclass
class Memory:
    """A section as it was, to come back to."""

    section: Sec
    items: list[tuple[It, dict[str, Any]]]
    marker: str
    is_below: bool
    removed: int

    @classmethod
    def of(cls, section: Sec) -> Memory:
        """What to come back to."""
        return cls(section, [(item, dict(vars(item))) for item in section.items], section.marker, section.is_below, section.removed)

    def restore(self) -> None:
        """Comes back."""
        self.section.items = [item for item, _ in self.items]
        for item, held in self.items:
            vars(item).update(held)
        self.section.marker, self.section.is_below, self.section.removed = self.marker, self.is_below, self.removed
