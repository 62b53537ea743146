"""The check of a state: what it adds to a new process, and how its time compares to others that do the same."""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.blocks import make_transcript
from benchmarks.measure import Scale, begin, show, time_turns
from promptc.diag.findings import Span
from promptc.frontend.json import load_json
from promptc.frontend.state import StateSchema, load_state, load_state_schema

_ROOT = Path(__file__).parents[1]
_SCHEMA = _ROOT / "packs/sentinel/state.schema.json"
_TABLE = _ROOT / "fixtures/sentinel/base/table.json"
_WORDS = 90
_ROUNDS = 25
_LIMIT = 6.0

# A process gets the cached code of a schema, the schema and a state; all but the first also check, and promptc fills in defaults.
_READ = "import sys; from promptc.frontend.json import load_json; state = load_json(open(sys.argv[3], 'rb').read(), 'state.json')"
_OURS = (
    "import sys; from promptc.frontend.state import load_state; from promptc.frontend.state import StateSchema; "
    "schema = StateSchema(None, (), open(sys.argv[1], 'rb').read()); "
    "load_state(open(sys.argv[3], 'rb').read(), schema, 'state.json').digest"
)
_THEIRS = f"{_READ}; import json, jsonschema; jsonschema.Draft202012Validator(json.load(open(sys.argv[2]))).validate(state.value)"
_RUST = f"{_READ}; import json, jsonschema_rs; jsonschema_rs.validator_for(json.load(open(sys.argv[2]))).validate(state.value)"
_SCRIPTS = {"read": _READ, "ours": _OURS, "jsonschema": _THEIRS, "rust": _RUST}


def bench_state(scale: Scale) -> None:
    """Print what a check adds to a process, and its ratios to others in a process in which everything is prepared."""
    _bench_processes(scale.choose(_ROUNDS, 1))
    for size, rounds in scale.choose(((100, _ROUNDS), (10_000, 5)), ((5, 1), (6, 1))):
        _bench_checks(size, rounds)


def _bench_processes(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        code, state = Path(folder) / "code", Path(folder) / "state.json"
        code.write_bytes(_load_schema().code)
        state.write_bytes(_make_state(100))
        works = {name: partial(_run, script, code, state) for name, script in _SCRIPTS.items()}
        taken = time_turns(works, rounds, clock=_read_children)
        size = state.stat().st_size
    begin(f"State: a new process that reads a state of {size} bytes, and one that also checks it and fills it in")
    added = taken.beyond("read")
    show("reading alone", taken["read"], ".1f ms")
    show("the check and the defaults add", added["ours"], ".1f ms", at_most=_LIMIT)
    show("jsonschema adds", added["jsonschema"], ".1f ms")
    show("jsonschema-rs adds", added["rust"], ".1f ms")


def _bench_checks(size: int, rounds: int) -> None:
    import fastjsonschema
    import jsonschema
    import jsonschema_rs

    schema, document = _load_schema(), load_json(_make_state(size), "state.json")
    plain = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    works: dict[str, Callable[[], object]] = {
        "check": lambda: schema.check(document),
        "fill": lambda: schema.fill(document.value),
        "jsonschema": partial(jsonschema.Draft202012Validator(plain).is_valid, document.value),
        "rust": partial(jsonschema_rs.validator_for(plain).is_valid, document.value),
        "fastjsonschema": partial(fastjsonschema.compile(plain, use_default=False), document.value),
        "loads": partial(json.loads, document.source.text),
        "load_state": lambda: load_state(document.source.text.encode(), schema, "state.json").digest,
    }
    taken = time_turns(works, rounds)
    begin(f"State: a valid one with {size:,} blocks, in a process that has made all ready")
    show("the check", taken["check"], ".2f ms")
    show("filling in", taken["fill"], ".2f ms")
    for name, label in (("jsonschema", "jsonschema"), ("rust", "jsonschema-rs"), ("fastjsonschema", "fastjsonschema (draft 7)")):
        show(f"{label} / the check", taken.ratio(name, "check"), ".1f x", peer=label)
    show("load_state / json.loads", taken.ratio("load_state", "loads"), ".1f x")


def _load_schema() -> StateSchema:
    return load_state_schema(_SCHEMA.read_bytes(), "state.schema.json", Span("pack.yaml", 1, 1))


def _make_state(blocks: int) -> bytes:
    """Return a campaign in play with a transcript of this many blocks."""
    state = json.loads(_TABLE.read_text(encoding="utf-8"))
    state["transcript"] = make_transcript(blocks, _WORDS)
    return json.dumps(state).encode()


def _run(script: str, code: Path, state: Path) -> None:
    subprocess.run([sys.executable, "-c", script, code, _SCHEMA, state], check=True)


def _read_children() -> float:
    """Return the processor time of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
