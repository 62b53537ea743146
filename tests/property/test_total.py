"""Total: any bytes as pack or state give a prompt or findings with their places; never another exception, never a hang."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

import promptc
from promptc.diag.findings import PromptcError
from tests.property.drawing.draws import draw_any
from tests.property.drawing.mutations import mutate, mutate_bytes, render_json
from tests.property.drawing.steps import TEMPLATES
from tests.property.load_drawn import render_yaml
from tests.property.proof import Proof, Tally

_SECONDS = 20
_SCHEMA = {
    "type": "object",
    "properties": {
        "first": {
            "type": "array",
            "items": {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer", "default": 3}}},
        },
        "on": {"type": "boolean", "default": True},
        "depth": {"type": "integer", "minimum": 0},
        "texts": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    """A hang is a failure too: so much processor time, however busy the machine is."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"it takes more than {seconds} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _try(folder: Path, manifest: bytes, state: bytes, tally: Tally) -> None:
    """A prompt, or an error that names a place for every finding of content."""
    for name, text in TEMPLATES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pack.yaml").write_bytes(manifest)
    (folder / "state.schema.json").write_text(json.dumps(_SCHEMA), encoding="utf-8")
    try:
        with _within(_SECONDS):
            pack = promptc.load(folder)
            tally["packs that load"] += 1
            loaded = pack.load_state(state)
            tally["states that load"] += 1
            for total in (None, 40):
                outcome = pack.compile(loaded, budget=total)
                json.dumps(outcome.report)
                tally["prompts"] += outcome.emitted is not None
                _check_findings(outcome.errors)
    except PromptcError as error:
        tally["errors"] += 1
        _check_findings(error.diagnostics)


def _check_findings(found: Any) -> None:
    for one in found:
        assert one.code.startswith("PC"), one
        assert one.message.strip(), one
        assert one.span is not None and one.span.line >= 1 and one.span.column >= 1, one


def _prove(proof: Proof, name: str, folder: Path, draw: Callable[[Random], tuple[bytes, bytes]], count: int) -> None:
    tally = proof.figures.setdefault(name, Tally())
    for index in range(proof.share(count)):
        seed = f"{proof.seed}/{name}/{index}"
        manifest, state = draw(Random(seed))
        tally["draws"] += 1
        try:
            _try(folder, manifest, state, tally)
        except Exception as error:
            error.add_note(f"{seed}\npack:  {manifest!r}\nstate: {state!r}")
            raise


def _draw(rng: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    drawn = draw_any(rng)
    return {**drawn.manifest, "state": {"schema": "state.schema.json"}}, drawn.state


# contract 11.13
def test_manifests_nobody_means(proof: Proof, tmp_path: Path) -> None:
    def draw(rng: Random) -> tuple[bytes, bytes]:
        manifest, state = _draw(rng)
        return render_yaml(mutate(manifest, rng)).encode(), render_json(state)

    _prove(proof, "any manifest", tmp_path, draw, 4000)


# contract 11.13
def test_manifests_of_flipped_bytes(proof: Proof, tmp_path: Path) -> None:
    def draw(rng: Random) -> tuple[bytes, bytes]:
        manifest, state = _draw(rng)
        return mutate_bytes(render_yaml(manifest).encode(), rng), render_json(state)

    _prove(proof, "any bytes as a pack", tmp_path, draw, 2000)


# contract 11.13
@pytest.mark.parametrize("kind", ["values", "bytes"])
def test_states_nobody_means(proof: Proof, tmp_path: Path, kind: str) -> None:
    def draw(rng: Random) -> tuple[bytes, bytes]:
        manifest, state = _draw(rng)
        changed = render_json(mutate(state, rng)) if kind == "values" else mutate_bytes(render_json(state), rng)
        if rng.random() < 0.6:
            del manifest["state"]
        return render_yaml(manifest).encode(), changed

    _prove(proof, f"any state ({kind})", tmp_path, draw, 2000)
