"""What `promptc apply PACK --list [STATE]` does."""

import json

from promptc.api import Pack
from promptc.cli.escape import escape_controls
from promptc.cli.read_bytes import read_bytes
from promptc.cli.terminal import write_stdout
from promptc.cli.views.drawing import render_table
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.operations.results import Listed
from promptc.operations.run import list_operations
from promptc.text.json import render_canonical_json


def run_apply_list(path: str, state: str | None, *, is_json: bool) -> int:
    """Prints the operations, and which are due where there is a state. Raises `PromptcError`."""
    pack = Pack.load(path)
    raw = read_bytes(state, "the state", limit=MAX_STATE_BYTES) if state is not None else None
    loaded = pack.load_state(raw, "stdin" if state == "-" else str(state)) if raw is not None else None
    listed = list_operations(pack, loaded)
    write_stdout((_render_json(listed, state is not None) if is_json else _render(listed, pack.name)).encode())
    return 0


def _render_json(listed: tuple[Listed, ...], is_judged: bool) -> str:
    shown = [
        {
            "name": one.name,
            "title": one.title,
            "args": dict(one.args),
            "asks": list(one.asks),
            "due": one.is_due if is_judged else None,
        }
        for one in listed
    ]
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


def _render(listed: tuple[Listed, ...], name: str) -> str:
    if not listed:
        return f"{name} has no operations\n"
    rows = []
    for one in listed:
        rows.append([one.name, "due" if one.is_due else "", escape_controls(one.title)])
        told = [f"--arg {name}={escape_controls(render_canonical_json(value))}" for name, value in one.args.items()]
        told += [f"asks {', '.join(one.asks)}"] if one.asks else []
        rows += [["", "", text] for text in told]
    return render_table(rows, most=72)
