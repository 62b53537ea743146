"""Cases and goldens, changed at random: every one of them is a verdict or a diagnostic, never a bug, whatever is done with it."""

import copy
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import promptc.cli.main as command
from promptc.cli.run import BUG
from promptc.diag.findings import PromptcError
from tests.cases.case import ROOT

_RUNS = 4_000
_FILES = ("case.yaml", "state.json", "answer.md", "queries.tsv", "golden.*")
_STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 5, 3.5, float("nan"), float("inf"), 10**30, 10**4000, "", "x", "\ud800", "\0", "../../x", "a" * 5000),
    *([], {}, [[]], [None], {"": None}, [1, 2], [1, 2, 3], {"id": []}, {"before": 1}, {"items": 5}, ["golden"], {"base": {}}),
)
_DEEP = "in place of which stands a deep list"
_BYTES = (
    b"\xff",
    b"\0",
    b"{",
    b"[" * 3000,
    b"\xed\xa0\x80",
    b"NaN",
    b"1e999",
    b"&a [*a]",
    b"<<: ",
    b"!!python/object",
    b"- ",
    b": ",
    b"\r",
    b"'",
)


def _make_cases(root: Path) -> Path:
    """A repository with a case of each kind, all passing."""
    shutil.copytree(ROOT / "starters" / "chat", root / "packs" / "starter")
    log = root / "packs" / "log"
    log.mkdir()
    (log / "pack.yaml").write_text(
        "promptc: 1\nname: log\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 200\n"
        'sections: [{id: entries, text: "{{ state.entries | length }} entries"}]\n'
        "operations: {prune: {edits: [{keep: /entries, last: 1, archive: entries}]}}\n",
        encoding="utf-8",
    )
    state = (root / "packs" / "starter" / "state.json").read_text(encoding="utf-8")
    cases = {
        "starter/plain": "state: state.json\nexpect: {tokens: '<= 9000', order: [rules, facts, recent, input]}\ngolden: [text, report]\n",
        "starter/small": "state: {base: ../plain/state.json, set: {/input: hi}}\nwith: {budget: 120}\ngolden: [text, report]\n",
        "starter/chat": "state: state.json\nwith: {format: anthropic, model: m}\ngolden: [messages, payload, report]\n",
        "starter/session": "states: [state.json, {set: {/input: more}}]\nexpect: {prefix_reuse: '>= 1'}\ngolden: [text, report]\n",
        "starter/run": "run: [explain, packs/starter, fixtures/starter/plain/state.json]\nexpect: {exit: 0}\ngolden: [text, diagnostics]\n",
        "starter/check": "check: true\nexpect: {exit: 0, warnings: []}\ngolden: [diagnostics]\n",
        "log/prune": "apply: {operation: prune, state: state.json, answers: {}}\ngolden: [text, state, archive]\n",
        "log/given": "state: state.json\ngiven: {large: {x.md: 9}, environment: {CI: ''}, stores: {}}\ngolden: [text, report]\n",
        "log/recall": "recall: {index: rules, queries: queries.tsv}\nexpect: {recall: 1}\n",
    }
    for name, text in cases.items():
        folder = root / "fixtures" / name
        folder.mkdir(parents=True)
        (folder / "case.yaml").write_text(f"title: {name}\n{text}", encoding="utf-8")
        (folder / "state.json").write_text(state if "starter" in name else '{"entries": [1, 2, 3]}', encoding="utf-8")
        (folder / "queries.tsv").write_text("query\texpected\nx\ty.md\n", encoding="utf-8")
    return root


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = _make_cases(tmp_path / "there")
    monkeypatch.chdir(root)
    monkeypatch.setenv("CI", "")
    assert command.main(["test", "--no-cache"]) == 1  # one case cannot be run
    assert command.main(["accept", "--all"]) == 0
    return root


@pytest.mark.dear
def test_every_mutant_has_a_verdict(repository: Path, prove_seed: int, draws: Callable[[int], int], capsys) -> None:
    random_of = random.Random(prove_seed)
    kept = {path: path.read_bytes() for path in sorted(repository.rglob("*")) if path.is_file()}
    wanted = [path for path in kept if any(path.match(f"fixtures/*/*/{one}") for one in _FILES)]
    for _ in range(draws(_RUNS)):
        path = random_of.choice(wanted)
        mutant = _mutate(random_of, kept[path])
        target = path.with_name(f"{path.name}.new") if path.name.startswith("golden.") and random_of.random() < 0.2 else path
        target.write_bytes(mutant)
        for arguments in _choose_commands(random_of, path.parent):
            code = command.main(arguments)
            told = capsys.readouterr()
            assert code in (0, 1, 2, 3, 4) and "Traceback" not in told.err, (arguments, str(target), mutant[:2000], code, told.err[:3000])
        for found in [one for one in repository.rglob("*") if one.is_file() and one not in kept]:
            found.unlink()
        for changed, content in kept.items():
            if not changed.is_file() or changed.read_bytes() != content:
                changed.write_bytes(content)


def _choose_commands(random_of: random.Random, folder: Path) -> list[list[str]]:
    name = f"{folder.parent.name}/{folder.name}"
    shape = random_of.choice(("full", "concise", "json", "markdown", "github", "junit", "sarif"))
    first = ["test", "--no-cache", "-j", "1", "--format", shape, str(folder)]
    more = [
        [*first, "--ci"],
        ["pending", "--format", "json"],
        ["diff", str(folder / "golden.txt"), str(folder / "golden.txt.new")],
        ["accept", name],
        ["accept", "--stale", name],
        ["reject", name],
        ["prune"],
    ]
    return [first, random_of.choice(more)] if random_of.random() < 0.5 else [first]


def _mutate(random_of: random.Random, content: bytes) -> bytes:
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if value is not None and random_of.random() < 0.8:
        for _ in range(random_of.randint(1, 3)):
            value = _change_value(random_of, value)
        depth = random_of.choice((60, 900, 5000))
        mutant = json.dumps(value, ensure_ascii=random_of.random() < 0.5).encode("utf-8", "surrogatepass")
        return mutant.replace(b'"%b"' % _DEEP.encode(), b"[" * depth + b"]" * depth)
    for _ in range(random_of.randint(1, 3)):
        content = _change_bytes(random_of, content)
    return content


def _change_value(random_of: random.Random, value: Any) -> Any:
    places: list[tuple[Any, Any]] = []
    _list_places(value, places)
    if not places or random_of.random() < 0.1:
        return copy.deepcopy(random_of.choice(_STRANGE))
    holder, key = random_of.choice(places)
    if random_of.random() < 0.2:
        del holder[key]
    elif random_of.random() < 0.05:
        holder[key] = _DEEP
    else:
        holder[key] = copy.deepcopy(random_of.choice((*_STRANGE, holder)))
    return value


def _list_places(value: Any, places: list[tuple[Any, Any]]) -> None:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        places.append((value, key))
        _list_places(value[key], places)


def _change_bytes(random_of: random.Random, content: bytes) -> bytes:
    at, size = random_of.randint(0, len(content)), random_of.choice((0, 1, 1, 2, 5, 30))
    words = content.split()
    new = random_of.choice((*_BYTES, b"", random_of.choice(words) if words else b"", json.dumps(random_of.choice(_STRANGE[:18])).encode()))
    return content[:at] + new + content[at + size :]


def test_a_bug_would_be_seen(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("promptc.golden.verdicts.judge.check_expect", fail)
    assert command.main(["test", "--no-cache", "-j", "1"]) == BUG
    assert not issubclass(KeyError, PromptcError)
