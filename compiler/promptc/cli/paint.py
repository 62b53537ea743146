"""Colours: ANSI sequences, or nothing."""

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal

Style = Literal["bold", "dim", "red", "yellow", "green", "blue", "cyan"]

_CODES: dict[Style, str] = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "33", "green": "32", "blue": "34", "cyan": "36"}


@frozen
class Paint:
    """Paints text, or leaves it as it is."""

    is_on: bool = False

    def apply(self, text: str, style: Style) -> str:
        """`text` in a style. Pad and clip before: the sequences have no width, but count as characters."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.is_on and text else text


PLAIN = Paint()
