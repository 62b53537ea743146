"""`promptc diff`: compares two prompts, which are files, or made from two packs or two states, or from a git revision."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from functools import partial
from pathlib import Path

import click

from promptc.api import Pack
from promptc.cli.group import Command, read_count, take, take_request
from promptc.cli.options import NO_CACHE, RenderRequest
from promptc.cli.request import compile_request, load_state_file, open_pack, read_bytes, read_first
from promptc.cli.terminal import STDIN, Reporter, read_stdin, read_width
from promptc.cli.views.difference import STYLES, DifferenceStyle, render_difference, render_stat
from promptc.cli.views.drawing import Page
from promptc.compare import Side, compare_sides, is_messages, read_json, read_report, read_side
from promptc.diag.findings import Diagnostic, DiskError, FitError, UsageError, shorten, show_reason
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.golden.cases.case import name_golden, read_golden_name
from promptc.golden.cases.confine import is_inside
from promptc.golden.git import PARTIAL, GitError, TreeEntry, find_repository, list_entries, read_blobs, read_tree, run_git
from promptc.model.state import State
from promptc.pipeline import Prompt, read_output

_DIFFERENT = 1
_HELP = "compare two packs with `--state`, two states with `--pack`, or a pack with itself: `--try sections.recent.budget=900`"
Kind = Literal["pack", "state", "prompt"]
_MOST = 1 << 30
_LINK = "120000"
_BEGINNING = 4096
_MAPPING = re.compile(rb"\s*\{")


@click.command(
    "diff",
    cls=Command,
    examples=[
        ("See what your edit of a pack changes", "promptc diff HEAD:packs/sentinel packs/sentinel --state state.json"),
        ("Compare two turns", "promptc diff turn1.json turn2.json --pack packs/sentinel"),
        ("Compare two prompts in files", "promptc diff small.txt large.txt"),
        ("Compare an old prompt with the one of now", "promptc render packs/x state.json | promptc diff before.txt -"),
        ("Print only the figures, for several states", "promptc diff HEAD~1:packs/x packs/x --state a.json --state b.json --stat"),
        ("See what an edit would change, without making it", "promptc diff packs/x state.json --try sections.recent.budget=900"),
    ],
)
@click.argument("old", metavar="A", type=click.Path(allow_dash=True))
@click.argument("new", metavar="B", type=click.Path(allow_dash=True))
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    type=click.Path(),
    help="The state for comparing two packs. Repeat it for more states.",
)
@click.option("--pack", metavar="PACK", type=click.Path(), help="The pack for comparing two states.")
@click.option("--stat", is_flag=True, help="Print only the figures of each section.")
@click.option("--style", type=click.Choice(STYLES), default="words", help="How to show changes. [words]")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--width", callback=read_count, metavar="N", help="The width in columns. [the terminal, else 80]")
@take_request
@take(NO_CACHE)
@click.pass_obj
def diff_command(
    reporter: Reporter,
    old: str,
    new: str,
    request: RenderRequest,
    states: tuple[str, ...],
    pack: str | None,
    stat: bool,
    style: DifferenceStyle,
    as_json: bool,
    width: int | None,
    no_cache: bool,
) -> int:
    """Compare two prompts: by section, by item and by word.

    A and B are two packs (add `--state`), two states (add `--pack`), or two prompts in files. REV:PATH reads a path from a git revision,
    for example HEAD:packs/tavern. `-` reads a state or a prompt from standard input.

    With `--try`, A and B may be a pack and a state: the pack as it is and the pack with what is tried are compared. Of two packs, only B is
    tried. Two states are both rendered with what is tried.

    Exit codes: 0 equal, 1 different, 2 or more for an error.
    """
    page = Page(as_json, width or read_width(), reporter.choose_paint(sys.stdout))
    if [old, new, *states].count(STDIN) > 1:
        raise UsageError([Diagnostic("PC0740", "standard input can be read once", help="name a file in place of one `-`")])
    piped, names = None, dict[str, str]()
    with ExitStack() as stack:
        sides = (make_compared(old, stack), make_compared(new, stack))
        if request.tries and {side.kind for side in sides} == {"pack", "state"}:
            tried, state = sides if sides[0].kind == "pack" else sides[::-1]
            there = str(Path(state.root or "", state.path))
            sides, states, piped = (tried, tried), (there, *states), state.content
            names[there] = state.name
        others = _list_others(sides, states, pack)
        if request.tries and all(side.kind == "prompt" for side in sides):
            raise UsageError([Diagnostic("PC0741", "two prompts are compared as they are, so there is nothing to try", help=_HELP)])
        piped = read_stdin() if STDIN in others and piped is None else piped
        are_packs = all(side.kind == "pack" for side in sides)
        asked = (replace(request, tries=()) if are_packs else request, request)
        read = partial(read_compared, reporter, is_cached=not no_cache)
        found = {other: compare_sides(*(read(side, other, one, piped) for side, one in zip(sides, asked, strict=True))) for other in others}
    for other, difference in found.items():
        if len(found) > 1 and not as_json:
            page.show(names.get(other, other), lambda name, _, paint: paint.apply(f"== {name} ==\n", "bold"))
        page.show(difference, render_stat if stat else partial(render_difference, style=style))
    return _DIFFERENT if any(not one.is_empty for one in found.values()) else 0


def _list_others(sides: tuple[Compared, Compared], states: tuple[str, ...], pack: str | None) -> list[str]:
    """Return what the sides are rendered with: states for packs, a pack for states.

    Two prompts need nothing, which is a list with an empty name. Raises `UsageError` (PC0741) if the sides do not go together.
    """
    kinds = {side.kind for side in sides} - {"prompt"}
    if kinds == {"pack", "state"}:
        raise UsageError([Diagnostic("PC0741", f"`{sides[0].name}` is a {sides[0].kind}, `{sides[1].name}` a {sides[1].kind}", help=_HELP)])
    if "pack" in kinds and not states:
        raise UsageError(
            [Diagnostic("PC0741", "two packs are compared by the prompts that they make of a state", help="add `--state STATE`")]
        )
    if "state" in kinds and pack is None:
        raise UsageError(
            [Diagnostic("PC0741", "two states are compared by the prompts that a pack makes of them", help="add `--pack PACK`")]
        )
    return list(dict.fromkeys(states)) if "pack" in kinds else [pack or ""]


@frozen
class Compared:
    """One side of the comparison.

    `name` is the name on the command line. `path` is its path in the folder `root` (None for the working folder). `content` is the
    content of standard input, if the side is read from there.
    """

    name: str
    kind: Kind
    path: str
    root: Path | None = None
    content: bytes | None = None


def make_compared(name: str, stack: ExitStack) -> Compared:
    """Return the side for `name`. The files of a revision exist until `stack` is closed.

    Raises `UsageError` (PC0740) for a path that cannot be compared, and `DiskError` (PC0742) for a revision or a path that does not exist.
    """
    if name == STDIN:
        content = read_stdin()
        return Compared("standard input", "state" if isinstance(read_json(content), dict) else "prompt", name, content=content)
    revision, colon, path = name.partition(":")
    if not colon or path.startswith(("/", "\\")) or Path(name).exists():  # the path in a revision is relative; `C:\x` is no revision
        return Compared(name, _choose_kind(name, Path(name)), name)
    root = stack.enter_context(extract_revision(revision))
    if ".." in Path(path).parts or not (root / path).exists():
        raise DiskError([Diagnostic("PC0742", f"`{revision}` has no `{path}`", help="write the path from the root of the repository")])
    return Compared(name, _choose_kind(name, root / path), path, root)


def read_compared(
    reporter: Reporter, one: Compared, other: str, request: RenderRequest, piped: bytes | None = None, *, is_cached: bool = False
) -> Side:
    """Return the prompt of a side. `other` is the state for a pack, or the pack for a state.

    `piped` is the content of standard input, if `other` is read from there. A state or a pack is looked up in a revision only if it is
    named with that revision. Results from a revision are not cached. Raises `FitError` if the content does not fit.
    """
    if one.kind == "prompt":
        return _read_text(one.content) if one.content is not None else _read_prompt(Path(one.root or "", one.path))
    given = str(Path(other).absolute()) if one.root is not None and Path(other).exists() else other
    with chdir(one.root or "."):
        pack, state = (one.path, given) if one.kind == "pack" else (given, one.path)
        with open_pack(reporter, pack, request, is_cached=is_cached and one.root is None) as loaded:
            outcome = compile_request(
                loaded, _load_state(loaded, state, request, one.content if one.content is not None else piped), request
            )
    if outcome.emitted is None:
        raise FitError(outcome.errors, outcome.report)
    return read_side(read_output(Prompt(outcome)), outcome.account)


def _load_state(pack: Pack, name: str, request: RenderRequest, piped: bytes | None) -> State:
    """Load a state. Standard input is read only once, even if several packs need it."""
    if name == STDIN and piped is not None:
        return pack.load_state(piped, "stdin", changes=request.changes)
    return load_state_file(pack, name, request)


def _choose_kind(name: str, path: Path) -> Kind:
    if path.is_dir() and (path / "pack.yaml").is_file():
        return "pack"
    if path.is_dir() or not path.exists():
        what = "is a folder without a pack.yaml" if path.is_dir() else "is not there"
        raise UsageError(
            [Diagnostic("PC0740", f"`{name}` {what}", help="name a pack, a state or a prompt, or REV:PATH for one of a git revision")]
        )
    if path.suffix in (".yaml", ".yml"):
        return "pack"
    if path.suffix != ".json":
        return "prompt"
    is_mapping = _MAPPING.match(read_first(str(path), "the file", size=_BEGINNING)) is not None  # the rest of a long state is not read here
    return "state" if is_mapping or _read_messages(_read(path)) is None else "prompt"


def _read(path: Path) -> bytes:
    return read_bytes(str(path), "the file", limit=_MOST)


def _read_messages(content: bytes) -> Sequence[Mapping[str, Any]] | None:
    """Return the messages of the content, or None if the content is something else."""
    value = read_json(content)
    return value if is_messages(value) and all("role" in one and "content" in one for one in value) else None


def _read_prompt(path: Path) -> Side:
    """Return a prompt, with its report if it is a golden that has one next to it."""
    report = path.with_name(name_golden("report", read_golden_name(path.name)[1]))
    known = read_report(_read(report)) if path.name.startswith("golden.") and report.is_file() else None
    content = _read(path)
    messages = _read_messages(content) if path.suffix == ".json" else None
    return read_side(messages if messages is not None else content.decode("utf-8", "replace"), known)


def _read_text(content: bytes) -> Side:
    messages = _read_messages(content)
    return read_side(messages if messages is not None else content.decode("utf-8", "replace"), None)


@contextmanager
def extract_revision(revision: str) -> Iterator[Path]:
    """Yield a temporary folder with the files of the repository around the working folder, as committed at `revision`.

    Links out of the repository, files longer than any that promptc reads, and files that git does not have locally are left out: nothing is
    fetched. Raises `DiskError` (PC0742) if git, the repository or the revision is missing.
    """
    with tempfile.TemporaryDirectory(prefix="promptc-") as folder:
        try:
            here = os.getcwd()  # noqa: PTH109
            found = list_entries(here, _read_tree(here, revision))
            if found and all(one.size < 0 for one in found.values()):
                raise GitError("its files are not all here", help=PARTIAL)
            kept = {path: one for path, one in found.items() if is_inside(path) and 0 <= one.size <= MAX_STATE_BYTES}
            _write_files(Path(folder), kept, read_blobs(here, [one.identity for one in kept.values()]))
        except (GitError, OSError, ValueError) as wrong:
            why, help = show_reason(wrong), getattr(wrong, "help", "")
            message = f"the files of the revision `{shorten(revision)}` cannot be written out: {why}"
            raise DiskError([Diagnostic("PC0742", message, help=help)]) from wrong
        yield Path(folder)


def _read_tree(here: str, revision: str) -> str:
    """Return the name of the tree of a revision. Raises `DiskError` (PC0742)."""
    if find_repository(os.path.realpath(here)) is None:
        help = "change to a folder of the repository, or name two packs"
        raise DiskError([Diagnostic("PC0742", "the current folder is in no git repository", help=help)])
    try:
        return read_tree(here, revision)
    except GitError as wrong:
        shown = shorten(revision)
        why = (
            f"git is not asked for the revision `{shown}`: {wrong}"
            if wrong.help or wrong.is_missing
            else f"git knows no revision `{shown}` here"
        )
        help = "install git" if wrong.is_missing else wrong.help or "run `git log` inside the repository to see its revisions"
        raise DiskError([Diagnostic("PC0742", why, help=help)]) from wrong


def _write_files(root: Path, entries: dict[str, TreeEntry], contents: Iterator[bytes | None]) -> None:
    """Write the files, then the links, so that nothing is written through a link. Links out of `root` are left out."""
    links: dict[Path, bytes] = {}
    for (path, entry), content in zip(entries.items(), contents, strict=True):
        target = root / path
        if content is None:
            continue
        if entry.mode == _LINK:
            links[target] = content
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for target, content in links.items():
        to = os.fsdecode(content)
        is_in = not Path(to).is_absolute() and os.path.normpath(target.parent / to).startswith(f"{root}{os.sep}")
        if is_in and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(to)


def extract_pack(rev: str, pack: str, stack: ExitStack) -> str:
    """Return the path of the pack as it was, in a folder that exists until `stack` is closed.

    Raises `DiskError` (PC0742) if the revision does not have the pack.
    """
    root = stack.enter_context(extract_revision(rev))
    here = run_git(os.getcwd(), "rev-parse", "--show-prefix").decode().strip()  # noqa: PTH109
    path = os.path.normpath(Path(here, os.path.relpath(pack)))
    if not is_inside(path) or not (root / path).exists():
        raise DiskError([Diagnostic("PC0742", f"`{rev}` has no `{path}`", help="name a pack that the revision has")])
    return str(root / path)
