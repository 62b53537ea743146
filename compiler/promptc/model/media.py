"""Pictures, documents and sounds in messages: what a pack says of them (`MediaForm`), and how the models of a `MediaTable` count them.

The formulas are those that providers publish; their numbers are in `frontend/media.toml`, each with its page. All are whole numbers but for
two roots and ratios, which are taken as the providers' own code takes them, so that the counts are equal to theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from promptc.diag.findings import Span, count_noun
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.template.compile import Expression

MEDIA_KINDS = ("image", "document", "audio")
"""The kinds of parts that are no text."""

DETAILS = ("low", "medium", "high", "original", "auto")
"""How closely a model is asked to look at a picture; each model knows some of them."""

_BOUNDARY = ("", "-", "@", ":")
"""What may follow the beginning of a model's name that the table has: `gpt-5.6-sol`, `claude-opus-5-5@20261001`."""

_UNITS: Mapping[str, str] = {"image": "width and height", "document": "number of pages", "audio": "length in seconds"}


class UncountableError(Exception):
    """The model does not count such a part, or refuses it; `help` says what to write instead."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


@frozen
class MediaSize:
    """What is known of the size of a part: pixels, pages, thousandths of a second; 0 for what is not."""

    width: int = 0
    height: int = 0
    pages: int = 0
    millis: int = 0

    def tells(self, kind: str) -> bool:
        """Whether it is known what a part of that kind is counted by."""
        return bool({"image": self.width and self.height, "document": self.pages, "audio": self.millis}[kind])


@frozen
class MediaRule:
    """How some models count, of which `name` is one; `how` names the formula of pictures, and `numbers` are its numbers.

    `details` are further numbers by what is asked for, `auto` among them; empty where a model knows no such thing. `page` and `second` are
    the tokens of a page of a document and a second of sound, 0 where none are published. `source` is where it is published, `estimate`
    tells that the provider itself calls it that.
    """

    name: str
    models: tuple[str, ...]
    source: str
    how: str
    numbers: Mapping[str, int]
    details: Mapping[str, Mapping[str, int]]
    page: int
    second: int
    estimate: bool

    def count(self, kind: str, size: MediaSize, detail: str | None) -> int:
        """The tokens of a part. Raises `UncountableError` for what the model does not count, or refuses."""
        if kind == "image":
            return self._count_picture(size.width, size.height, detail or "auto")
        per = self.page if kind == "document" else self.second
        if not per:
            message = f"no count of the kind `{kind}` is published for `{self.name}`"
            raise UncountableError(message, "say what it takes with an expression: `media: {tokens: part.tokens}`")
        return per * size.pages if kind == "document" else -(-per * size.millis // 1000)

    def _count_picture(self, width: int, height: int, detail: str) -> int:
        if self.details and detail not in self.details:
            known = ", ".join(f"`{name}`" for name in self.details)
            raise UncountableError(f"`{self.name}` has no detail `{detail}`", f"write one of {known}")
        numbers = {**self.numbers, **self.details.get(detail, {})}
        longest, tokens = numbers.get("longest", 0), _FORMULAS[self.how](width, height, numbers)
        if longest and max(width, height) > longest:
            raise UncountableError(f"`{self.name}` refuses pictures of more than {longest} pixels a side", "make the picture smaller")
        return tokens


@frozen
class MediaTable:
    """The rules as they were published on the day `as_of`."""

    as_of: str
    rules: tuple[MediaRule, ...]

    def find(self, model: str) -> MediaRule | None:
        """The rule of a model: the one with the longest beginning of its name. It may stand behind who passes it on: `openai/gpt-4o`."""
        own = model.rsplit("/", 1)[-1]
        found = [(len(start), rule) for rule in self.rules for start in rule.models if _begins(own, start)]
        return max(found, key=lambda one: one[0])[1] if found else None

    def iter_models(self) -> Iterator[str]:
        """The beginnings of all names, in the table's order."""
        return (name for rule in self.rules for name in rule.models)


def _begins(name: str, start: str) -> bool:
    return name.startswith(start) and name[len(start) : len(start) + 1] in _BOUNDARY


@frozen(eq=False)
class MediaForm:
    """What a section says of its pictures, documents and sounds: the `model` they are counted for where the request names none, the
    `detail` asked for, and an expression for the `tokens` of a part.
    """

    span: Span
    table: MediaTable = field(repr=False)
    model: str | None = None
    detail: str | None = None
    tokens: Expression | None = None

    def choose_model(self, *named: str | None) -> str | None:
        """The model that counts: the first of those `named` and the section's own that the table has, else the first there is."""
        names = [name for name in (*named, self.model) if name]
        return next((name for name in names if self.table.find(name) is not None), names[0] if names else None)


