"""Pictures, documents and sounds in messages: what a pack says about them (`MediaForm`), and how models count them (`MediaTable`).

The formulas are those that providers publish. Their numbers are in `frontend/media.toml`, each with its page. All numbers are whole, except
for two roots and ratios, which are computed as in the providers' own code, so that the counts are equal to theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from promptc.diag.findings import Span, count_noun, join_names, shorten, suggest
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.template.compile import Expression
from promptc.text.json import is_whole

MEDIA_KINDS = ("image", "document", "audio")
"""The kinds of parts that are not text."""

DETAILS = ("low", "medium", "high", "original", "auto")
"""The levels of detail in which a model may look at a picture. Each model knows some of them."""

_BOUNDARY = ("", "-", "@", ":")
"""The characters that may follow a prefix from the table in a model's name: `gpt-5.6-sol`, `claude-opus-5-5@20261001`."""

_RULE_KEYS = ("models", "how", "numbers", "detail", "page", "second", "estimate", "source", "example")
_LARGEST = 10_000_000
"""The largest number that a rule may have."""

_UNITS: Mapping[str, str] = {"image": "width and height", "document": "number of pages", "audio": "length in seconds"}


class UncountableError(Exception):
    """Raised if the model does not count such a part, or refuses it.

    The message is what is said of the model, such as "has no detail `low`"; `help` says what to write instead.
    """

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


@frozen
class MediaSize:
    """The known size of a part: pixels, pages, milliseconds. What is not known is 0."""

    width: int = 0
    height: int = 0
    pages: int = 0
    millis: int = 0

    def tells(self, kind: str) -> bool:
        """Return whether the size that a part of that kind is counted by is known."""
        return bool({"image": self.width and self.height, "document": self.pages, "audio": self.millis}[kind])


