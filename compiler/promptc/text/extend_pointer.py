"""JSON pointers (RFC 6901)."""

from __future__ import annotations


def extend_pointer(pointer: str, step: str | int) -> str:
    """The pointer to what stands under a key or at an index of what `pointer` points to."""
    return f"{pointer}/{step}" if isinstance(step, int) else f"{pointer}/{step.replace('~', '~0').replace('/', '~1')}"
