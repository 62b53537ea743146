"""The options of `promptc render` and of every command, each stated once, and what their values ask for.

`promptc.cli.group` makes click's options from these tables. `read_render` reads the plain command lines of `promptc render` by them without
click, whose import would take as long as the render; `read_settings` reads what every command takes, ahead of all else. By either way
`make_render` and `make_request` turn the values into what is asked. `is_in_ci` tells what the environment asks for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise

from promptc.diag.findings import Diagnostic, UsageError
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.model.messages import FORMATS

_MOOD = "mood"
_MADE = "Override the output format of the pack"


@frozen
class OptionSpec:
    """An option: its long name, its help, and what it takes: a value shown as `metavar`, or one of the `choices`. `is_declared` where the
    pack declares the values: a shell can complete them.
    """

    name: str
    help: str
    metavar: str | None = None
    type: Literal["text", "count", "path", "flag"] = "text"
    choices: tuple[str, ...] = ()
    is_multiple: bool = False
    short: str = ""
    is_declared: bool = False

    @property
    def key(self) -> str:
        """The name of its value: `no_cache` for `--no-cache`, as click calls it."""
        return self.name[2:].replace("-", "_")

    def accepts(self, value: str) -> bool:
        """Whether it takes that value, as far as its type goes."""
        return is_count(value) if self.type == "count" else not self.choices or value in self.choices

    def choose(self, given: Sequence[str] | None) -> Any:
        """Its value, of those that were given in order (None: it was not): all of them, or the last."""
        if self.type == "flag":
            return given is not None
        if self.is_multiple:
            return tuple(given or ())
        return None if given is None else int(given[-1]) if self.type == "count" else given[-1]


COLOR = OptionSpec("--color", "When to use colours. NO_COLOR turns them off. [auto]", choices=("auto", "always", "never"))
DIAGNOSTICS = OptionSpec("--diagnostics", "How to print findings. [text]", choices=("text", "json"))
QUIET = OptionSpec("--quiet", "Print errors only, no warnings or notes.", type="flag")
TRACEBACK = OptionSpec("--traceback", "If promptc itself fails, show where.", type="flag")
SETTINGS = (COLOR, DIAGNOSTICS, QUIET, TRACEBACK)
"""What every command takes."""

MODELS = OptionSpec("--models", "Read models from this TOML file, too. They go first.", "FILE", "path")
VARIANT = OptionSpec(
    "--variant", "Choose a case of a variant axis. Repeat it for more axes.", "AXIS=CASE", is_multiple=True, is_declared=True
)
MOOD = OptionSpec("--mood", "Short for --variant mood=CASE.", "CASE", is_declared=True)
PATCH = OptionSpec(
    "--patch", "Apply a patch of the pack. Repeat it to apply several, in order.", "NAME", is_multiple=True, is_declared=True
)
STORE = OptionSpec("--store", "Read a store of segments from this address instead.", "NAME=URL", is_multiple=True, is_declared=True)
TRY = OptionSpec(
    "--try",
    "Set a value of the manifest for this run, for example sections.rules.budget=600.",
    "PATH=YAML",
    is_multiple=True,
    is_declared=True,
)
REQUEST = (
    OptionSpec("--budget", "Override the token budget of the whole prompt.", "N", "count"),
    OptionSpec("--model", "The model that the budget follows, and that a request names.", "NAME", is_declared=True),
    MODELS,
    VARIANT,
    MOOD,
    PATCH,
    OptionSpec("--format", f"{_MADE}: {', '.join(FORMATS)}.", "FORMAT", choices=FORMATS),
    OptionSpec("--set", "Change one value of the state, for example /turn/number=3.", "POINTER=JSON", is_multiple=True, is_declared=True),
    STORE,
    TRY,
)
"""What every command takes that renders: the fields of a `RenderRequest`."""

WATCH = OptionSpec("--watch", "Run again whenever a file changes that was read, until Ctrl-C.", type="flag")
"""What the commands take that run again and again. Only click's `Command` knows what it does."""

