"""`promptc check`: reports mistakes and doubtful parts of packs as text, JSON, SARIF or GitHub commands, and mends some of them.
`promptc fmt`: lays out the YAML files of packs.

Cached findings are reported without the code that checks a pack, which is therefore imported late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import click

from promptc.cache import describe_maker, open_cache
from promptc.cli.group import FILES_OR_HERE, PACKS_OR_HERE, Command, take
from promptc.cli.options import MODELS, NO_CACHE, STORE, WATCH, OptionSpec, read_stores
from promptc.cli.terminal import STDIN, Reporter, describe_diagnostic, escape_controls, show_json, show_text, write_stdout
from promptc.diag.findings import VERBOSE, Diagnostic, PromptcError, show_plural
from promptc.diag.frozen import as_plain, replace
from promptc.diag.typed import Any
from promptc.frontend.kept_pack import KeptFindings
from promptc.model.pack import MANIFEST
from promptc.text.diff import diff_lines

_FINDINGS = 1
_SHAPES = ("sarif", "github")
_ENDINGS = (".yaml", ".yml")
_EDITED = ("json", "sarif")
_MODEL = OptionSpec(
    "--model", "Judge the pack for this model instead. Repeat it for more models.", "NAME", is_multiple=True, is_declared=True
)
_NOUNS = (("error", "error"), ("warn", "warning"), ("note", "note"))


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
        ("Check again whenever a file changes", "promptc check packs/sentinel --watch"),
        ("Mend what can be mended without changing a prompt", "promptc check packs/sentinel --fix"),
        ("See what that would change", "promptc check packs/sentinel --diff"),
        ("Read what a finding means", "promptc rule PC0610"),
    ],
)
@PACKS_OR_HERE
@click.option("--format", type=click.Choice(("text", "json", "sarif", "github")), default="text", help="How to print findings. [text]")
@click.option("--fix", "is_fix", is_flag=True, help="Take out what the packs have no use for, then check.")
@click.option("--diff", "is_diff", is_flag=True, help="Write nothing: print what `--fix` would change.")
@click.option("--sources", is_flag=True, help="Open stores and indexes, too: do they exist, and do their chunks fit?")
@take(STORE, _MODEL, MODELS, WATCH, NO_CACHE)
@click.option("--strict", is_flag=True, help="Exit with 1 for notes, too.")
@click.option("--verbose", is_flag=True, help="Also say what was proved, and which parts of the state nothing reads.")
@click.pass_obj
def check_command(
    reporter: Reporter,
    packs: tuple[str, ...],
    format: str,
    is_fix: bool,
    is_diff: bool,
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

    `--fix` takes out of a manifest what can go without changing any prompt: a definition that nothing uses, a step that never does
    anything. It proves that the pack compiles to the same, and keeps every comment.

    Exit codes: 0 notes at most, 1 errors or warnings, 3 a pack cannot be loaded. Findings of a pack that cannot be loaded go to standard
    error.
    """
    stores = read_stores(store) if sources or store else None
    checker = _PackChecker(reporter, stores, model, models, is_cached=not no_cache, is_alone=len(packs) == 1)
    found: list[Diagnostic] = []
    failed: list[PromptcError] = []
    for pack in list_packs(packs):
        try:
            found += checker.fix(pack, is_dry=is_diff) if is_fix or is_diff else checker.find(pack, with_edits=format in _EDITED)
        except PromptcError as error:
            failed.append(error)
    left_out = [] if verbose else [one for one in found if one.code in VERBOSE]
    found = sorted((one for one in found if verbose or one.code not in VERBOSE), key=_rank)
    refused = [one for error in failed for one in error.diagnostics]
    if refused:
        shape = "json" if format == "json" else reporter.settings.diagnostics
        Reporter(replace(reporter.settings, diagnostics=shape)).report(refused)
    if not is_diff:
        print_findings(reporter, found, refused, format, len(left_out), checker.fixes, checker.fixable)
    if failed:
        return max(error.exit_code for error in failed)
    return _FINDINGS if any(strict or one.level != "note" for one in found) else 0


