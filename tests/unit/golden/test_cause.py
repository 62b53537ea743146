"""The edit that moved a golden is named with its place; one that did not is never blamed."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from promptc.api import Pack
from promptc.cli.shell import CaseShell
from promptc.cli.terminal import render_diagnostics
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.golden import cause
from promptc.golden.cases.case import Case, CaseOutcome
from promptc.golden.cases.discover import load_case
from promptc.golden.cause import Cause, CauseFinder, find_cause
from promptc.golden.edits import LineUndo, ValueUndo, list_changes, list_line_changes, put_back, say_change
from promptc.golden.inputs import describe_inputs, render_inputs
from promptc.golden.running.environment import CaseEnvironment, prepare_case
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.running.run import run_case
from promptc.golden.verdicts.verdict import GoldenDifference, Verdict, render_goldens
from promptc.model.budget import load_models
from tests.contract.sources import ROOT


class _Shell:
    def render_diagnostics(self, found: Sequence[Diagnostic]) -> str:
        return render_diagnostics(found)

    def run_command(self, arguments: Sequence[str]) -> CaseOutcome:
        raise AssertionError("no case here asks for it")

    def apply(self, pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> CaseOutcome:
        raise AssertionError("no case here asks for it")

    def surround(self, case: Case, resources: SuiteResources) -> AbstractContextManager[CaseEnvironment]:
        return prepare_case(case, resources)


_CASE = "title: x\nstate: {base: state.json, set: {/input: 'Who are you?'}}\ngolden: [text, report]\n"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A repository with a pack, a case and its goldens, committed."""
    pack = tmp_path / "packs" / "starter"
    shutil.copytree(ROOT / "starters" / "chat", pack)
    folder = tmp_path / "fixtures" / "starter" / "plain"
    folder.mkdir(parents=True)
    state = json.loads((pack / "state.json").read_text(encoding="utf-8"))
    key = next(name for name, value in state.items() if isinstance(value, str))
    (folder / "case.yaml").write_text(_CASE.replace("/input", f"/{key}"), encoding="utf-8")
    (folder / "state.json").write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
    _accept(folder)
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b.c commit -q -m first"):
        subprocess.run(["git", *line.split()], check=True, cwd=tmp_path)
    return tmp_path


def _accept(folder: Path) -> None:
    """Writes the goldens of the case."""
    case = load_case(str(folder))
    with work_in(case.root), SuiteResources() as resources:
        for name, content in render_goldens(case, run_case(case, resources, _Shell()), _Shell().render_diagnostics).items():
            (folder / name).write_bytes(content)


def _find(there: Path) -> Cause | None:
    case = load_case(str(there / "fixtures" / "starter" / "plain"))
    with work_in(str(there)):
        try:
            pack: Pack | None = Pack.load(case.pack)
        except PromptcError:
            pack = None
        return find_cause(case, pack, _Shell())