NO_CACHE = OptionSpec("--no-cache", "Do not use the cache: read every file, and keep nothing.", type="flag")
RENDER = (
    OptionSpec("--only", "Print only this section of the prompt. Repeat it for more.", "SECTION", is_multiple=True, is_declared=True),
    OptionSpec("--output", "Write the prompt to FILE instead of standard output.", "FILE", "path", short="-o"),
    OptionSpec("--report", "Write a JSON report to FILE, even if the prompt does not fit.", "FILE", "path"),
    OptionSpec("--kept", "Add to the report what came from the cache.", type="flag"),
    OptionSpec("--redactions", "Write what the placeholders of `redact` stand for to FILE, as JSON.", "FILE", "path"),
    WATCH,
    NO_CACHE,
)
"""What `promptc render` takes besides."""


@frozen
class Settings:
    """The values of `SETTINGS`. `is_quiet` leaves out all but errors."""

    color: str = "auto"
    diagnostics: str = "text"
    is_quiet: bool = False
    with_traceback: bool = False


def read_settings(arguments: Sequence[str]) -> Settings:
    """Reads the settings among the arguments, wherever they stand.

    They are read ahead of all others, so that a command line nobody can read is still reported the way it asks for. A value that is
    none of the known ones counts as not given here; the command then refuses it.
    """
    ahead = list(arguments)[: arguments.index("--")] if "--" in arguments else list(arguments)
    return Settings(_choose_known(ahead, COLOR), _choose_known(ahead, DIAGNOSTICS), QUIET.name in ahead, TRACEBACK.name in ahead)


def _choose_known(arguments: Sequence[str], option: OptionSpec) -> str:
    """The option's last value that is known, else the first of the known ones."""
    values = [after for name, after in pairwise(arguments) if name == option.name]
    values += [name.removeprefix(f"{option.name}=") for name in arguments if name.startswith(f"{option.name}=")]
    return next((value for value in reversed(values) if value in option.choices), option.choices[0])