@frozen
class MediaRule:
    """How some `models`, by how their names begin, count media. `how` names the formula for pictures, and `numbers` are its numbers.

    `details` are more numbers, by the requested detail (also `auto`); empty if the models have no details. `page` and `second` are the
    tokens of a page of a document and of a second of sound, or 0 if none are published. `source` is where the rule was published, as of the
    day `as_of`. With `estimate`, the provider itself calls it an estimate.
    """

    models: tuple[str, ...]
    source: str
    how: str
    numbers: Mapping[str, int]
    details: Mapping[str, Mapping[str, int]]
    page: int
    second: int
    estimate: bool
    as_of: str

    def count(self, kind: str, size: MediaSize, detail: str | None) -> int:
        """Return the tokens of a part. Raises `UncountableError` if the model does not count the part, or refuses it."""
        if kind == "image":
            return self._count_picture(size.width, size.height, detail or "auto")
        per = self.page if kind == "document" else self.second
        if not per:
            help = "give its number of tokens with an expression: `media: {tokens: part.tokens}`"
            raise UncountableError(f"has no published count for parts of the kind `{kind}`", help)
        return per * size.pages if kind == "document" else -(-per * size.millis // 1000)

    def _count_picture(self, width: int, height: int, detail: str) -> int:
        if self.details and detail not in self.details:
            known = ", ".join(f"`{name}`" for name in self.details)
            raise UncountableError(f"has no detail `{detail}`", f"write one of {known}")
        numbers = {**self.numbers, **self.details.get(detail, {})}
        longest, tokens = numbers.get("longest", 0), _FORMULAS[self.how](width, height, numbers)
        if longest and max(width, height) > longest:
            raise UncountableError(f"refuses pictures of more than {longest} pixels a side", "make the picture smaller")
        return tokens


@frozen
class MediaTable:
    """The rules as they were published on the day `as_of`. The user's rules, `own`, come before them."""

    as_of: str
    rules: tuple[MediaRule, ...]
    own: tuple[MediaRule, ...] = ()

    def find(self, model: str) -> MediaRule | None:
        """Return the rule with the longest prefix of the model's name, or None. The name of a gateway may precede it: `openai/gpt-4o`."""
        name = model.rsplit("/", 1)[-1]
        for rules in (self.own, self.rules):
            found = [(len(start), rule) for rule in rules for start in rule.models if _begins(name, start)]
            if found:
                return max(found, key=lambda one: one[0])[1]
        return None

    def iter_models(self) -> Iterator[str]:
        """Yield the prefixes of all models' names, in the table's order."""
        return (name for rule in (*self.own, *self.rules) for name in rule.models)


def _begins(name: str, start: str) -> bool:
    return name.startswith(start) and name[len(start) : len(start) + 1] in _BOUNDARY


@frozen(eq=False)
class MediaForm:
    """The settings of a section for its pictures, documents and sounds.

    `model` is the model they are counted for if the request names none, `detail` the requested detail, and `tokens` an expression for the
    tokens of a part.
    """

    span: Span
    table: MediaTable = field(repr=False)
    model: str | None = None
    detail: str | None = None
    tokens: Expression | None = None

    def choose_model(self, *named: str | None) -> str | None:
        """Return the model that counts: the first of `named` and the section's own that is in the table, or else the first one named."""
        names = [name for name in (*named, self.model) if name]
        return next((name for name in names if self.table.find(name) is not None), names[0] if names else None)


@frozen
class CountedMedia:
    """A part as it was counted: its kind, media type (empty: not known), size, tokens, and what counted it (a model, or `tokens`).

    A prompt in text shows a line for the part, and counts that line. The part itself then has no tokens.
    """

    kind: str
    type: str
    size: MediaSize
    detail: str | None = None
    tokens: int = 0
    by: str = ""
    estimate: bool = False


def name_unit(kind: str) -> str:
    """Return what a part of that kind is counted by, for messages."""
    return _UNITS[kind]


def describe_media(part: Mapping[str, Any]) -> str:
    """Return the line that replaces a part in text: `[image: image/png, 1024 x 768]`. It contains no words of the state's own."""
    source = part["source"]
    told = [source["media_type"]] if "media_type" in source else []
    size = describe_size(part)
    told += [size] if size else []
    return f"[{part['type']}: {', '.join(told)}]" if told else f"[{part['type']}]"


def describe_size(part: Mapping[str, Any]) -> str:
    """Return the size of a part in words: `1024 x 768`, `2 pages`, `1.5 seconds`. Empty if it is not known."""
    if "width" in part:
        return f"{part['width']} x {part['height']}"
    if "pages" in part:
        return count_noun(part["pages"], "page")
    return count_noun(part["seconds"], "second") if "seconds" in part else ""


def list_media(part: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the media of a part of a message that was read: the part itself, or those in the list that a tool returned."""
    if part.get("type") in MEDIA_KINDS:
        return (part,)
    content = part.get("content") if part.get("type") == "tool_result" else None
    return tuple(filter(is_media, content)) if isinstance(content, list | tuple) else ()


def is_media(value: Any) -> bool:
    """Return whether an element of the list that a tool returned is a picture, a document or a sound."""
    return isinstance(value, Mapping) and value.get("type") in MEDIA_KINDS and isinstance(value.get("source"), Mapping)


def split_counted(parts: Sequence[Mapping[str, Any]], counted: Sequence[CountedMedia]) -> Iterator[tuple[CountedMedia, ...]]:
    """Yield, for each part of a message, the counts of its media."""
    left = iter(counted)
    return (tuple(islice(left, len(list_media(part)))) for part in parts)


# --- rules as a table has them ---


def make_rule(given: Mapping[str, Any], as_of: str) -> MediaRule:
    """Return the rule of an entry in which `iter_wrong_rule` finds nothing."""
    return MediaRule(
        models=tuple(given["models"]),
        source=given.get("source", ""),
        how=given["how"],
        numbers=given.get("numbers", {}),
        details=given.get("detail", {}),
        page=given.get("page", 0),
        second=given.get("second", 0),
        estimate=given.get("estimate", False),
        as_of=as_of,
    )


def iter_wrong_rule(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong in an entry of a table, each with what to write instead.

    It checks keys, numbers that the formula needs, and examples that the rule must count correctly.
    """
    unknown = [key for key in given if key not in _RULE_KEYS]
    if unknown:
        yield f"has the unknown key `{shorten(unknown[0])}`", suggest(unknown[0], _RULE_KEYS)
    models = given.get("models")
    if not isinstance(models, list) or not models or not all(isinstance(one, str) and one.strip() for one in models):
        yield "does not list its models", 'write how their names begin: `models = ["our-finetune"]`'
        return
    how = given.get("how")
    if not isinstance(how, str) or how not in _NUMBERS:
        known = join_names(_NUMBERS)
        yield "does not say how pictures are counted", f"write `how`, which is one of {known}"
        return
    found = [*_iter_wrong_numbers(given, how), *_iter_wrong_plain(given)]
    yield from found
    if not found:
        yield from _iter_missed(make_rule(given, ""), given.get("example", []))


def _iter_wrong_numbers(given: Mapping[str, Any], how: str) -> Iterator[tuple[str, str]]:
    needed, allowed = _NUMBERS[how]
    numbers, details = given.get("numbers", {}), given.get("detail", {})
    if not isinstance(numbers, dict) or not isinstance(details, dict) or not all(isinstance(one, dict) for one in details.values()):
        yield "has `numbers` or `detail` of the wrong form", "write `numbers = {patch = 32}`, and `detail.low = {side = 512}`"
        return
    for name in details:
        if name not in DETAILS:
            yield f"has the unknown detail `{shorten(name)}`", f"write one of {join_names(DETAILS)}"
    for key, value in [*numbers.items(), *(pair for one in details.values() for pair in one.items())]:
        if key not in (*needed, *allowed):
            yield f"has the number `{shorten(key)}`, which `{how}` does not use", f"it uses {join_names((*needed, *allowed))}"
        elif not is_whole(value, 0 if key in ("tile_tokens", "base") else 1, _LARGEST):
            yield f"has a `{key}` that is not a whole number in reach", f"write, for example, `{key} = 32`"
    lacking = [key for key in needed if any(key not in {**numbers, **one} for one in (details or {"": {}}).values())]
    if lacking:
        yield f"is missing the number `{lacking[0]}`, which `{how}` needs", f"add it to `numbers`, or to each `detail`: `{lacking[0]} = …`"


def _iter_wrong_plain(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("page", "second"):
        if not is_whole(given.get(key, 0), 0, _LARGEST):
            yield f"has a `{key}` that is not a whole number in reach", f"write tokens, such as `{key} = 258`"
    if not isinstance(given.get("estimate", False), bool):
        yield "has an `estimate` that is neither true nor false", "write `estimate = true`, or leave it out"
    if not isinstance(given.get("source", ""), str):
        yield "has a `source` that is not a string", 'quote it: `source = "…"`'


def _iter_missed(rule: MediaRule, examples: Any) -> Iterator[tuple[str, str]]:
    """Yield the examples that the rule counts differently. Published figures keep a table correct."""
    shape = "write `[[media.example]]` with `image = [1024, 1024]` and `tokens = 765` below it"
    if not isinstance(examples, list) or not all(isinstance(one, dict) for one in examples):
        yield "has an `example` of the wrong form", shape
        return
    for one in examples:
        kind = next((kind for kind in MEDIA_KINDS if kind in one), "")
        sizes = one.get(kind, 0) if kind == "image" else [one.get(kind, 0)]
        is_sized = (
            isinstance(sizes, list) and len(sizes) == (2 if kind == "image" else 1) and all(is_whole(size, 1, _LARGEST) for size in sizes)
        )
        if not kind or not is_sized or not is_whole(one.get("tokens"), 0, _LARGEST) or not isinstance(one.get("detail", ""), str):
            yield "has an `example` of the wrong form", shape
            return
        size = {"image": MediaSize(*sizes), "document": MediaSize(pages=sizes[0]), "audio": MediaSize(millis=1000 * sizes[0])}[kind]
        try:
            counted = rule.count(kind, size, one.get("detail"))
        except UncountableError as wrong:
            yield f"has an `example` that it does not count: it {wrong}", wrong.help
            continue
        if counted != one["tokens"]:
            yield f"counts {counted} tokens for its example of {one['tokens']}", "correct the numbers, or the example"


# --- the formulas ---


def _count_patches(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """Return the squares that cover the picture, shrunk to a side and a number of squares, times `percent` / 100, rounded up."""
    width, height = _fit_side(width, height, numbers["side"])
    patch, most = numbers["patch"], numbers.get("patches", 0)
    if most and _cover(width, height, patch) > most:
        from math import sqrt  # late: only such a picture needs it

        shrink = sqrt(patch * patch * most / (width * height))
        across, down = width * shrink / patch, height * shrink / patch
        shrink *= min(max(int(across), 1) / across, max(int(down), 1) / down)
        width, height = max(int(width * shrink), 1), max(int(height * shrink), 1)
    count = _cover(width, height, patch)
    limit = numbers.get("limit", 0)
    if limit and count > limit:
        raise UncountableError(f"counts {count} patches, and refuses requests of more than {limit}", "write `detail: high`")
    return -(-count * numbers["percent"] // 100)


def _fit_side(width: int, height: int, side: int) -> tuple[int, int]:
    """Return the size scaled down to a longest side, with the other side rounded."""
    longer = max(width, height)
    if longer <= side:
        return width, height
    return tuple(max((2 * one * side + longer) // (2 * longer), 1) for one in (width, height))  # type: ignore[return-value]


def _cover(width: int, height: int, patch: int) -> int:
    return -(-width // patch) * -(-height // patch)


def _count_tiles(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """Return a base plus the tokens of the tiles that cover the picture, shrunk to fit a square, and then to a shorter side."""
    if not numbers.get("tile_tokens"):
        return numbers["base"]
    longer, shorter, side, least, tile = max(width, height), min(width, height), numbers["side"], numbers["short"], numbers["tile"]
    above, below = (side, longer) if longer > side else (1, 1)  # the factor and the divisor of the first scaling
    if shorter * above > least * below:
        across, down = -(-(longer * least // shorter) // tile), -(-least // tile)
    else:
        across, down = -(-longer * above // (below * tile)), -(-shorter * above // (below * tile))
    return numbers["base"] + across * down * numbers["tile_tokens"]


def _count_visual(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """Return the squares that cover the picture, as large as a side and a number of squares allow."""
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
    """Return the tokens of one tile for a small picture, or else of the crop units that cover it.

    A crop unit is the shorter side less a third.
    """
    if max(width, height) <= numbers["small"]:
        return numbers["tile_tokens"]
    return _cover(width, height, max(2 * min(width, height) // 3, 1)) * numbers["tile_tokens"]


def _count_level(width: int, height: int, numbers: Mapping[str, int]) -> int:
    """Return the tokens of the detail, whatever the size."""
    return numbers["tokens"]


_FORMULAS: Mapping[str, Callable[[int, int, Mapping[str, int]], int]] = {
    "patches": _count_patches,
    "tiles": _count_tiles,
    "visual": _count_visual,
    "crops": _count_crops,
    "level": _count_level,
}
_NUMBERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "patches": (("patch", "side", "percent"), ("patches", "limit", "longest")),
    "tiles": (("base", "tile_tokens", "side", "short", "tile"), ("longest",)),
    "visual": (("patch", "side", "patches"), ("longest",)),
    "crops": (("small", "tile_tokens"), ("longest",)),
    "level": (("tokens",), ("longest",)),
}
"""For each formula, the numbers that it needs, and those that it may have."""
