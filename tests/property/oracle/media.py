"""What parts that are no text take, read off the providers' pages: in exact fractions, and by trying sizes one after the other."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, isqrt
from typing import Any

MEDIA = ("image", "document", "audio")
_SHAPES = {"image_url": "image", "input_image": "image", "file": "document", "input_file": "document", "input_audio": "audio"}


def find_kind(part: Mapping[str, Any]) -> str:
    """The kind of a part as a state has it."""
    return str(_SHAPES.get(part["type"], part["type"]))


# contract 4.45
def show_media(part: Mapping[str, Any]) -> str:
    """The line that stands for a part that goes out."""
    told = [part["source"]["media_type"]] if "media_type" in part["source"] else []
    told += [f"{part['width']} x {part['height']}"] if "width" in part else []
    told += [f"{part['pages']} page" + "s" * (part["pages"] != 1)] if "pages" in part else []
    told += [f"{part['seconds']} second" + "s" * (part["seconds"] != 1)] if "seconds" in part else []
    return f"[{part['type']}: {', '.join(told)}]"


# contract 4.42 and 4.43
def count_media(model: str, part: Mapping[str, Any], detail: str) -> int:
    """Tokens of a part that goes out; `detail` is that of its section, which a part's own goes before."""
    if part["type"] == "document":
        return {"gemini-2.5-flash": 258, "gemini-3-pro": 560}[model] * int(part["pages"])
    if part["type"] == "audio":
        return ceil({"gemini-2.5-flash": 32, "gemini-3-pro": 25}[model] * Fraction(str(part["seconds"])))
    return _PICTURES[model](part["width"], part["height"], part.get("detail", detail))


# --- OpenAI ---


def _count_patches(side: int, most: int | None, hundredths: int) -> Callable[[int, int], int]:
    """Patches of 32 pixels of the picture within `side`, made smaller until there are at most `most`."""

    def count(width: int, height: int) -> int:
        scale = min(Fraction(1), Fraction(side, max(width, height)))
        wide, high = (max(1, floor(one * scale + Fraction(1, 2))) for one in (width, height))
        patches = ceil(Fraction(wide, 32)) * ceil(Fraction(high, 32))
        if most is not None and patches > most:
            # r = sqrt(32^2 * most / (w * h)), then so much less that one side is whole patches. Of w * r only the square is rational
            across, down = (Fraction(one * one * most, wide * high) for one in (wide, high))
            whole = [max(1, isqrt(floor(one))) for one in (across, down)]
            shrink = min(Fraction(whole[0] ** 2) / across, Fraction(whole[1] ** 2) / down)
            sides = [isqrt(floor(one * 32 * 32 * shrink)) for one in (across, down)]
            patches = ceil(Fraction(sides[0], 32)) * ceil(Fraction(sides[1], 32))
        return ceil(Fraction(patches * hundredths, 100))

    return count


def _count_tiles(base: int, each: int) -> Callable[[int, int], int]:
    """Squares of 512 pixels of the picture within 2048 x 2048, and then with a shorter side of 768 at most."""

    def count(width: int, height: int) -> int:
        scale = min(Fraction(1), Fraction(2048, max(width, height)))
        scale = min(scale, Fraction(768, min(width, height)))
        return base + each * ceil(width * scale / 512) * ceil(height * scale / 512)

    return count


def _by_detail(**ways: Callable[[int, int], int]) -> Callable[[int, int, str], int]:
    return lambda width, height, detail: ways[detail](width, height)


# --- Anthropic ---


def _count_visual(side: int, most: int) -> Callable[[int, int, str], int]:
    """Patches of 28 pixels: the longer side is tried pixel by pixel until the picture fits."""

    def count(width: int, height: int, detail: str) -> int:
        longest, shortest = max(width, height), min(width, height)
        for longer in range(longest, 0, -1):
            shorter = shortest if longer == longest else max(1, round(longer / (longest / shortest)))
            columns, rows = ceil(longer / 28), ceil(shorter / 28)
            if 28 * columns <= side and columns * rows <= most:
                return columns * rows
        raise AssertionError("no size fits")

    return count


# --- Google ---


def _count_crops(width: int, height: int, detail: str) -> int:
    if width <= 384 and height <= 384:
        return 258
    unit = max(1, floor(Fraction(min(width, height)) / Fraction(3, 2)))
    return 258 * ceil(Fraction(width, unit)) * ceil(Fraction(height, unit))


def _count_level(width: int, height: int, detail: str) -> int:
    return {"low": 280, "high": 1120, "auto": 1120}[detail]


def _alike(way: Callable[[int, int], int]) -> Callable[[int, int, str], int]:
    return lambda width, height, detail: way(width, height)


def _by_tiles(base: int, each: int) -> Callable[[int, int, str], int]:
    whole = _count_tiles(base, each)
    return _by_detail(auto=whole, low=_count_tiles(base, 0), high=whole)


_WITHIN = _count_patches(2048, 2500, 120)
_SMALL = _count_patches(512, None, 120)
_LARGE = _count_patches(6000, 10000, 120)
_PICTURES: Mapping[str, Callable[[int, int, str], int]] = {
    "gpt-5.6": _by_detail(auto=_count_patches(65535, None, 120), low=_SMALL, high=_WITHIN),
    "gpt-5.5": _by_detail(auto=_LARGE, low=_SMALL, high=_WITHIN),
    "gpt-5.4": _by_detail(auto=_WITHIN, low=_count_patches(2048, 6144, 120), high=_WITHIN),
    "gpt-5.2": _alike(_count_patches(2048, 6144, 120)),
    "gpt-4.1-mini": _alike(_count_patches(2048, 6144, 162)),
    "gpt-5-mini": _alike(_count_patches(2048, 1536, 120)),
    "gpt-5-nano": _alike(_count_patches(2048, 1536, 150)),
    "gpt-4.1-nano": _alike(_count_patches(2048, 1536, 246)),
    "o4-mini": _alike(_count_patches(2048, 1536, 172)),
    "gpt-5": _by_tiles(70, 140),
    "gpt-4o": _by_tiles(85, 170),
    "gpt-4o-mini": _by_tiles(2833, 5667),
    "o3": _by_tiles(75, 150),
    "claude-opus-5-5": _count_visual(2576, 4784),
    "claude-sonnet-4-5": _count_visual(1568, 1568),
    "gemini-2.5-flash": _count_crops,
    "gemini-3-pro": _count_level,
}

COUNTED = tuple(_PICTURES)
"""A model of every rule."""


def choose_model(manifest: Mapping[str, Any], spec: Mapping[str, Any], provider: str | None, asked: str | None = None) -> str:
    """The model whose rules count the parts of a section; `asked` is that of the render, if it names one."""
    named = manifest.get("output", {}).get("models", {}).get(provider)
    budget = manifest["budget"]
    followed = budget.get("model") if isinstance(budget, dict) else None
    return str(asked or named or followed or spec["items"]["message"]["media"]["model"])


def sum_media(model: str, media: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of the parts of a message as they go out, by what the author says and the model's rules; without any expression evaluated."""
    return sum(_count_part(model, media, part) for part in parts if part["type"] in MEDIA)


def _count_part(model: str, media: Mapping[str, Any], part: Mapping[str, Any]) -> int:
    said = media.get("tokens")
    if said in ("0", "5"):
        return int(said)
    if said not in (None, "none") and part["type"] != "image":
        return 3 * int(part["pages"]) if part["type"] == "document" else 11
    return count_media(model, part, media.get("detail", "auto"))
