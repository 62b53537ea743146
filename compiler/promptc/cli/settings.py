"""What holds for every command: colours, how much is said, and how."""

from collections.abc import Sequence
from itertools import pairwise

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal, cast

Color = Literal["auto", "always", "never"]
Shape = Literal["text", "json"]

COLORS: tuple[Color, ...] = ("auto", "always", "never")
SHAPES: tuple[Shape, ...] = ("text", "json")


@frozen
class Settings:
    """The flags every command takes. `is_quiet` leaves out all but errors."""

    color: Color = "auto"
    diagnostics: Shape = "text"
    is_quiet: bool = False
    with_traceback: bool = False


def find_settings(arguments: Sequence[str]) -> Settings:
    """The settings among the arguments, wherever they stand.

    They are read ahead of all others, so that a command line nobody can read is still reported the way it asks for. A value that is
    none of the known ones counts as not given here; the command then refuses it.
    """
    ahead = list(arguments)[: arguments.index("--")] if "--" in arguments else list(arguments)
    color, shape = _find_value(ahead, "--color", COLORS), _find_value(ahead, "--diagnostics", SHAPES)
    return Settings(cast(Color, color), cast(Shape, shape), "--quiet" in ahead, "--traceback" in ahead)


def _find_value(arguments: Sequence[str], option: str, known: Sequence[str]) -> str:
    """The option's last value that is known, else the first of the known ones."""
    values = [after for name, after in pairwise(arguments) if name == option]
    values += [name.removeprefix(f"{option}=") for name in arguments if name.startswith(f"{option}=")]
    return next((value for value in reversed(values) if value in known), known[0])