class _PackChecker:
    """Checks and fixes packs.

    `fixable` is the number of findings that `--fix` would fix. `fixes` has their changes, if they are requested.
    """

    def __init__(
        self,
        reporter: Reporter,
        stores: Mapping[str, str] | None,
        model: Sequence[str],
        models: str | None,
        *,
        is_cached: bool,
        is_alone: bool,
    ) -> None:
        """Create a checker. If there are several packs, each receives only the URLs of its own stores."""
        self._reporter, self._stores, self._model, self._models = reporter, stores, model, models
        self._is_cached, self._is_alone = is_cached, is_alone
        self.fixable = 0
        self.fixes: dict[Diagnostic, Any] = {}

    def find(self, path: str, *, with_edits: bool) -> Sequence[Diagnostic]:
        """Return the findings on the pack at a path.

        Cached findings are returned if nothing that the check looked at has changed. Stores and indexes are read each time.
        """
        cache = open_cache() if self._is_cached and self._stores is None else None
        if cache is None:
            found: Sequence[Diagnostic] = self._load(path)
        else:
            kept = KeptFindings(cache, path, "\0".join((describe_maker().hex(), self._models or "", *self._model)))
            known = kept.find()
            found = known if known is not None else kept.keep(lambda: self._load(path))
        if any(one.removable is not None for one in found):
            from promptc.workshop import mend

            self.fixable += mend.count_fixable(path, found)
            self.fixes.update((one.found, one) for one in (mend.list_fixes(path, found) if with_edits else ()))
        return found

    def fix(self, path: str, *, is_dry: bool) -> Sequence[Diagnostic]:
        """Fix the pack at a path, or show the changes, and return the findings that are left."""
        from promptc.workshop.mend import fix_pack

        fixed = fix_pack(path, self._check, self._models)
        if fixed.mended and is_dry:
            show_text(render_diff(fixed.file, fixed.before, fixed.after, "fixed"))
        elif fixed.mended:
            fixed.write()
        done = "would fix" if is_dry else "fixed"
        self._reporter.say("".join(f"{done} {escape_controls(str(one))}\n" for one in fixed.mended))
        self._reporter.report([fixed.refused] if fixed.refused is not None else [])
        return fixed.left

    def _load(self, path: str) -> Sequence[Diagnostic]:
        from promptc.cli.request import load_pack

        return self._check(load_pack(path, self._models))

    def _check(self, loaded: Any) -> Sequence[Diagnostic]:
        stores = self._stores
        if stores is not None and not self._is_alone:
            names = {one.name for one in loaded.model.stores}
            stores = {name: url for name, url in stores.items() if name in names}
        found: Sequence[Diagnostic] = loaded.check(stores, models=self._model)
        return found


def _rank(found: Diagnostic) -> int:
    return [level for level, *_ in _NOUNS].index(found.level)


def print_findings(
    reporter: Reporter,
    found: Sequence[Diagnostic],
    refused: Sequence[Diagnostic],
    format: str,
    left_out: int = 0,
    fixes: Mapping[Diagnostic, Any] = MappingProxyType({}),
    fixable: int = 0,
) -> None:
    """Print the findings in a format.

    If nothing could be checked (all findings are in `refused`), only `sarif` and `github` print something: they also show `refused`. Of
    `left_out` notes and `fixable` findings, the text only says how many there are. `fixes` are the changes for JSON and SARIF.
    """
    shown = [one for one in found if one.level == "error" or not reporter.settings.is_quiet]
    if format in _SHAPES:
        text = _render(format, [*refused, *shown], fixes)
    elif refused and not found and not left_out:
        return
    elif format == "json":
        text = show_json([describe_diagnostic(one) | ({"fix": as_plain(fixes[one].change)} if one in fixes else {}) for one in shown])
    else:
        show_text(reporter.render(shown) + ("" if reporter.settings.is_quiet else _sum_up(found, left_out, fixable)))
        return
    write_stdout(text.encode("utf-8", "backslashreplace"))


def _render(format: str, found: Sequence[Diagnostic], fixes: Mapping[Diagnostic, Any]) -> str:
    """Return the findings for a service that shows them at their lines."""
    if format == "sarif":
        from promptc.cli.reports import render_sarif

        return render_sarif(found, fixes=fixes)
    from promptc.cli.reports import render_github

    return render_github(found)


def _sum_up(found: Sequence[Diagnostic], left_out: int, fixable: int) -> str:
    counts = [(sum(1 for one in found if one.level == level), noun) for level, noun in _NOUNS]
    text = ", ".join(show_plural(count, noun) for count, noun in counts if count) or "nothing found"
    more = f"; {show_plural(left_out, 'more note')} with --verbose" if left_out else ""
    mended = f"{show_plural(fixable, 'finding')} can be fixed with --fix\n" if fixable else ""
    return f"{text}{more}\n{mended}"


