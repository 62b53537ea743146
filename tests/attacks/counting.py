"""What the tests count: the steps every run has paid, and words where a pack has tokens."""

from collections.abc import Sequence
from typing import Any

from promptc.template.runtime import run as run_module


class Words:
    """A counter for which a token is a word."""

    unit = 1

    def measure(self, text: str) -> int:
        """How many words."""
        return len(text.split())

    def token_ends(self, text: str) -> Sequence[int]:
        """Where words end."""
        return [place for place in range(1, len(text) + 1) if place == len(text) or text[place].isspace()]


def watch_runs() -> list[Any]:
    """From now on every `Run` that begins is put into this list."""
    runs: list[Any] = []
    begin = run_module.Run.__init__

    def begin_watched(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        runs.append(self)

    run_module.Run.__init__ = begin_watched  # type: ignore[method-assign]
    run_module.Run.renew = lambda self: None  # type: ignore[method-assign]  # what was paid is asked at the end
    return runs
