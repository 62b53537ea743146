"""The total budget of a prompt (`TotalBudget`), the facts about models that a budget may name, and the table of these models.

`settle_budget` makes the budget of one render. If the budget names a model, it uses the window of that model in the table. `load_models`
reads the table that is shipped with promptc (`models.toml`), and before it a table of the user's, of the same form. The user's table may
also have rules for media, of the form of `frontend/media.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice, repeat

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Source, Span, UsageError, fail, shorten, show_reason, suggest
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any
from promptc.files.reading import decode_text, read_given
from promptc.model.media import iter_wrong_rule, make_rule
from promptc.text.json import is_whole, render_digest

_OWN_NAME = "/"
"""The separator after the name of a gateway: `openai/gpt-4o`."""

_TAG = ":"
"""The separator before the build of a model that a local server runs: `qwen3:8b`."""

MOST_BYTES = 1_000_000
"""The size of the largest table of the user's, in bytes."""

_EXCERPT = 400
_MOST_UNKNOWN = 20
"""The most unknown keys at the top that are reported. Each is looked up in the file."""

_LARGEST = 999_999_999
_TOKENS = ("context", "input", "output")
_TEXTS = ("name", "provider", "tokenizer", "source", "tokenizer_source")
_KEYS = (*_TEXTS, *_TOKENS, "price")
_MEDIA = "media"
_PRICE = ("input", "output", "up_to")
_EXAMPLE = 'write, for example, `as_of = 2026-11-24`, then `[[model]]` with `name = "my-model"` and `context = 32768` below it'


@frozen
class Price:
    """US dollars for a million tokens, read and written. `up_to` limits the price to prompts of at most so many tokens (None: all)."""

    input: float
    output: float
    up_to: int | None = None


@frozen
class KnownModel:
    """The facts about a model, as of the day `as_of`. What is None is not known.

    `context` is how many tokens the prompt and the reply may have together, `input` how many the prompt alone, `output` how many the reply.
    If a model has no `context`, its server decides it.
    """

    name: str
    provider: str
    as_of: str
    source: str
    context: int | None = None
    input: int | None = None
    output: int | None = None
    tokenizer: str | None = None
    tokenizer_source: str | None = None
    price: Price | None = None


@frozen(eq=False)
class ModelTable:
    """Models by name. `as_of` is the day of the shipped table, and `digest` the digest of its bytes.

    `media` are the rules for media of the user's own table.
    """

    as_of: str = ""
    digest: str = ""
    models: Mapping[str, KnownModel] = field(default_factory=dict)
    media: tuple[Any, ...] = ()

    def find(self, name: str) -> KnownModel | None:
        """Return the model of that name, or None. The name of a gateway may precede it.

        A tag may follow the name of a model whose server decides the window.
        """
        own = name.rpartition(_OWN_NAME)[2]
        found = self.models.get(name) or self.models.get(own)
        if found is None and _TAG in own:
            untagged = self.models.get(own.partition(_TAG)[0])
            return untagged if untagged is not None and untagged.context is None else None
        return found


@frozen
class TotalBudget:
    """The whole prompt's budget in tokens: `context - reserve`. `reserve` is None if the manifest has none.

    If the budget names a `model`, `context` is the manifest's, or 0. A settled budget has the window of the model, the most tokens that a
    prompt for it may have (`input`; None: as many as the window), and the day of these figures.
    """

    context: int
    reserve: int | None
    span: Span
    model: str = ""
    input: int | None = None
    as_of: str = ""

    @property
    def total(self) -> int:
        """The tokens that a prompt may have."""
        left = self.context - (self.reserve or 0)
        return left if self.input is None else min(left, self.input)


