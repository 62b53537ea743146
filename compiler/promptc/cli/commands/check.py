"""`promptc check`: what is wrong or doubtful in packs, as text, JSON, SARIF or GitHub's commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from promptc.cache import describe_maker, open_cache
from promptc.cli.findings import Reporter, describe_diagnostic
from promptc.cli.group import PACKS_OR_HERE, Command, take
from promptc.cli.options import MODELS, NO_CACHE, STORE, OptionSpec, read_stores
from promptc.cli.terminal import show_json, show_text, write_stdout
from promptc.cli.views.drawing import show_plural
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.frontend.kept_pack import KeptFindings
from promptc.model.pack import MANIFEST

_FINDINGS = 1
_VERBOSE = frozenset({"PC0654", "PC0655", "PC0656"})
"""The codes of notes that are printed only on demand: they tell of a pack, and ask for nothing."""

_SHAPES = ("sarif", "github")
_MODEL = OptionSpec(
    "--model", "Judge the pack for this model instead. Repeat it for more models.", "NAME", is_multiple=True, is_declared=True
)
_NOUNS = (("error", "error", "errors"), ("warn", "warning", "warnings"), ("note", "note", "notes"))


@click.command(
    "check",
    cls=Command,
    examples=[
        ("Check the pack in this folder", "promptc check"),
        ("Check another pack", "promptc check packs/sentinel"),
        ("Open its stores and indexes, too", "promptc check packs/worldarchitect --sources"),
        ("Check every pack in a folder", "promptc check packs"),
        ("Print findings for a program", "promptc check packs/sentinel --format json"),
        ("Print findings for code scanning", "promptc check packs/sentinel --format sarif > promptc.sarif"),
        ("Read what a finding means", "promptc rule PC0610"),
    ],
)
@PACKS_OR_HERE
@click.option("--format", type=click.Choice(("text", "json", "sarif", "github")), default="text", help="How to print findings. [text]")
@click.option("--sources", is_flag=True, help="Open stores and indexes, too: do they exist, and do their chunks fit?")
@take(STORE, _MODEL, MODELS, NO_CACHE)
@click.option("--strict", is_flag=True, help="Exit with 1 for notes, too.")
@click.option("--verbose", is_flag=True, help="Also tell what was proved, and which parts of the state nothing reads.")
@click.pass_obj
def check_command(
    reporter: Reporter,
    packs: tuple[str, ...],
    format: str,
    sources: bool,
    store: tuple[str, ...],
    model: tuple[str, ...],
    models: str | None,
    no_cache: bool,
    strict: bool,
    verbose: bool,
) -> int:
    """Find mistakes in packs. No state is needed: check looks at every state that the schema allows.

    PACK can be a folder that holds several packs. A missing store or index is a finding only with `--sources`.

    Exit codes: 0 notes at most, 1 errors or warnings, 3 a pack cannot be loaded. Findings of a pack that cannot be loaded go to standard
    error.
    """
    stores = read_stores(store) if sources or store else None
    found: list[Diagnostic] = []
    failed: list[PromptcError] = []
    for pack in list_packs(packs):
        try:
            found += _find(pack, stores, model, models, is_cached=not no_cache, is_alone=len(packs) == 1)
        except PromptcError as error:
            failed.append(error)
    left_out = [] if verbose else [one for one in found if one.code in _VERBOSE]
    found = sorted((one for one in found if verbose or one.code not in _VERBOSE), key=_rank)
    refused = [one for error in failed for one in error.diagnostics]
    if refused:
        shape = "json" if format == "json" else reporter.settings.diagnostics
        Reporter(replace(reporter.settings, diagnostics=shape)).report(refused)
    print_findings(reporter, found, refused, format, len(left_out))
    if failed:
        return max(error.exit_code for error in failed)
    return _FINDINGS if any(strict or one.level != "note" for one in found) else 0


def _find(
    path: str, stores: Mapping[str, str] | None, model: Sequence[str], models: str | None, *, is_cached: bool, is_alone: bool
) -> Sequence[Diagnostic]:
    """What is wrong with the pack at a path: what was found before, where nothing was looked at that is another now. Stores and indexes are
    asked each time.
    """

    def check() -> Sequence[Diagnostic]:
        from promptc.api import Pack  # late: what was found before needs nothing of what checks a pack

        return _check(Pack.load(path, models=models), stores, model, is_alone=is_alone)

    cache = open_cache() if is_cached and stores is None else None
    if cache is None:
        return check()
    kept = KeptFindings(cache, path, "\0".join((describe_maker().hex(), models or "", *model)))
    found = kept.find()
    return found if found is not None else kept.keep(check)


def _check(loaded: Any, stores: Mapping[str, str] | None, models: Sequence[str], *, is_alone: bool) -> Sequence[Diagnostic]:
    """Of several packs each is given the stores that it has."""
    if stores is not None and not is_alone:
        names = {one.name for one in loaded.model.stores}
        stores = {name: url for name, url in stores.items() if name in names}
    found: Sequence[Diagnostic] = loaded.check(stores, models=models)
    return found


def _rank(found: Diagnostic) -> int:
    return [level for level, *_ in _NOUNS].index(found.level)


def print_findings(reporter: Reporter, found: Sequence[Diagnostic], refused: Sequence[Diagnostic], format: str, left_out: int = 0) -> None:
    """Print what was `found` in a format; nothing where nothing could be checked (all is in `refused`), but for a service that shows
    findings at their lines. Of `left_out` notes only the number is told.
    """
    shown = [one for one in found if one.level == "error" or not reporter.settings.is_quiet]
    if format in _SHAPES:
        text = _render(format, [*refused, *shown])
    elif refused and not found and not left_out:
        return
    elif format == "json":
        text = show_json([describe_diagnostic(one) for one in shown])
    else:
        show_text(reporter.render(shown) + ("" if reporter.settings.is_quiet else _sum_up(found, left_out)))
        return
    write_stdout(text.encode("utf-8", "backslashreplace"))


def _render(format: str, found: Sequence[Diagnostic]) -> str:
    """For a service that shows findings at their lines."""
    if format == "sarif":
        from promptc.cli.reports import render_sarif

        return render_sarif(found)
    from promptc.cli.reports import render_github

    return render_github(found)


def _sum_up(found: Sequence[Diagnostic], left_out: int) -> str:
    counts = [(sum(1 for one in found if one.level == level), noun, plural) for level, noun, plural in _NOUNS]
    text = ", ".join(show_plural(count, noun, plural) for count, noun, plural in counts if count) or "nothing found"
    return f"{text}; {show_plural(left_out, 'more note', 'more notes')} with --verbose\n" if left_out else f"{text}\n"


def list_packs(paths: Sequence[str]) -> list[str]:
    """Packs as they are named; in place of a folder without a `pack.yaml` all folders under it that have one, sorted. Each once.

    Hidden folders are not looked into. A folder with no pack in it stays: loading it tells what is wrong.
    """
    return list(dict.fromkeys(pack for path in paths for pack in _list_inner_packs(path)))


def _list_inner_packs(path: str) -> list[str]:
    folder = Path(path)
    if not folder.is_dir() or (folder / MANIFEST).is_file():
        return [path]
    return [str(one) for one in _iter_inner(folder)] or [path]


def _iter_inner(folder: Path) -> Iterator[Path]:
    for one in sorted(folder.iterdir()):
        if one.is_dir() and not one.is_symlink() and not one.name.startswith("."):
            if (one / MANIFEST).is_file():
                yield one
            yield from _iter_inner(one)
