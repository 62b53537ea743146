"""The work of `promptc render` after its command line is parsed, shared by other commands that render.

`run_render` prints the prompt. `open_pack`, `load_state_file` and `compile_request` are its steps. `read_bytes` reads any file that is
named on a command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from promptc.api import Pack
from promptc.cache import Cache, open_cache
from promptc.cli.options import RenderCommand, RenderRequest
from promptc.cli.terminal import STDIN, Reporter, read_stdin, show_json, write_stdout
from promptc.diag.findings import Diagnostic, DiskError, UsageError, join_names, show_reason, suggest
from promptc.diag.typed import Any
from promptc.files.reading import Look, name_look, note_looks, read_beginning, read_given
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.model.messages import CHAT, PROVIDERS
from promptc.model.stages import Selected
from promptc.model.state import State
from promptc.pipeline import Outcome, Prompt

DOES_NOT_FIT = 3
"""The exit code of a render whose content cannot be brought within its budget."""


def run_render(reporter: Reporter, given: RenderCommand) -> int:
    """Print the prompt and return the exit code.

    Raises `PromptcError`, and `UsageError` (PC0708) if options contradict each other.
    """
    if given.request.format in (CHAT, *PROVIDERS) and given.only:
        whole = "one whole text" if given.request.format == CHAT else "a whole request body"
        help = "use `--format text` or `--format messages` with `--only`"
        raise UsageError(
            [Diagnostic("PC0708", f"`--only` prints sections, but `--format {given.request.format}` makes {whole}", help=help)]
        )
    note: Callable[[Callable[[], Any]], tuple[Any, Sequence[Look]]] = note_looks if given.writes_files else lambda work: (work(), ())
    pack, looks = note(lambda: open_pack(reporter, given.pack, given.request, is_cached=given.is_cached))
    with pack:
        outcome, more = note(lambda: compile_request(pack, load_state_file(pack, given.state, given.request), given.request))
        check_apart({"-o": given.output, "--report": given.report, "--redactions": given.redactions}, (*looks, *more))
        return _print(reporter, outcome, given)


def check_apart(written: Mapping[str, str | None], looks: Sequence[Look]) -> None:
    """Raise `UsageError` (PC0720) if an option names a file to write that was read, or that another option names, too."""
    if not any(written.values()):
        return
    from pathlib import Path

    from promptc.files.paths import resolve_path

    read = [Path(name_look(one)) for one in looks if one[0]]
    named: dict[Path, str] = {}
    for option, name in written.items():
        if name is None or (Path(name).exists() and not Path(name).is_file()):
            continue
        path = resolve_path(name)
        other = f"the file of `{named[path]}`" if path in named else "a file that is read"
        if path in named or any(one.exists() and one.samefile(path) for one in read if path.exists()):
            message = f"`{option} {name}` writes to `{name}`, which is {other}, too"
            raise UsageError([Diagnostic("PC0720", message, help=f"name another file after `{option}`")])
        named[path] = option


def _print(reporter: Reporter, outcome: Outcome, given: RenderCommand) -> int:
    data, said = _encode(Prompt(outcome), given) if outcome.emitted is not None else (b"", ())
    if given.report is not None:
        _write_report(given.report, outcome, (outcome.kept or {}) if given.counts_kept else None)
    if outcome.emitted is None:
        return _tell_what_is_missing(reporter, outcome)
    if given.redactions is not None:
        from promptc.files.atomic import write_file

        write_file(given.redactions, show_json(outcome.redactions).encode(), mode=0o600)
    if given.output is not None:
        from promptc.files.atomic import write_file

        write_file(given.output, data)
    else:
        write_stdout(data)
    reporter.report((*outcome.warnings, *said))
    if given.only and not data.strip(b"[]\n"):
        reporter.say(f"nothing of {join_names(given.only)} is in the prompt; `promptc explain ... --why {given.only[0]}` says why\n")
    return 0


def _encode(prompt: Prompt, given: RenderCommand) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """Return the bytes to print (the whole prompt, some sections, or a request body) and the warnings from making them."""
    if prompt.provider == CHAT:
        return prompt.text.encode(), ()
    if prompt.format == "text":
        return (prompt.read_sections(*given.only) if given.only else prompt.text).encode(), ()
    if prompt.provider is None:
        return show_json(prompt.list_messages(*given.only) if given.only else prompt.messages).encode(), ()
    payload = prompt.build_payload(prompt.provider)
    return show_json(payload.body).encode(), payload.warnings


def _write_report(path: str, outcome: Outcome, kept: Mapping[str, Any] | None) -> None:
    from promptc.files.atomic import write_file
    from promptc.text.json import render_canonical_json

    counted = {"kept": dict(kept)} if kept is not None else {}
    write_file(path, f"{render_canonical_json({**outcome.report, **counted})}\n".encode())


def _tell_what_is_missing(reporter: Reporter, outcome: Outcome) -> int:
    from promptc.cli.views.meter import render_meter

    reporter.report((*outcome.warnings, *outcome.errors))
    reporter.say("\n" + render_meter(outcome))
    return DOES_NOT_FIT


_OPENED: list[dict[tuple[Any, ...], Pack]] = []


def reuse_packs(work: Callable[[], int]) -> int:
    """Call `work` and return its result. A pack that `work` opens again is reloaded, which does not redo the work for unchanged files."""
    _OPENED.append({})
    try:
        return work()
    finally:
        _OPENED.pop()


def load_pack(path: str, models: str | None, tries: tuple[tuple[str, str], ...] = (), cache: Cache | None = None) -> Pack:
    """Load a pack as `Pack.load` does, or reload it inside `reuse_packs`."""
    key, opened = (path, models, tries), _OPENED[-1] if _OPENED else {}
    known = opened.get(key)
    opened[key] = Pack.load(path, cache, models=models, tries=tries) if known is None else known.reload()
    return opened[key]


def open_pack(reporter: Reporter, path: str, request: RenderRequest, *, is_cached: bool = False) -> Pack:
    """Open the pack at `path`, from the user's cache if that is allowed and has the pack.

    Use the pack in a `with` block, which caches new results. A pack with tried values is compiled anew, with the counts kept, and remarks
    on it are reported.
    """
    pack = load_pack(path, request.models, request.tries, open_cache() if is_cached else None)
    if request.tries:
        reporter.report(pack.model.remarks)
    return pack


def load_state_file(pack: Pack, name: str, request: RenderRequest) -> State:
    """Load the state in the file `name` (`-` for standard input) with the changes of `--set`.

    Raises `DiskError` (PC0724) if the file cannot be read.
    """
    shown = "stdin" if name == STDIN else name
    return pack.load_state(_read(name, f"the state `{name}`", "a JSON file", MAX_STATE_BYTES, read_given), shown, changes=request.changes)


def compile_request(
    pack: Pack, state: State, request: RenderRequest, *, without: tuple[str, ...] = (), budget: int | None = None
) -> Outcome:
    """Render a request; `budget` overrides its budget."""
    asked = request.options
    return pack.compile(state, **(asked | {"budget": budget} if budget is not None else asked), without=without)


def load_selected(outcome: Outcome, name: str) -> Selected:
    """Return the selected section with that id. Raises `UsageError` (PC0704) if the pack has no such section."""
    selection = outcome.fitted.strained.selection
    found = selection.find_selected(name)
    if found is None:
        holder = next((one.section.id for one in selection.sections if any(item.id == name for item in one.items)), None)
        known = [one.section.id for one in selection.sections]
        help = f"an item is named with its section: `{holder}/{name}`" if holder is not None else suggest(name, known)
        raise UsageError([Diagnostic("PC0704", f"the pack has no section `{name}`", help=help)])
    return found


def read_bytes(name: str, what: str, *, limit: int) -> bytes:
    """Read the file `name`, or standard input for `-`.

    `what` is the file's role in messages, such as `the state`. Raises `DiskError` (PC0724) if the file cannot be read or has more than
    `limit` bytes.
    """
    return _read(name, f"{what} {name}", "a file that is there", limit, read_given)


def read_first(name: str, what: str, *, size: int) -> bytes:
    """Read the first `size` bytes of a file, or all of standard input for `-`.

    A longer file is not an error. Raises `DiskError` (PC0724) if the file cannot be read.
    """
    return _read(name, f"{what} {name}", "a file that is there", size, read_beginning)


def _read(name: str, shown: str, due: str, bound: int, read: Callable[[str, int], bytes]) -> bytes:
    if name == STDIN:
        return read_stdin()
    try:
        return read(name, bound)
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        help = f"name {due}, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read {shown}: {reason}", help=help)]) from wrong