def is_in_ci() -> bool:
    """Whether nobody is there to review: `CI` is set to anything but nothing, `0` or `false`."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


@frozen
class RenderRequest:
    """What a command line asks of a render in place of the pack's and the state's own choice."""

    budget: int | None = None
    model: str | None = None
    models: str | None = None
    variants: dict[str, str] = field(default_factory=dict)
    patches: tuple[str, ...] = ()
    format: str | None = None
    changes: tuple[tuple[str, str], ...] = ()
    stores: dict[str, str] = field(default_factory=dict)
    tries: tuple[tuple[str, str], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """What `Pack.compile` is asked, besides the state, by its names."""
        return {name: getattr(self, name) for name in ("budget", "model", "variants", "patches", "format", "stores")}


@frozen
class RenderCommand:
    """The command line of `promptc render`."""

    pack: str
    state: str
    request: RenderRequest
    only: tuple[str, ...] = ()
    output: str | None = None
    report: str | None = None
    is_cached: bool = True
    counts_kept: bool = False
    redactions: str | None = None


def read_render(arguments: Sequence[str]) -> RenderCommand | None:
    """Reads `render PACK STATE` with known long options; None for any other command line, for one that may be wrong, and with `--watch`.

    Raises `UsageError` (PC0721) for a variant or a change that is not of its form.
    """
    if not arguments or arguments[0] != "render":
        return None
    known = {option.name: option for option in (*REQUEST, *RENDER, *SETTINGS)}
    places: list[str] = []
    found: dict[str, list[str]] = {}
    rest = iter(arguments[1:])
    for one in rest:
        if one == "-" or not one.startswith("-"):
            places.append(one)
            continue
        name, equals, value = one.partition("=")
        option = known.get(name)
        if option is None or (option.type == "flag" and equals):
            return None
        if option.type != "flag":
            value = value if equals else next(rest, "-")
            if value.startswith("-") or not option.accepts(value):
                return None
        found.setdefault(option.key, []).append(value)
    if len(places) != 2 or not all(places) or WATCH.key in found:
        return None
    return make_render(places[0], places[1], {option.key: option.choose(found.get(option.key)) for option in known.values()})


def make_render(pack: str, state: str, given: Mapping[str, Any]) -> RenderCommand:
    """Makes the command of the values of `REQUEST` and `RENDER` by their keys. Raises what `make_request` raises, and `UsageError` (PC0720)
    where something is to be counted in a report that is not written.
    """
    if given["kept"] and not given["report"]:
        help = "say where: `--report report.json --kept`"
        raise UsageError([Diagnostic("PC0720", "`--kept` counts in the report, and no report is written", help=help)])
    only, output, report = (given[key] for key in ("only", "output", "report"))
    request, is_cached = make_request(given), not given["no_cache"]
    return RenderCommand(pack, state, request, only, output, report, is_cached, given["kept"], given["redactions"])


def make_request(given: Mapping[str, Any]) -> RenderRequest:
    """Makes the request of the values of `REQUEST` by their keys; those that a command does not take may be missing.

    `UsageError` (PC0721) for a variant, a change or a store that is not of its form.
    """
    mood = given.get("mood")
    variants = _read_variants([*given.get("variant", ()), *([f"{_MOOD}={mood}"] if mood is not None else [])])
    changes, stores = _read_changes(given.get("set", ())), read_stores(given.get("store", ()))
    patches = tuple(given.get("patch", ()))
    budget, model, models, format = (given.get(key) for key in ("budget", "model", "models", "format"))
    return RenderRequest(budget, model, models, variants, patches, format, changes, stores, read_tries(given.get("try", ())))


def _read_variants(given: Sequence[str]) -> dict[str, str]:
    variants: dict[str, str] = {}
    for one in given:
        axis, equals, case = one.partition("=")
        if not equals or not axis:
            raise refuse_form("--variant", one, "AXIS=CASE")
        if variants.get(axis, case) != case:
            found = f"the axis `{axis}` is given two cases: `{variants[axis]}` and `{case}`"
            raise UsageError([Diagnostic("PC0721", found, help="give it one")])
        variants[axis] = case
    return variants


def _read_changes(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    changes = []
    for one in given:
        pointer, equals, text = one.partition("=")
        if not equals:
            raise refuse_form("--set", one, "POINTER=JSON")
        changes.append((pointer, text))
    return tuple(changes)


def read_tries(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Reads paths in a manifest with the values to try. `UsageError` (PC0721) for what is not PATH=YAML."""
    tries = []
    for one in given:
        path, equals, text = one.partition("=")
        if not equals or not path.strip() or not text.strip():
            raise refuse_form("--try", one, "PATH=YAML")
        tries.append((path.strip(), text))
    return tuple(tries)


def read_stores(given: Sequence[str]) -> dict[str, str]:
    """Reads URLs by the names of stores. `UsageError` (PC0721) for what is not NAME=URL; a URL may hold a password, so it is not shown."""
    stores: dict[str, str] = {}
    for one in given:
        name, equals, url = one.partition("=")
        if not equals or not name or not url:
            help = "such as `--store main=sqlite:segments.db`"
            raise UsageError([Diagnostic("PC0721", "`--store` is not of the form NAME=URL", help=help)])
        if stores.get(name, url) != url:
            raise UsageError([Diagnostic("PC0721", f"the store `{name}` is given two URLs", help="give it one")])
        stores[name] = url
    return stores


def refuse_form(option: str, given: str, shape: str) -> UsageError:
    """Makes the error (PC0721) of a value that is not of its form, such as NAME=JSON."""
    return UsageError(
        [Diagnostic("PC0721", f"`{option} {given}` does not have the form {shape}", help=f"write `{option} {shape}`, with an `=`")]
    )


def is_count(given: str) -> bool:
    """Whether an argument is a whole number from 1 to 999999999."""
    return given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0
