"""The check of kinds is right: where it calls a text wrong, some valid state stops the run or prints what was left out as `None`."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import promptc
from promptc.check.texts import Scopes, iter_texts
from promptc.diag.findings import PromptcError
from promptc.model.pack import Choice, PackModel
from promptc.template.types.types import Problem
from tests.property.kinds_drawing import draw_schema, draw_state, draw_template

_DRAWS = 250
_STATES = 60
_ODD = ("takes a string", "takes a list", "takes a number", "that holds one", "or a string")
"""What makes no sense and does not stop the run: a list in capitals, a loop over a text."""


def _write(folder: Path, schema: object, template: str) -> promptc.Pack:
    head = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100000\nstate: {schema: s.json}\n"
    (folder / "s.json").write_text(json.dumps(schema), encoding="utf-8")
    (folder / "t.j2").write_text(template, encoding="utf-8")
    (folder / "pack.yaml").write_text(head + "sections: [{id: a, template: t.j2}]\n", encoding="utf-8")
    return promptc.load(folder)


def _find_problems(pack: PackModel) -> tuple[Problem, ...]:
    scopes = Scopes(pack, len)
    return tuple(one for text in iter_texts(pack, pack.load_plan(Choice()), 1) for one in scopes.infer(text).problems)


def _fails(pack: promptc.Pack, state: object) -> bool:
    try:
        pack.compile(state)
    except PromptcError:
        return True
    return False


def _is_certain(problem: Problem) -> bool:
    """True for what must stop some run; the rest is wrong in other ways, which the table of examples shows."""
    if problem.rule in ("never", "always", "reads_none") or problem.wants == "asked":
        return False
    return not (problem.rule in ("kind", "none") and problem.wants.endswith(_ODD))


def test_what_is_called_wrong_stops_a_run(tmp_path: Path, prove_seed, draws):
    """But for the few that stand behind a condition no valid state meets, or whose states were not met."""
    behind: Counter[bool] = Counter()
    idle: list[object] = []
    for place in range(draws(_DRAWS)):
        rng = Random(f"kinds {prove_seed} {place}")
        schema = draw_schema(rng)
        template = draw_template(rng, schema)
        pack = _write(tmp_path, schema, template)
        wrong = [one for one in _find_problems(pack.model) if _is_certain(one)]
        if wrong:
            failing = any(_fails(pack, draw_state(rng, schema)) for _ in range(_STATES))
            behind[failing] += 1
            idle += [] if failing else [(json.dumps(schema), template, wrong[0].rule, wrong[0].subject, wrong[0].wants)]
    assert behind[True] >= 50 * (behind[False] - 1), idle


def test_most_of_what_stops_a_run_is_foreseen(tmp_path: Path, prove_seed, draws):
    """Not a promise of the checker: a measure, so that it does not go silent."""
    count: Counter[bool] = Counter()
    for place in range(draws(_DRAWS)):
        rng = Random(f"foreseen {prove_seed} {place}")
        schema = draw_schema(rng)
        pack = _write(tmp_path, schema, draw_template(rng, schema))
        if any(_fails(pack, draw_state(rng, schema)) for _ in range(_STATES // 4)):
            count[any(one.rule not in ("never", "always") for one in _find_problems(pack.model))] += 1
    assert count[True] > 3 * count[False], count
