"""How many columns a view may use."""

import os
import sys

_WIDTH = 80


def find_width() -> int:
    """Of the terminal the output goes to; what goes elsewhere does not depend on one."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH
    except (OSError, ValueError, AttributeError):
        return _WIDTH
