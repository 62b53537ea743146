"""A pack that is tried with other values is the pack that is loaded with them: bytes, report, files and findings."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from promptc.api import Pack
from promptc.diag.findings import PromptcError, UsageError
from promptc.frontend.manifest import iter_numbers
from promptc.passes.memory import TurnMemory
from promptc.workshop.desk import Desk
from tests.contract.sources import ROOT
from tests.property.drawing.draws import draw_any, draw_hostile
from tests.property.drawing.packs import MODELS_FILE
from tests.property.load_drawn import Loaded, load_drawn
from tests.property.proof import Proof, Tally

_WHOLE = ("null", "{text: '{{ state }} {{'}", "[]", "{}", "nobody.md", "{text: '{{ state | length }}'}")


@pytest.mark.parametrize("draw", [draw_any, draw_hostile])
def test_a_tried_pack_is_the_pack_that_is_loaded_so(proof: Proof, draw: Any) -> None:
    tally = proof.hold(f"tried packs ({draw.__name__})", judge_tried, draw, 500)
    assert tally["prompts"] and tally["refused"]


def judge_tried(loaded: Loaded, tally: Tally) -> str | None:
    folder, rng = Path(loaded.pack.model.file).parent, Random(repr(loaded.drawn.state))
    load_drawn(loaded.drawn, folder)
    models = folder / MODELS_FILE if MODELS_FILE in loaded.drawn.files else None
    pack, before = Pack.load(folder, models=models), []
    state, memory = pack.load_state(loaded.drawn.state), TurnMemory()
    for _ in range(4):
        tries = [_draw_try(rng, pack) for _ in range(rng.randint(1, 2))]
        found = show(lambda: pack.tried(tries), loaded.drawn.state)  # noqa: B023
        wanted = show(lambda: Pack.load(folder, models=models, tries=[*before, *tries]), loaded.drawn.state)  # noqa: B023
        if found != wanted:
            return f"with {before} and {tries}: {found} is not {wanted}"
        tally["prompts" if isinstance(wanted[0], str) else "refused"] += 1
        if isinstance(wanted[0], str) and not any(path.startswith("state") for path, _ in tries):
            memory.begin_turn()
            outcome = pack.tried(tries).compile(state, memory=memory)
            assert outcome.emitted is not None
            if (outcome.emitted.text, outcome.report) != wanted[:2]:
                return f"with {before} and {tries}, after other values: {outcome.emitted.text} is not {wanted[0]}, or the reports differ"
        if wanted[0] is not PromptcError and wanted[0] is not UsageError and rng.random() < 0.5:
            pack, before = pack.tried(tries), [*before, *tries]
    return None


def test_what_an_editor_holds_is_the_pack_that_is_loaded_of_it(proof: Proof) -> None:
    """After each of several edits, with what was made before them: bytes, report, findings with their places, and files."""
    tally = proof.hold("held packs", judge_held, draw_any, 300)
    assert tally["prompts"] and tally["refused"]


def judge_held(loaded: Loaded, tally: Tally) -> str | None:
    manifest, rng, desk = Path(loaded.pack.model.file), Random(repr(loaded.drawn.state)), Desk()
    load_drawn(loaded.drawn, manifest.parent)
    text = manifest.read_text(encoding="utf-8").replace(', "', ',\n "')
    for _ in range(5):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        lines[at : at + rng.choice((0, 0, 0, 1))] = rng.choice((["# a comment"], ["", ""], []))
        edited = "\n".join(lines)
        (held,) = desk.hold(str(manifest), edited)
        found = show(lambda: held.known.pack, loaded.drawn.state) if held.load() else (PromptcError, held.findings)  # noqa: B023
        manifest.write_text(edited, encoding="utf-8", newline="\n")
        wanted = show(lambda: Pack.load(str(manifest)), loaded.drawn.state)
        manifest.write_text(text, encoding="utf-8", newline="\n")
        is_same = found == wanted or (wanted[0] is found[0] is PromptcError and set(wanted[1]) <= set(found[1]))
        if not is_same:
            return f"{edited}\n\n{found} is not {wanted}"
        tally["prompts" if isinstance(wanted[0], str) else "refused"] += 1
    return None


def _draw_try(rng: Random, pack: Pack) -> tuple[str, str]:
    """Another number where one stands, or something else in place of a section or a part of it."""
    if rng.random() < 0.6:
        path, node = rng.choice(list(iter_numbers(pack.model.manifest)))
        return path, str(rng.choice((0, 1, node.value + 1, node.value * 2, rng.randint(2, 400))))
    section, node = rng.choice(list(pack.model.manifest.value["sections"].items()))
    return f"sections.{section}.{rng.choice(list(node.value))}", rng.choice(_WHOLE)


def show(load: Any, state: Any) -> tuple[Any, ...]:
    """What comes of a pack: text or findings, the report, the findings of its check, its notes, and its files in order."""
    try:
        with load() as pack:
            outcome = pack.compile(pack.load_state(state))
            text = outcome.emitted.text if outcome.emitted is not None else outcome.errors
            return text, outcome.report, pack.check(), pack.model.remarks, pack.inputs
    except PromptcError as wrong:
        return type(wrong), wrong.diagnostics


@pytest.mark.dear
@pytest.mark.parametrize("name", sorted(one.name for one in (ROOT / "packs").iterdir()))
def test_packs_are_tried_as_they_are_loaded(name: str) -> None:
    path, state = ROOT / "packs" / name, min((ROOT / "fixtures" / name / "base").glob("*.json")).read_bytes()
    pack = Pack.load(path)
    numbers = [(path, str(node.value + 1)) for path, node in iter_numbers(pack.model.manifest)]
    for one in numbers[:: len(numbers) // 5 + 1]:
        assert show(lambda: pack.tried([one]), state) == show(lambda: Pack.load(path, tries=[one]), state), one  # noqa: B023


_LAMP = """\
promptc: 1
name: lamp
version: 1.0.0
tokenizer: chars/4
budget: 400
define: {far(n): n > 3}
sections:
  - {id: miles, text: "{{ 'far' if far(state.miles) else 'near' }}{% for _ in range(state.miles) %}.{% endfor %}"}
  - {id: page, template: page.md}
"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("define", "{far(n): n > 30}"),
        ("limits", "{parts: 3}"),
        ("limits", "{range: 5}"),
        ("sections.page.template", "other.md"),
    ],
)
def test_what_every_text_depends_on_is_tried_as_it_is_loaded(tmp_path: Path, path: str, value: str) -> None:
    (tmp_path / "pack.yaml").write_text(_LAMP, encoding="utf-8")
    for name in ("page.md", "other.md"):
        (tmp_path / name).write_text(f"This is {name}.", encoding="utf-8")
    pack, state = Pack.load(tmp_path), {"miles": 9}
    before = show(lambda: pack.tried([]), state)
    found = show(lambda: pack.tried([(path, value)]), state)
    assert found == show(lambda: Pack.load(tmp_path, tries=[(path, value)]), state) != before
    assert show(lambda: pack.tried([]), state) == before == show(lambda: Pack.load(tmp_path), state)