def settle_budget(budget: TotalBudget, asked: str | None, load_models: Callable[[], ModelTable]) -> TotalBudget:
    """Return the budget of a render for the model `asked`, or else for the one that it names. A budget without a model stays as it is.

    Raises `PromptcError` if the window of the model is not known (PC0524, PC0525). If the model was `asked`, that is a `UsageError`.
    """
    if not budget.model:
        return budget
    name, table = asked or budget.model, load_models()
    known = table.find(name)
    window = known.context if known is not None else None
    if known is None or window is None:
        if budget.context:
            return replace(budget, model=name)
        found = describe_unknown(name, table, None if asked else budget.span)
        raise UsageError([found]) if asked else PromptcError([found])
    context = min(window, budget.context) if budget.context else window
    return replace(budget, model=name, context=context, input=known.input, as_of=known.as_of)


def describe_unknown(name: str, table: ModelTable, span: Span | None) -> Diagnostic:
    """Return the finding of a model whose window is not known: it is in no table, or its server decides it."""
    written = f"`budget: {{model: {shorten(name)}, context: 8192, reserve: 1000}}`"
    if table.find(name) is not None:
        message = f"the window of `{name}` depends on how its server is configured, so no table has it"
        return Diagnostic("PC0525", message, span, f"write the window of your server next to the model: {written}")
    near = suggest(name, table.models)
    near = f"{near} Otherwise " if near.startswith("did") else ""
    message = f"the table of models has no `{shorten(name)}` (as of {table.as_of})"
    return Diagnostic(
        "PC0524", message, span, f"{near}write its window next to it: {written}; or add it to a table of your own (`--models`)"
    )


def describe_room(budget: TotalBudget) -> str:
    """Return what to write if a budget leaves nothing for the prompt."""
    if budget.model:
        return f"make `reserve` smaller than the {budget.context} tokens that `{budget.model}` has"
    return "make `context` larger than `reserve`"


# --- the table ---


def load_models(file: str | None = None) -> ModelTable:
    """Return the models that promptc knows. Those of `file`, a path that the user gave, override models of the same name.

    Raises `PromptcError` (PC0756) with everything that is wrong in that file, and `DiskError` (PC0724) if it cannot be read.
    """
    shipped = _load_shipped()
    if file is None:
        return shipped
    try:
        text = decode_text(read_given(file, MOST_BYTES), file)
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        message = f"cannot read the table of models {file}: {reason}"
        raise DiskError([Diagnostic("PC0724", message, help="name a TOML file, such as `--models models.toml`")]) from wrong
    own = _read_table(text, file)
    return replace(shipped, models={**shipped.models, **own.models}, media=own.media)