@frozen
class CountedMedia:
    """A part as it was counted: its kind, media type (empty: not known), size, tokens, and by what (a model, or `tokens`).

    A prompt in text shows a line for it, and counts that: then it has no tokens of its own.
    """

    kind: str
    type: str
    size: MediaSize
    detail: str | None = None
    tokens: int = 0
    by: str = ""
    estimate: bool = False


def name_unit(kind: str) -> str:
    """What a part of that kind is counted by, as it is told."""
    return _UNITS[kind]


def describe_media(part: Mapping[str, Any]) -> str:
    """The line that stands for a part in text: `[image: image/png, 1024 x 768]`. Nothing of it is the state's own words."""
    source = part["source"]
    told = [source["media_type"]] if "media_type" in source else []
    if "width" in part:
        told.append(f"{part['width']} x {part['height']}")
    if "pages" in part:
        told.append(count_noun(part["pages"], "page"))
    if "seconds" in part:
        told.append(f"{part['seconds']:g} seconds")
    return f"[{part['type']}: {', '.join(told)}]" if told else f"[{part['type']}]"


def iter_counted(parts: Sequence[Mapping[str, Any]], counted: Sequence[CountedMedia]) -> Iterator[CountedMedia | None]:
    """For each part of a message what it was counted as; None for texts and turns of tools."""
    left = iter(counted)
    return (next(left, None) if part.get("type") in MEDIA_KINDS else None for part in parts)


# --- the formulas ---


def _count_patches(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """Squares that cover the picture, after it was made to fit a side and a number of them, times a hundredth of `percent`."""
    width, height = _fit_side(width, height, numbers["side"])
    patch, most = numbers["patch"], numbers.get("patches", 0)
    if most and _cover(width, height, patch) > most:
        from math import sqrt  # a render without such a picture does not pay for it

        shrink = sqrt(patch * patch * most / (width * height))
        across, down = width * shrink / patch, height * shrink / patch
        shrink *= min(max(int(across), 1) / across, max(int(down), 1) / down)
        width, height = max(int(width * shrink), 1), max(int(height * shrink), 1)
    count = _cover(width, height, patch)
    limit = numbers.get("limit", 0)
    if limit and count > limit:
        raise UncountableError(f"the picture takes {count} patches, and a request is refused above {limit}", "write `detail: high`")
    return -(-count * numbers["percent"] // 100)


def _fit_side(width: int, height: int, side: int) -> tuple[int, int]:
    """Made smaller so that no side is longer, the other rounded."""
    longer = max(width, height)
    if longer <= side:
        return width, height
    return tuple(max((2 * one * side + longer) // (2 * longer), 1) for one in (width, height))  # type: ignore[return-value]


def _cover(width: int, height: int, patch: int) -> int:
    return -(-width // patch) * -(-height // patch)


def _count_tiles(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """A base, and squares that cover the picture after it was made to fit a square, and then its shorter side another length."""
    if not numbers.get("tile_tokens"):
        return numbers["base"]
    longer, shorter, side, least, tile = max(width, height), min(width, height), numbers["side"], numbers["short"], numbers["tile"]
    above, below = (side, longer) if longer > side else (1, 1)  # what it is multiplied by, and divided by
    if shorter * above > least * below:
        across, down = -(-(longer * least // shorter) // tile), -(-least // tile)
    else:
        across, down = -(-longer * above // (below * tile)), -(-shorter * above // (below * tile))
    return numbers["base"] + across * down * numbers["tile_tokens"]


def _count_visual(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """Squares that cover the picture, after it was made as large as a side and a number of them allow."""
    patch, side, most = numbers["patch"], numbers["side"], numbers["patches"]

    def fits(longer: int, shorter: int) -> bool:
        return -(-longer // patch) * patch <= side and _cover(longer, shorter, patch) <= most

    longer, shorter = max(width, height), min(width, height)
    if not fits(longer, shorter):
        ratio = longer / shorter
        low, high = 1, longer
        while low + 1 < high:
            middle = (low + high) // 2
            if fits(middle, max(round(middle / ratio), 1)):
                low = middle
            else:
                high = middle
        longer, shorter = low, max(round(low / ratio), 1)
    return _cover(longer, shorter, patch)


def _count_crops(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """One tile for a small picture, else as many as its crop unit, the shorter side less a third, fits across and down."""
    if max(width, height) <= numbers["small"]:
        return numbers["tile_tokens"]
    return _cover(width, height, max(2 * min(width, height) // 3, 1)) * numbers["tile_tokens"]


def _count_level(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """As many as the detail allows, whatever the size."""
    return numbers["tokens"]


_FORMULAS: Mapping[str, Callable[[int, int, Mapping[str, int]], int]] = {
    "patches": _count_patches,
    "tiles": _count_tiles,
    "visual": _count_visual,
    "crops": _count_crops,
    "level": _count_level,
}