def _edit(path: Path, old: str, new: str) -> int:
    """The line that was edited, from 1."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def _template(there: Path) -> Path:
    return next((there / "packs" / "starter" / "templates").glob("*.j2"))


def test_a_template_is_named_with_its_line(there: Path) -> None:
    line = _edit(_template(there), "sentences", "words")
    found = _find(there)
    assert found is not None and [(one.path, one.line) for one in found.changes] == [
        (f"packs/starter/templates/{_template(there).name}", line)
    ]
    assert "sentences" in found.changes[0].what and "words" in found.changes[0].what


def test_a_key_of_the_manifest_is_named(there: Path) -> None:
    manifest = there / "packs" / "starter" / "pack.yaml"
    line = _edit(manifest, "What you know:", "What is known:")
    found = _find(there)
    assert found is not None and len(found.changes) == 1
    one = found.changes[0]
    assert (one.path, one.line) == ("packs/starter/pack.yaml", line)
    assert one.what.startswith("sections.facts.header: ")


def test_a_value_of_the_state_is_named(there: Path) -> None:
    state = there / "fixtures" / "starter" / "plain" / "state.json"
    line = _edit(state, "214", "215")
    found = _find(there)
    assert found is not None and [(one.path, one.line) for one in found.changes] == [("fixtures/starter/plain/state.json", line)]
    assert found.changes[0].what.startswith("facts.")


def test_the_case_itself_may_be_the_cause(there: Path) -> None:
    _edit(there / "fixtures" / "starter" / "plain" / "case.yaml", "Who are you?", "Who is there?")
    found = _find(there)
    assert found is not None and found.changes[0].path == "fixtures/starter/plain/case.yaml"


def test_an_edit_that_does_nothing_is_not_blamed(there: Path) -> None:
    manifest = there / "packs" / "starter" / "pack.yaml"
    _edit(manifest, "promptc: 1\n", "# a remark\npromptc: 1\n")
    _edit(_template(there), "sentences", "words")
    _edit(there / "packs" / "starter" / "state.schema.json", '"description": "', '"description": "Now ')
    found = _find(there)
    assert found is not None and [one.path for one in found.changes] == [f"packs/starter/templates/{_template(there).name}"]


def test_two_edits_that_both_matter_are_both_named(there: Path) -> None:
    _edit(_template(there), "sentences", "words")
    _edit(there / "packs" / "starter" / "pack.yaml", "What you know:", "What is known:")
    found = _find(there)
    assert found is not None and sorted(one.path.rpartition("/")[2] for one in found.changes) == ["pack.yaml", _template(there).name]


def test_an_edit_that_breaks_the_pack_is_the_cause_of_it(there: Path) -> None:
    manifest = there / "packs" / "starter" / "pack.yaml"
    _edit(manifest, "sections:", "sectoins:")
    found = _find(there)
    assert found is not None and [one.path for one in found.changes] == ["packs/starter/pack.yaml"]


def _note_inputs(there: Path) -> None:
    """Beside the goldens, what they were made of, as accepting them would."""
    case = load_case(str(there / "fixtures" / "starter" / "plain"))
    with work_in(str(there)):
        noted = render_inputs(describe_inputs(case, Pack.load(case.pack)), None)
    (there / "fixtures" / "starter" / "plain" / "golden.inputs.json").write_bytes(noted)


@pytest.mark.parametrize("noted", [False, True], ids=["by the last commit", "as noted"])
@pytest.mark.parametrize("new_name", [None, "renamed.md.j2"], ids=["deleted", "renamed"])
def test_a_file_that_is_gone_is_the_cause(there: Path, noted: bool, new_name: str | None) -> None:
    if noted:
        _note_inputs(there)
    template = _template(there)
    template.rename(template.parent / new_name) if new_name else template.unlink()
    found = _find(there)
    assert found is not None and [one.path for one in found.changes] == [f"packs/starter/templates/{template.name}"]
    assert found.changes[0].what.endswith(" → nothing")


def test_a_file_that_is_gone_from_a_pack_with_its_cases_in_it(there: Path) -> None:
    """Nor is the case itself, or a golden, taken for a file that came."""
    shutil.move(there / "fixtures" / "starter" / "plain", there / "packs" / "starter" / "cases" / "plain")
    for line in ("add .", "-c user.name=a -c user.email=a@b.c commit -q -m moved"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)
    folder = there / "packs" / "starter" / "cases" / "plain"
    case = load_case(str(folder))
    with work_in(str(there)):
        (folder / "golden.inputs.json").write_bytes(render_inputs(describe_inputs(case, Pack.load(case.pack)), None))
        template = _template(there)
        template.unlink()
        found = find_cause(case, None, _Shell())
    assert found is not None and [one.path for one in found.changes] == [f"packs/starter/templates/{template.name}"]


@pytest.mark.parametrize("side", ["old", "new", "both"])
def test_a_byte_order_mark_is_nothing(there: Path, side: str) -> None:
    state = there / "fixtures" / "starter" / "plain" / "state.json"
    if side != "new":
        state.write_text("\ufeff" + state.read_text(encoding="utf-8"), encoding="utf-8")
        for line in ("add .", "-c user.name=a -c user.email=a@b.c commit -q -m marked"):
            subprocess.run(["git", *line.split()], check=True, cwd=there)
    text = state.read_text(encoding="utf-8").replace("214", "215").removeprefix("\ufeff")
    state.write_text(text if side == "old" else f"\ufeff{text}", encoding="utf-8")
    found = _find(there)
    assert found is not None and len(found.changes) == 1 and found.changes[0].what.startswith("facts.stairs.text: ")


def test_json_whose_text_is_printed_is_told_by_its_lines(there: Path) -> None:
    """Put back as a value it would read otherwise."""
    manifest = there / "packs" / "starter" / "pack.yaml"
    shape = there / "packs" / "starter" / "templates" / "shape.json"
    shape.write_text('{\n "text": "a",\n\n "other": "b"\n}\n', encoding="utf-8")
    _edit(manifest, "  - id: input\n", "  - id: shape\n    template: templates/shape.json\n\n  - id: input\n")
    _accept(there / "fixtures" / "starter" / "plain")
    for line in ("add .", "-c user.name=a -c user.email=a@b.c commit -q -m printed"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)
    _edit(shape, '"text"', '"words"')
    found = _find(there)
    assert found is not None and [(one.path.rpartition("/")[2], one.line, one.what) for one in found.changes] == [
        ("shape.json", 2, 'words: "text":… → "words":…')
    ]


def test_an_edit_that_is_not_committed_is_told_from_the_last_commit(there: Path) -> None:
    """Whatever was committed since the golden was, without being felt."""
    _edit(there / "packs" / "starter" / "pack.yaml", "What you know:", "What is known:")
    golden = there / "fixtures" / "starter" / "plain" / "golden.txt"
    golden.write_text(golden.read_text(encoding="utf-8").replace("What you know:", "What is known:"), encoding="utf-8")
    for line in ("add packs fixtures", "-c user.name=a -c user.email=a@b.c commit -q -m second"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)
    _edit(there / "packs" / "starter" / "pack.yaml", "What is known:", "What you know:")
    _edit(there / "packs" / "starter" / "pack.yaml", "promptc: 1\n", "# a remark\npromptc: 1\n")
    for line in ("add packs", "-c user.name=a -c user.email=a@b.c commit -q -m third"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)
    _edit(there / "packs" / "starter" / "pack.yaml", "What you know:", "What is known:")
    _edit(_template(there), "sentences", "words")
    found = _find(there)
    assert found is not None and [one.path for one in found.changes] == [f"packs/starter/templates/{_template(there).name}"]


@pytest.mark.dear
def test_a_check_of_a_pack_whose_operations_ask_has_its_cause(tmp_path: Path) -> None:
    """The packs of the questions are in the copy, too."""
    for name in ("packs/companion", "fixtures/companion/drift"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b.c commit -q -m first"):
        subprocess.run(["git", *line.split()], check=True, cwd=tmp_path)
    _edit(tmp_path / "packs" / "companion" / "pack.yaml", "PROFILE: 2", "PROFILE: 1")
    case = load_case(str(tmp_path / "fixtures" / "companion" / "drift"))
    with work_in(str(tmp_path)):
        found = find_cause(case, Pack.load(case.pack), _Shell())
    assert found is not None
    assert [one.path for one in found.changes] == ["packs/companion/pack.yaml"], found.what


def test_a_case_that_git_does_not_know_has_no_cause(there: Path) -> None:
    """It never held, so no edit broke it."""
    folder = there / "fixtures" / "starter" / "fresh"
    folder.mkdir()
    (folder / "case.yaml").write_text("title: x\nstate: ../plain/state.json\nexpect: {contains: [Zebra]}\n", encoding="utf-8")
    case = load_case(str(folder))
    with work_in(str(there)):
        assert find_cause(case, Pack.load(case.pack), _Shell()) is None


@pytest.mark.parametrize("size", [5, 60])
def test_what_is_told_of_a_change_shows_it(size: int) -> None:
    old = '{"a":"' + "x" * size + '","text":"he keeps it"}'
    (change,) = list_changes("notes.md", old, old.replace("keeps", "sells"))
    before, _, after = change.what.partition(" → ")
    assert before != after and before.startswith("keeps") and after.startswith("sells")
    (change,) = list_changes("notes.md", old.replace(" ", "_"), old.replace(" ", "_").replace("keeps", "sells"))
    before, _, after = change.what.partition(" → ")
    assert "keeps" in before and "sells" in after


def _judge(*differences: GoldenDifference, codes: Sequence[str] = ("PC0920",), folder: str = "/nowhere") -> Verdict:
    findings = tuple(Diagnostic(code, "x") for code in codes)
    return Verdict("x", "failed", "/", folder, "case.yaml", findings=findings, differences=differences)


def test_a_pending_golden_and_a_case_that_cannot_be_read_have_no_cause(tmp_path: Path) -> None:
    with CauseFinder(CaseShell()) as finder:
        assert finder.explain(_judge(codes=("PC0923",))).cause == ()
        assert finder.explain(_judge(GoldenDifference("text", "t", b"a", b"b"), folder=str(tmp_path))).cause == ()


def test_without_git_the_changed_files_are_named(there: Path) -> None:
    folder = there / "fixtures" / "starter" / "plain"
    with work_in(str(there)):
        (folder / "golden.inputs.json").write_bytes(
            render_inputs(describe_inputs(load_case(str(folder)), Pack.load("packs/starter")), None)
        )
    shutil.rmtree(there / ".git")
    _edit(_template(there), "sentences", "words")
    found = _find(there)
    assert found is not None and found.what == f"changed since the golden was accepted: packs/starter/templates/{_template(there).name}"


def test_another_vocabulary_is_named(there: Path) -> None:
    folder = there / "fixtures" / "starter" / "plain"
    with work_in(str(there)):
        noted = describe_inputs(load_case(str(folder)), Pack.load("packs/starter"))
    noted["counter"] = {"name": "cl100k_base", "digest": "sha256:0123456789"}
    (folder / "golden.inputs.json").write_bytes(render_inputs(noted, None))
    found = _find(there)
    assert found is not None and found.what.startswith("the vocabulary: cl100k_base 01234567 → ")


def test_another_table_of_models_is_named(there: Path) -> None:
    folder, pack = there / "fixtures" / "starter" / "plain", there / "packs" / "starter" / "pack.yaml"
    text = pack.read_text(encoding="utf-8")
    written = next(line for line in text.splitlines() if line.startswith("budget:"))
    pack.write_text(text.replace(written, "budget: {model: gpt-4o, reserve: 1000}"), encoding="utf-8")
    with work_in(str(there)):
        noted = describe_inputs(load_case(str(folder)), Pack.load("packs/starter"))
    assert noted["models"]["name"] == load_models().as_of
    noted["models"] = {"name": "2026-01-01", "digest": "sha256:0123456789"}
    (folder / "golden.inputs.json").write_bytes(render_inputs(noted, None))
    golden = folder / "golden.txt"
    golden.write_text(f"{golden.read_text(encoding='utf-8')}what the window of then left room for\n", encoding="utf-8")
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qam", "second"], check=True, cwd=there)
    found = _find(there)
    assert found is not None and found.what.startswith("the table of models: 2026-01-01 01234567 → ")


def test_a_claim_that_never_held_blames_no_golden(there: Path) -> None:
    folder = there / "fixtures" / "starter" / "plain"
    (folder / "case.yaml").write_text("title: x\nstate: state.json\nexpect: {contains: [nowhere]}\n", encoding="utf-8")
    for golden in folder.glob("golden.*"):
        golden.unlink()
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qam", "second"], check=True, cwd=there)
    found = _find(there)
    assert found is not None and found.what == "no edit of its files since the last commit: the committed case fails, too"


def _note(there: Path, **changes: object) -> None:
    """The note that accepting makes, changed."""
    folder = there / "fixtures" / "starter" / "plain"
    with work_in(str(there)):
        noted = describe_inputs(load_case(str(folder)), Pack.load("packs/starter"))
    (folder / "golden.inputs.json").write_text(json.dumps({**noted, **changes}), encoding="utf-8")


@pytest.mark.parametrize("path", ["/tmp/promptc-escaped", "../../../../tmp/promptc-escaped", "packs/../../promptc-escaped", "a\\b", ""])
def test_a_note_writes_nothing_outside_the_copy(there: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note comes with a pull request."""
    written: list[Path] = []
    write_text = Path.write_text

    def record(self: Path, *arguments: str, **named: str) -> int:
        written.append(self)
        return write_text(self, *arguments, **named)

    blob = subprocess.run(["git", "rev-parse", "HEAD:packs/starter/pack.yaml"], cwd=there, capture_output=True, text=True, check=True)
    _note(there, files={path: blob.stdout.strip(), "packs/starter/pack.yaml": blob.stdout.strip()})
    _edit(_template(there), "sentences", "words")
    monkeypatch.setattr(Path, "write_text", record)
    _find(there)
    held = Path(tempfile.gettempdir()).resolve()
    assert all(one.relative_to(held).parts[0].startswith("promptc-") and "escaped" not in one.name for one in written)


