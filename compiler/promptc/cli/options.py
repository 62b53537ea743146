"""The options of `promptc render` and the options of every command, each declared once.

`promptc.cli.group` makes click's options from these tables. `read_render` uses them to parse plain command lines of `promptc render`
without click, whose import would take as long as the render. `read_settings` reads the options of every command before anything else.
Either way, `make_render` and `make_request` turn the values into a request. `is_in_ci` reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise

from promptc.diag.findings import Diagnostic, UsageError, shorten
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.model.messages import FORMATS

_MOOD = "mood"
_MADE = "Override the output format of the pack"


@frozen
class OptionSpec:
    """An option: its long name, its help, and its value, which is shown as `metavar` or is one of the `choices`.

    `is_declared` says that the pack declares the values, so that a shell can complete them.
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
        """The name of the option's value as click derives it: `no_cache` for `--no-cache`."""
        return self.name[2:].replace("-", "_")

    def accepts(self, value: str) -> bool:
        """Return whether the type of the option allows the value."""
        return is_count(value) if self.type == "count" else not self.choices or value in self.choices

    def choose(self, given: Sequence[str] | None) -> Any:
        """Return the option's value, from the values that are given in order (None if the option is absent).

        A flag is a bool. An option that can be repeated returns all values, another option the last one or None.
        """
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
"""The options of every command."""

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
"""The options of every command that renders: the fields of a `RenderRequest`."""

WATCH = OptionSpec("--watch", "Run again whenever a file changes that was read, until Ctrl-C.", type="flag")
"""The option of the commands that can run repeatedly. Only `Command` in `promptc.cli.group` acts on it."""

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
"""The other options of `promptc render`."""


@frozen
class Settings:
    """The values of `SETTINGS`. `is_quiet` suppresses all findings but errors."""

    color: str = "auto"
    diagnostics: str = "text"
    is_quiet: bool = False
    with_traceback: bool = False


def read_settings(arguments: Sequence[str]) -> Settings:
    """Return the settings among the arguments, at any position before `--`.

    They are read first, so that even an invalid command line is reported as its settings say. An unknown value counts as absent here; the
    command refuses it later.
    """
    ahead = list(arguments)[: arguments.index("--")] if "--" in arguments else list(arguments)
    return Settings(_choose_known(ahead, COLOR), _choose_known(ahead, DIAGNOSTICS), QUIET.name in ahead, TRACEBACK.name in ahead)


def _choose_known(arguments: Sequence[str], option: OptionSpec) -> str:
    """Return the last known value of the option, or its first choice by default."""
    values = [after for name, after in pairwise(arguments) if name == option.name]
    values += [name.removeprefix(f"{option.name}=") for name in arguments if name.startswith(f"{option.name}=")]
    return next((value for value in reversed(values) if value in option.choices), option.choices[0])


def is_in_ci() -> bool:
    """Return whether the process runs in CI, where nobody can review: `CI` is set, and is not empty, `0` or `false`."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


@frozen
class RenderRequest:
    """The values of a command line that override the choices of the pack and the state in a render."""

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
        """The keyword arguments of `Pack.compile`, besides the state."""
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

    @property
    def writes_files(self) -> bool:
        """Whether it writes anything but standard output."""
        return any(name is not None for name in (self.output, self.report, self.redactions))


def read_render(arguments: Sequence[str]) -> RenderCommand | None:
    """Parse `render PACK STATE` with known long options.

    Returns None for any other command line, for one that may be wrong, and for `--watch`; click then parses it. Raises `UsageError`:
    PC0720 for `--kept` without `--report`, PC0721 for a value that does not have its form, such as AXIS=CASE.
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
            if value.startswith("-") or not option.accepts(value) or (option.type == "path" and not value):
                return None
        found.setdefault(option.key, []).append(value)
    if len(places) != 2 or not all(places) or WATCH.key in found:
        return None
    return make_render(places[0], places[1], {option.key: option.choose(found.get(option.key)) for option in known.values()})


def make_render(pack: str, state: str, given: Mapping[str, Any]) -> RenderCommand:
    """Return the command for the values of `REQUEST` and `RENDER` by their keys.

    Raises what `make_request` raises, and `UsageError` (PC0720) for `--kept` without a report.
    """
    if given["kept"] and not given["report"]:
        help = "say where: `--report report.json --kept`"
        raise UsageError([Diagnostic("PC0720", "`--kept` counts in the report, and no report is written", help=help)])
    only, output, report = (given[key] for key in ("only", "output", "report"))
    request, is_cached = make_request(given), not given["no_cache"]
    return RenderCommand(pack, state, request, only, output, report, is_cached, given["kept"], given["redactions"])


def make_request(given: Mapping[str, Any]) -> RenderRequest:
    """Return the request for the values of `REQUEST` by their keys. Options that a command does not have may be missing.

    Raises `UsageError` (PC0721) for a variant, a change, a store or a tried value that does not have its form.
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
    """Return the paths in a manifest with the values to try. Raises `UsageError` (PC0721) for a text that is not PATH=YAML."""
    tries = []
    for one in given:
        path, equals, text = one.partition("=")
        if not equals or not path.strip() or not text.strip():
            raise refuse_form("--try", one, "PATH=YAML")
        tries.append((path.strip(), text))
    return tuple(tries)


def read_stores(given: Sequence[str]) -> dict[str, str]:
    """Return the URLs of stores by name.

    Raises `UsageError` (PC0721) for a text that is not NAME=URL. The message does not show the text, because a URL may contain a password.
    """
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
    """Return the error (PC0721) for a value that does not have its form, such as NAME=JSON."""
    return UsageError(
        [Diagnostic("PC0721", f"`{option} {shorten(given)}` does not have the form {shape}", help=f"write `{option} {shape}`, with an `=`")]
    )


def is_count(given: str) -> bool:
    """Return whether an argument is a whole number from 1 to 999999999."""
    return given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0
