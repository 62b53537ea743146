"""What something said and says, as far as one line has room."""

_LONGEST = 40
_NOTHING = "nothing"


def say_change(before: str, after: str) -> str:
    """From a little before the first difference to the end of the word with the last; white space is told where nothing else differs."""
    old, new = (" ".join(text.split()) for text in (before, after))
    if old == new:
        return f"white space alone: {_clip(new)}" if new else "white space alone"
    start = _count_alike(old, new)
    start = max(0, start - _LONGEST // 2, old.rfind(" ", 0, start) + 1) if start < max(len(old), len(new)) else 0
    old, new = old[start:], new[start:]
    tail = _count_alike(old[::-1], new[::-1])
    old, new = (_end_word(text, len(text) - tail) for text in (old, new))
    return f"{_clip(old) or _NOTHING} → {_clip(new) or _NOTHING}"


def _end_word(text: str, at: int) -> str:
    """Up to the first space from `at` on."""
    end = text.find(" ", at)
    return text if end < 0 else f"{text[:end]}…"


def _clip(text: str) -> str:
    """As much of it as there is room for."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip(' …')}…"


def _count_alike(old: str, new: str) -> int:
    return next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
