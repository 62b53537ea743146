"""What a variable of generated code holds before it is set."""

from __future__ import annotations


class _Missing:
    __slots__ = ()


missing = _Missing()
"""Never seen by a template: reading a variable that holds it gives an undefined value."""