def test_a_link_in_the_pack_is_not_written_through(there: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (there / "packs" / "starter" / "linked").symlink_to(outside)
    blob = subprocess.run(["git", "rev-parse", "HEAD:packs/starter/pack.yaml"], cwd=there, capture_output=True, text=True, check=True)
    _note(there, files={"packs/starter/linked/x.yaml": blob.stdout.strip()})
    _edit(_template(there), "sentences", "words")
    _find(there)
    assert not list(outside.iterdir())


@pytest.mark.parametrize(
    "text", ["", "[", '{"files": []}', '{"files": {"pack.yaml": 3}}', '{"files": {"a": null}}', "[" * 100_000, '{"files": {"a": "--all"}}']
)
def test_a_note_that_is_none_is_passed_over(there: Path, text: str) -> None:
    (there / "fixtures" / "starter" / "plain" / "golden.inputs.json").write_text(text, encoding="utf-8")
    _edit(_template(there), "sentences", "words")
    found = _find(there)
    assert found is not None and len(found.changes) == 1


def test_of_many_edits_the_one_that_matters_is_named(there: Path) -> None:
    template = _template(there)
    schema = there / "packs" / "starter" / "state.schema.json"
    lines = schema.read_text(encoding="utf-8").splitlines(keepends=True)
    edited = [line.replace('"description": "', '"description": "Now ') if at % 2 else line for at, line in enumerate(lines)]
    schema.write_text("".join(edited), encoding="utf-8")
    line = _edit(template, "sentences", "words")
    found = _find(there)
    assert found is not None and [(one.path.rpartition("/")[2], one.line) for one in found.changes] == [(template.name, line)]


@pytest.mark.parametrize(("turns", "most"), [(1, 60), (30, 20), (100, 8)])
def test_a_search_takes_so_many_runs_and_says_that_it_ended_there(
    there: Path, turns: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the edits moved the golden. Where a run takes many renders, it takes fewer runs."""
    folder = there / "fixtures" / "starter" / "plain"
    states = "state: state.json" if turns == 1 else f"states: [{', '.join(['state.json'] * turns)}]"
    (folder / "case.yaml").write_text(f"title: x\n{states}\ngolden: [text]\n", encoding="utf-8")
    manifest = there / "packs" / "starter" / "pack.yaml"
    head = "promptc: 1\nname: starter\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 9000\nsections:\n  - id: a\n    text: |\n"
    told = "".join(f"      told {at}\n      as it was\n" for at in range(36))
    manifest.write_text(head + told, encoding="utf-8")
    for old in folder.glob("golden.*"):
        old.unlink()
    _accept(folder)
    for line in ("add -A", "-c user.name=a -c user.email=a@b.c commit -q -m second"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)
    manifest.write_text(head + told.replace("told", "said"), encoding="utf-8")
    runs = []
    monkeypatch.setattr(cause, "run_case", lambda *given: runs.append(0) or run_case(*given))
    found = _find(there)
    assert found is not None and not found.changes and len(runs) == most
    assert re.fullmatch(rf"some of \d+ edits of packs/starter/pack.yaml: {most} runs of the case did not show which, .*", found.what)


def test_a_run_of_a_recall_renders_each_of_its_queries() -> None:
    folder = ROOT / "fixtures" / "worldarchitect" / "recall"
    queries = (folder / load_case(str(folder)).asked["queries"]).read_text(encoding="utf-8")
    assert cause._count_renders(load_case(str(folder))) == len(queries.splitlines()) > 2


def test_a_golden_that_was_edited_is_the_cause(there: Path) -> None:
    golden = there / "fixtures" / "starter" / "plain" / "golden.txt"
    golden.write_bytes(golden.read_bytes().replace(b"\n", b"\r\n"))
    found = _find(there)
    said = "fixtures/starter/plain/golden.txt is not what the last commit has: the golden itself was edited"
    assert found is not None and found.what == said


def test_what_is_no_file_is_in_nobodys_way(there: Path) -> None:
    os.mkfifo(there / "packs" / "starter" / "pipe")
    _edit(_template(there), "sentences", "words")
    found = _find(there)
    assert found is not None and len(found.changes) == 1


def test_a_claim_that_broke_has_a_cause(there: Path) -> None:
    case = there / "fixtures" / "starter" / "plain" / "case.yaml"
    _edit(case, "golden:", "expect: {contains: [sentences]}\ngolden:")
    for line in ("add .", "-c user.name=a -c user.email=a@b.c commit -q -m second"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)
    _edit(_template(there), "sentences", "words")
    found = _find(there)
    assert found is not None and [one.path for one in found.changes] == [f"packs/starter/templates/{_template(there).name}"]


_TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c d\n", "\n", "e", "c e\n"]), max_size=12).map("".join)


@drawn(_TEXTS, _TEXTS)
def test_all_changes_put_back_give_what_it_was(old: str, new: str) -> None:
    changes = list_changes("x", old, new)
    assert put_back(new, changes) == old
    assert put_back(new, ()) == new
    assert bool(changes) == (old != new)
    lines = max(new.count("\n") + 1, 1)
    assert all(1 <= one.line <= lines and one.column >= 1 for one in changes)


@drawn(_TEXTS, _TEXTS, st.data())
def test_some_put_back_leave_the_others(old: str, new: str, data: st.DataObject) -> None:
    """What the others brought is still there, and what these took is back."""
    changes = list_changes("x", old, new)
    some = [one for one in changes if data.draw(st.booleans())]
    mixed, undone = put_back(new, some), [one.undo for one in some]
    assert len(mixed) == len(new) + sum(len(one.before) - len("".join(_lines(new)[one.start : one.stop])) for one in undone)
    assert all(one.before in mixed for one in undone)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


# --- values ---

_KEYS = st.lists(st.sampled_from("abcde"), unique=True, max_size=4)
_VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, -0.0, 0.0, 1.0, "", "a", "a b"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | _KEYS.flatmap(lambda keys: st.fixed_dictionaries(dict.fromkeys(keys, inner)))
        | st.lists(st.fixed_dictionaries({"id": st.sampled_from("xyz"), "n": inner}), max_size=4)
    ),
    max_leaves=12,
)


@drawn(_VALUES, _VALUES, st.sampled_from([None, 1]))
def test_all_values_put_back_give_what_it_was(old: object, new: object, indent: int | None) -> None:
    """The order of keys and the kind of numbers too, whatever the lines are."""
    text = json.dumps(new, indent=indent)
    changes = list_changes("x.json", json.dumps(old), text)
    if json.dumps(old) == json.dumps(new):
        assert {type(one.undo) for one in changes} <= {LineUndo}
        return
    assert changes and json.dumps(json.loads(put_back(text, changes))) == json.dumps(old)
    for one in changes:
        assert json.dumps(json.loads(put_back(text, [one]))) != json.dumps(new)


@drawn(_VALUES, _VALUES, st.data())
def test_some_values_put_back_are_json_and_the_rest_brings_it_back(old: object, new: object, data: st.DataObject) -> None:
    text = json.dumps(new)
    changes = [one for one in list_changes("x.json", json.dumps(old), text) if isinstance(one.undo, ValueUndo)]
    for some in (data.draw(st.permutations(changes)), [one for one in changes if data.draw(st.booleans())]):
        mixed = json.loads(put_back(text, some)) if some else new
        assert len(some) < len(changes) or not changes or json.dumps(mixed) == json.dumps(old)


_FLAT = _KEYS.flatmap(lambda keys: st.fixed_dictionaries(dict.fromkeys(keys, st.integers(0, 2))))


@drawn(_FLAT, _FLAT, st.data())
def test_some_keys_put_back_leave_the_others(old: dict[str, int], new: dict[str, int], data: st.DataObject) -> None:
    """Each key that is put back has its earlier value or is gone again, and each other key has its present value, whatever the order."""
    changes = list_changes("x.json", json.dumps(old), json.dumps(new))
    if old == new:
        return
    some = [one for one in changes if data.draw(st.booleans())]
    keys = {one.undo.keys[0] for one in some if one.undo.keys}
    assert json.loads(put_back(json.dumps(new), some)) == {
        key: side[key] for key in "abcde" for side in [old if key in keys else new] if key in side
    }


_SCENE = {"mood": "calm", "light": "dim", "hour": 3}
_OLD = {"scene": _SCENE, "log": [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}], "ages": [1, 2, 3]}


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ({"scene": {"mood": "tense"}}, ['scene.mood: "calm" → "tense"']),
        ({"scene": {"mood": "tense", "hour": 4}}, ['scene.mood: "calm" → "tense"', "scene.hour: 3 → 4"]),
        ({"scene": {"light": None}}, ['scene.light: "dim" → null']),
        ({"log": [{"id": "a", "text": "one"}]}, ['log.b: {"id":"b","text":"two"} → nothing']),
        (
            {"log": [{"id": "a", "text": "1"}, {"id": "b", "text": "two"}, {"id": "c"}]},
            ['log.a.text: "one" → "1"', 'log.c: nothing → {"id":"c"}'],
        ),
        ({"log": [{"id": "b", "text": "two"}]}, ['log.a: {"id":"a","text":"one"} → nothing']),
        ({"ages": [1, 3]}, ["ages.1: 2 → nothing"]),
        (
            {"log": [{"id": "new"}, {"id": "a", "text": "1"}, {"id": "b", "text": "two"}]},
            ['log.new: nothing → {"id":"new"}', 'log.a.text: "one" → "1"'],
        ),
        (
            {"log": [{"id": "b", "text": "2"}, {"id": "new"}]},
            ['log.a: {"id":"a","text":"one"} → nothing', 'log.b.text: "two" → "2"', 'log.new: nothing → {"id":"new"}'],
        ),
        ({"ages": [1, 2.0, 3]}, ["ages.1: 2 → 2.0"]),
        ({"ages": "none"}, ['ages: [1,2,3] → "none"']),
        ({"new": True}, ["new: nothing → true"]),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_what_is_told_of_values(new: dict[str, Any], told: list[str], indent: int | None) -> None:
    """The same on one line and on many."""
    now = {**_OLD, **new, "scene": {**_SCENE, **new.get("scene", {})}}
    assert [one.what for one in list_changes("state.json", json.dumps(_OLD), json.dumps(now, indent=indent))] == told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("one", "two", "one → two"),
        ("", "two", "nothing → two"),
        ("one ", "", "one → nothing"),
        ("a  b", "a b", "white space alone: a b"),
        ("{use: cl100k_base, fallback: chars/4}", "{use: o200k_base, fallback: chars/4}", "cl100k_base,… → o200k_base,…"),
        ("he sits and waits", "he sits, and waits", "sits… → sits,…"),
        ("b c", "x b c", "b… → x b…"),
        ("a a", "a a a", "a → a a"),
        ("say " + "long " * 20, "sing " + "long " * 20, "say… → sing…"),
        ("x " + "old " * 20, "x " + "new " * 20, "old old old old old old old old old old… → new new new new new new new new new new…"),
    ],
)
def test_a_change_is_told_in_a_line(before: str, after: str, told: str) -> None:
    assert say_change(before, after) == told


def test_a_key_that_is_gone_is_told_by_its_own_name() -> None:
    text = json.dumps(_OLD, indent=1)
    (change,) = list_changes("state.json", text, text.replace('  "light": "dim",\n', ""))
    assert (change.what, change.line) == ('scene.light: "dim" → nothing', 2)
    manifest = "sections:\n  first:\n    budget: 3\n    header: x\n  second:\n    header: y\n"
    (change,) = list_changes("pack.yaml", manifest, manifest.replace("    header: x\n", ""))
    assert (change.what, change.line) == ("sections.first.header: header: x → nothing", 4)


_SECTIONS = """\
sections:
  - id: first
    header: x
    overflow:
      - evict: {by: item.n}

  - id: last
    header: y
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("  - id: last\n", "  - id: last\n    budget: 5\n", (8, "sections.last.budget: nothing → budget: 5")),
        ("  - id: last\n", "  - id: more\n    text: z\n\n  - id: last\n", (7, "sections.more: nothing → - id: more text: z")),
        ("  - id: last\n    header: y\n", "", (7, "sections.last: - id: last header: y → nothing")),
        ("    header: x\n", "", (3, "sections.first.header: header: x → nothing")),
        ("      - evict: {by: item.n}\n", "", (5, "sections.first.overflow.0: - evict: {by: item.n} → nothing")),
    ],
)
def test_what_came_and_what_is_gone_has_its_own_name(old: str, new: str, told: tuple[int, str]) -> None:
    (change,) = list_changes("pack.yaml", _SECTIONS, _SECTIONS.replace(old, new))
    assert (change.line, change.what) == told


