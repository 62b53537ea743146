"""From the arguments of a command to a render, fitting or not."""

from promptc.api import Pack
from promptc.cache.store import open_cache
from promptc.cli.asked import RenderRequest
from promptc.cli.terminal import read_stdin
from promptc.diag.findings import Diagnostic, DiskError
from promptc.files.reading import read_given
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.model.state import State
from promptc.pipeline import Outcome

STDIN = "-"


def open_pack(path: str, *, is_cached: bool) -> Pack:
    """The pack at `path`, from the user's cache if that may be used and has it; to be used in a `with`, which keeps what is new."""
    return Pack.load(path, open_cache() if is_cached else None)


def load_state_file(pack: Pack, name: str, asked: RenderRequest) -> State:
    """The state in the file `name` (`-`: standard input) with what `--set` changes. `DiskError` (PC0724) when it cannot be read."""
    if name == STDIN:
        return pack.load_state(read_stdin(), "stdin", changes=asked.changes)
    try:
        raw = read_given(name, MAX_STATE_BYTES)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        help = "name a JSON file, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read the state `{name}`: {reason}", help=help)]) from wrong
    return pack.load_state(raw, name, changes=asked.changes)


def compile_asked(pack: Pack, state: State, asked: RenderRequest, *, without: tuple[str, ...] = (), budget: int | None = None) -> Outcome:
    """The render that was asked for; `budget` in place of the asked one."""
    return pack.compile(
        state,
        budget=budget if budget is not None else asked.budget,
        variants=asked.variants,
        patches=asked.patches,
        format=asked.format,
        without=without,
        stores=asked.stores,
    )
