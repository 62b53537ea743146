"""'Did you mean ...?'"""

from collections.abc import Iterable


def suggest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """`did you mean \\`x\\`?` for the nearest known word, else the known words if they are few, else nothing.

    `cutoff`: how alike two words must be, from 0 to 1; short words are soon alike."""
    from difflib import get_close_matches

    names = sorted(set(known))
    near = get_close_matches(word[:80], names, n=1, cutoff=cutoff)
    if near:
        return f"did you mean `{near[0]}`?"
    return "known: " + ", ".join(f"`{name}`" for name in names) if 0 < len(names) <= 12 else ""