def list_packs(paths: Sequence[str]) -> list[str]:
    """Return the packs in the order of the paths, each once.

    A folder without a `pack.yaml` is replaced by all folders in it that have one, sorted; hidden folders are skipped. A folder without any
    pack stays in the list, so that loading it reports what is wrong.
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


# --- fmt ---


@click.command(
    "fmt",
    cls=Command,
    examples=[
        ("Lay out the files of the pack in this folder", "promptc fmt"),
        ("Lay out one file", "promptc fmt packs/sentinel/pack.yaml"),
        ("Name the files that are not laid out, in CI", "promptc fmt --check packs fixtures"),
        ("See what would change", "promptc fmt --diff packs/sentinel"),
        ("Lay out what an editor pipes in", "promptc fmt - < pack.yaml"),
    ],
)
@FILES_OR_HERE
@click.option("--check", "is_check", is_flag=True, help="Write nothing: name the files that would change, and exit with 1.")
@click.option("--diff", "is_diff", is_flag=True, help="Write nothing: print what would change.")
@click.pass_obj
def fmt_command(reporter: Reporter, files: tuple[str, ...], is_check: bool, is_diff: bool) -> int:
    """Lay out YAML files: spaces, line ends and empty lines. Values and comments stay, and so do quotes, indents and the order of keys.

    Of a folder that is every YAML file in it. `-` reads standard input and prints the result. A file that promptc cannot read is left as
    it is.

    Exit codes: 0 all is laid out, 1 a file would change (with `--check`), 3 a file cannot be laid out, 4 it cannot be read or written.
    """
    from promptc.cli.request import read_bytes
    from promptc.files.atomic import write_file
    from promptc.frontend.yaml import MAX_BYTES
    from promptc.workshop.layout import format_yaml

    changed: list[str] = []
    failed: list[PromptcError] = []
    for file in (named := list_files(files)):
        try:
            before = read_bytes(file, "the file", limit=MAX_BYTES)
            after = format_yaml(before, "stdin" if file == STDIN else file)
            if file == STDIN and not (is_check or is_diff):
                write_stdout(after)
            if after == before:
                continue
            changed.append(file)
            if is_diff:
                show_text(render_diff(file, before, after, "laid out"))
            elif is_check or file == STDIN:
                continue
            else:
                write_file(file, after)
        except PromptcError as wrong:
            failed.append(wrong)
    reporter.report(one for wrong in failed for one in wrong.diagnostics)
    reporter.say(_sum_up_files(named, changed, is_dry=is_check or is_diff))
    if failed:
        return max(wrong.exit_code for wrong in failed)
    return _FINDINGS if changed and is_check else 0


def list_files(paths: Sequence[str]) -> list[str]:
    """Return the named files, each once. A folder is replaced by all YAML files in it, sorted.

    Hidden files and folders and links in a folder are skipped.
    """
    return list(dict.fromkeys(file for path in paths for file in _list_inside(path)))


def _list_inside(path: str) -> list[str]:
    folder = Path(path)
    return [str(one) for one in _iter_files(folder)] if path != STDIN and folder.is_dir() else [path]


def _iter_files(folder: Path) -> Iterator[Path]:
    for one in sorted(folder.iterdir()):
        if one.name.startswith(".") or one.is_symlink():
            continue
        if one.is_dir():
            yield from _iter_files(one)
        elif one.suffix in _ENDINGS and one.is_file():
            yield one


def render_diff(file: str, before: bytes, after: bytes, done: str) -> str:
    """Return the changes of a file that was not written. `done` names the change, such as `fixed`."""
    old, new = (data.decode(errors="replace").split("\n") for data in (before, after))
    name = escape_controls(file)
    return "".join(f"{escape_controls(line)}\n" for line in (f"--- {name}", f"+++ {name} ({done})", *diff_lines(old, new)))


def _sum_up_files(files: Sequence[str], changed: Sequence[str], *, is_dry: bool) -> str:
    if files == [STDIN] and not is_dry:
        return ""
    named = "".join(f"{'would lay out' if is_dry else 'laid out'} {escape_controls(file)}\n" for file in changed)
    return f"{named}{show_plural(len(files), 'file')}, {len(changed)} {'would change' if is_dry else 'changed'}\n"
