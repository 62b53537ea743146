"""Bars of text, to an eighth of a cell."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL = "█"
_CUT = "░"


def render_bar(held: int, removed: int, scale: int, width: int) -> str:
    """`held` of `scale` as a solid bar, then `removed` as a light one, within `width` cells; what is there shows at least as a sliver."""
    if scale <= 0 or width <= 0:
        return ""
    eighths = min(held * width * 8 // scale, width * 8)
    solid, rest = divmod(max(eighths, 1) if held else 0, 8)
    bar = _FULL * solid + (_EIGHTHS[rest] if rest else "")
    if not removed:
        return bar
    end = -(-min((held + removed) * width, width * scale) // scale)
    return bar + _CUT * max(0, end - len(bar))