def test_json_that_says_the_same_on_other_lines_is_told_by_its_lines() -> None:
    (change,) = list_changes("state.json", '{"a": 1}', '{"a":  1}')
    assert isinstance(change.undo, LineUndo) and change.what == 'a: white space alone: {"a": 1}'


@pytest.mark.parametrize(("pairs", "edits"), [(1000, 1001), (3000, 3001)])
def test_lists_of_repeated_entries_are_compared_in_bounds(pairs: int, edits: int) -> None:
    """difflib takes a time that grows with the cube of their length. Entries of lists with too many pairs are matched by their places."""
    old, new = {"t": "x", "l": [1, 2] * pairs}, {"t": "y", "l": [1, 3] * pairs}
    begun = time.process_time()
    found = list_changes("state.json", json.dumps(old), text := json.dumps(new))
    assert time.process_time() - begun < 5
    assert len(found) == edits and found[0].what == 't: "x" → "y"'
    assert json.loads(put_back(text, found)) == old


def test_very_many_edits_of_lines_end_in_one_with_the_rest() -> None:
    """Each edit is named by the keys around it, and each may be put back alone."""
    old = "".join(f"k{at}: {at}\n" for at in range(2000))
    new = "".join(f"k{at}: {at + at % 2}\n" for at in range(2000))
    begun = time.process_time()
    changes = list_line_changes("pack.yaml", old, new)
    assert time.process_time() - begun < 5
    assert len(changes) == 201 and changes[199].what == "k399: 399 → 400" and put_back(new, changes) == old
    assert put_back(new, changes[:200]) == "".join(old.splitlines(keepends=True)[:401] + new.splitlines(keepends=True)[401:])


def test_a_change_of_lines_is_placed_at_the_first_character_that_differs() -> None:
    (change,) = list_line_changes("notes.txt", "one\nabcd\n", "one\nabXd\n")
    assert (change.line, change.column) == (2, 3)