@cache
def _load_shipped() -> ModelTable:
    from pathlib import Path  # late: a warm render of a budget without a model does not need it

    return _read_table(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"), "models.toml")


def _read_table(text: str, name: str) -> ModelTable:
    import tomllib  # late: few renders follow a model

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise fail("PC0756", f"the table of models is not TOML: {shorten(str(wrong), 200)}", Span(name, 1, 1), help=_EXAMPLE) from None
    source = Source(name, text)
    found = list(_iter_wrong(table, source))
    if found:
        raise PromptcError(found)
    as_of = table["as_of"].isoformat()
    models = [_make_model(one, as_of) for one in table.get("model", [])]
    return ModelTable(as_of, render_digest(text.encode()), {one.name: one for one in models}, tuple(_make_rules(table, as_of)))


def _make_rules(table: Mapping[str, Any], as_of: str) -> Iterator[Any]:
    for given in table.get(_MEDIA, []):
        yield make_rule(given, as_of)


def _make_model(facts: Mapping[str, Any], as_of: str) -> KnownModel:
    price = Price(**facts["price"]) if "price" in facts else None
    return KnownModel(**{"provider": "", "source": "", **facts, "as_of": as_of, "price": price})


def _iter_wrong(table: Mapping[str, Any], source: Source) -> Iterator[Diagnostic]:
    if not _is_day(table.get("as_of")):
        message = "the table of models does not say what day its figures are from"
        yield Diagnostic("PC0756", message, source.span(1, 1), "write that day at the top, without quotes: `as_of = 2026-11-24`")
    unknown = (key for key in table if key not in ("as_of", "model", _MEDIA))
    for key in islice(unknown, _MOST_UNKNOWN):
        message = f"unknown key `{shorten(key)}` in the table of models"
        help = "a model begins with the line `[[model]]`, a rule for pictures with `[[media]]`"
        yield Diagnostic("PC0756", message, _locate_line(source, key), help)
    yield from _iter_wrong_media(table.get(_MEDIA, []), source)
    listed = table.get("model", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        yield Diagnostic("PC0756", "`model` is not a list of models", _locate_line(source, "model"), "write `[[model]]`, in two brackets")
        return
    met: set[Any] = set()
    for facts, span in zip(listed, _iter_places(source, "[[model]]"), strict=False):
        yield from _iter_wrong_facts(facts, span)
        name = facts.get("name")
        if isinstance(name, str) and name in met:
            yield Diagnostic("PC0756", f"the model `{shorten(name)}` appears in the table twice", span, "leave one out")
        met.add(name if isinstance(name, str) else None)


def _iter_wrong_media(listed: Any, source: Source) -> Iterator[Diagnostic]:
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        span = _locate_line(source, _MEDIA)
        yield Diagnostic("PC0756", "`media` is not a list of rules", span, "write `[[media]]`, in two brackets")
        return
    for given, span in zip(listed, _iter_places(source, f"[[{_MEDIA}]]"), strict=False):
        names = given.get("models")
        of = f" of `{shorten(names[0])}`" if isinstance(names, list) and names and isinstance(names[0], str) else ""
        yield from (Diagnostic("PC0756", f"the rule for media{of} {wrong}", span, help) for wrong, help in iter_wrong_rule(given))


def _iter_wrong_facts(facts: Mapping[str, Any], span: Span) -> Iterator[Diagnostic]:
    name = facts.get("name")
    if not isinstance(name, str) or not name.strip():
        yield Diagnostic("PC0756", "a model in the table has no `name`", span, 'add it: `name = "my-model"`')
        return
    what = f"of the model `{shorten(name)}`"
    for key, value in facts.items():
        if key not in _KEYS:
            yield Diagnostic("PC0756", f"unknown key `{shorten(key)}` {what}", span, suggest(key, _KEYS))
        elif key in _TEXTS and not isinstance(value, str):
            yield Diagnostic("PC0756", f"`{key}` {what} is not a string", span, f'quote it: `{key} = "…"`')
        elif key in _TOKENS and not is_whole(value, 1, _LARGEST):
            yield Diagnostic(
                "PC0756", f"`{key}` {what} is not a whole number of tokens from 1", span, f"write, for example, `{key} = 32768`"
            )
        elif key == "price":
            yield from _iter_wrong_price(value, what, span)


def _iter_wrong_price(value: Any, what: str, span: Span) -> Iterator[Diagnostic]:
    is_mapping = isinstance(value, dict) and set(value) <= set(_PRICE) and {"input", "output"} <= set(value)
    is_right = is_mapping and all(_is_amount(value[key]) for key in ("input", "output")) and is_whole(value.get("up_to", 1), 1, _LARGEST)
    if not is_right:
        help = (
            "write dollars for a million tokens: `price = {input = 2.5, output = 10}`, "
            "with `up_to = 200000` if it applies only up to that many tokens"
        )
        yield Diagnostic("PC0756", f"`price` {what} is not of the form {{input, output, up_to}}", span, help)


def _is_day(value: Any) -> bool:
    """Return whether the value is a TOML date without a time."""
    return hasattr(value, "isoformat") and not hasattr(value, "hour")


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _locate_line(source: Source, beginning: str) -> Span:
    """Return the place of the first line with this beginning, or of the first line of the file if there is none."""
    return next(_iter_places(source, beginning))


def _iter_places(source: Source, beginning: str) -> Iterator[Span]:
    """Yield the place of each line with this beginning, and then for ever that of the first line of the file: TOML has other spellings."""
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.replace(" ", "").startswith(beginning):
            yield Span(source.name, number, 1, line[:_EXCERPT])
    yield from repeat(source.span(1, 1))
