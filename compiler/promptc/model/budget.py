"""Budgets and sizes as an author wrote them."""

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.model.ratio import Ratio


@frozen
class Size:
    """So many tokens or characters, or a share (0..1) of the total in tokens, read from the decimal text."""

    amount: Ratio
    unit: Literal["tokens", "chars", "share"]

    def tokens(self, total: int) -> int:
        """The size in tokens of a total of `total` tokens: the floor of a share. Not for characters."""
        return int(self.amount * total) if self.unit == "share" else int(self.amount)


@frozen
class Budget:
    """A section's cap: `cap` (a number, share or characters), or shares with `min`, `max` and `grow`."""

    span: Span
    cap: Size | None = None
    min: Size | None = None
    grow: Ratio = Ratio(0)
    over: Literal["error", "warn"] = "error"

    @property
    def is_share(self) -> bool:
        """True when the grant depends on what others leave: a percentage, or `grow`."""
        return self.grow > 0 or (self.cap is not None and self.cap.unit == "share")

    @property
    def is_percent(self) -> bool:
        """True for a percentage without `grow`."""
        return self.grow == 0 and self.cap is not None and self.cap.unit == "share"


@frozen
class TotalBudget:
    """The whole prompt's budget in tokens: `context - reserve`. `reserve` is None where none is written."""

    context: int
    reserve: int | None
    span: Span

    @property
    def total(self) -> int:
        """What a prompt may hold, in tokens."""
        return self.context - (self.reserve or 0)
