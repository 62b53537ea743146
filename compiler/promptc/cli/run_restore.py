"""What `promptc apply PACK --restore STATE [ARCHIVE...]` does."""

import os
from collections.abc import Sequence
from pathlib import Path

from promptc.api import Pack
from promptc.cli.apply_asked import STDIN, ApplyAsked
from promptc.cli.read_bytes import read_bytes
from promptc.cli.reporter import Reporter
from promptc.cli.run_apply import name_state
from promptc.cli.views.figures import show_plural
from promptc.cli.write_change import name_file, show_path, tell_change, write_change
from promptc.diag.findings import Diagnostic, UsageError
from promptc.files.reading import follow_link
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.operations.archive import list_archives, name_source, read_archive
from promptc.operations.restore import NO_NOTE, make_restoration, read_note
from promptc.operations.results import Archived, StateDiff
from promptc.operations.state_file import check_expected, find_archives


def run_restore(reporter: Reporter, asked: ApplyAsked, names: Sequence[str]) -> int:
    """Puts back what the archives hold, those named or all of the state's; the exit code. Raises `PromptcError`."""
    pack = Pack.load(asked.pack)
    raw = read_bytes(asked.state, "the state", limit=MAX_STATE_BYTES)
    check_expected(asked.expected, pack.load_state(raw, name_state(asked)).digest, name_state(asked))
    paths = _sort([Path(follow_link(name)) for name in names]) if names else list_archives(_find_folder(asked))
    archives = [(path, read_archive(path)) for path in paths]
    own = archives if names else [(path, one) for path, one in archives if _is_of(one, pack, asked)]
    reporter.report([_warn(path, one, pack) for path, one in own if one.pack != pack.name])
    counts: tuple[int, ...] = ()
    stuck: tuple[int, ...] = ()

    def make(read: bytes, _file: str) -> StateDiff:
        nonlocal counts, stuck
        check_expected(asked.expected, pack.load_state(read, name_state(asked)).digest, name_state(asked))
        note = NO_NOTE if asked.state == STDIN else read_note(Path(os.path.realpath(asked.state)), read)
        files = [path.name for path, _ in own]
        change, counts = make_restoration(pack, read, [one for _, one in own], name=name_state(asked), note=note, files=files)
        stuck = change.stuck
        return change

    rewritten = write_change(asked, raw, make, purpose="restore")
    for (path, one), count in zip(own, counts, strict=True):
        if count:
            told = f"{'the value' if one.replaced else show_plural(count, 'element')} put back at {one.pointer}"
            reporter.say(f"{show_path(path)}: {told}\n" if not asked.is_dry else "")
    reporter.report([_warn_stuck(*own[at]) for at in stuck])
    if len(own) < len(archives):
        reporter.say(f"{show_plural(len(archives) - len(own), 'archive')} of other states left; name them to restore them\n")
    tell_change(reporter, asked, rewritten)
    return 0


def _is_of(archived: Archived, pack: Pack, asked: ApplyAsked) -> bool:
    """Several states may share a folder."""
    source = "" if asked.state == STDIN else os.path.basename(os.path.realpath(asked.state))  # noqa: PTH119  as `rewrite_state` names it
    return archived.pack == pack.name and archived.file in map(name_source, (source, name_file(asked)))


def _warn(path: Path, archived: Archived, pack: Pack) -> Diagnostic:
    message = f"the archive `{show_path(path)}` is of the pack `{archived.pack}`, not `{pack.name}`"
    return Diagnostic("PC0834", message, help="restore it with its own pack, unless you mean this", level="warn")


def _warn_stuck(path: Path, archived: Archived) -> Diagnostic:
    message = f"`{show_path(path)}` is not put back: `{archived.pointer}` holds something else than `{archived.operation}` left there"
    help = "restore the later archives of it first, or take the value out of the file by hand"
    return Diagnostic("PC0840", message, help=help, level="warn")


def _find_folder(asked: ApplyAsked) -> Path:
    if asked.archive is not None:
        return asked.archive
    if asked.state == STDIN:
        message = "a state from standard input has no archives beside it"
        raise UsageError([Diagnostic("PC0827", message, help="name the archives, or their folder: `--archive DIR`")])
    return find_archives(Path(os.path.realpath(asked.state)))


def _sort(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The newest first, where the system knows; each once."""
    known = {path.resolve(): path for path in paths}
    return tuple(sorted(known.values(), key=lambda path: (-_find_time(path), str(path))))


def _find_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0
