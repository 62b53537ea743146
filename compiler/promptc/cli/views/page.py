"""Where a view goes: text of some width and colour, or JSON."""

import json
from collections.abc import Callable

from promptc.cli.paint import Paint
from promptc.cli.terminal import write_stdout
from promptc.diag.frozen import as_plain, frozen
from promptc.diag.typed import TypeVar

_View = TypeVar("_View")


@frozen
class Page:
    """The form that was asked for."""

    as_json: bool
    width: int
    paint: Paint

    def show(self, found: _View, render: Callable[[_View, int, Paint], str]) -> None:
        """Prints a view: its values as JSON, or what `render` makes of them."""
        text = json.dumps(as_plain(found), ensure_ascii=False, indent=2) + "\n" if self.as_json else render(found, self.width, self.paint)
        write_stdout(text.encode("utf-8", "backslashreplace"))
