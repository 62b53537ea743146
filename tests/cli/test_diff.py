"""`promptc diff`: packs, states, prompts and git revisions."""

import json
import shutil
import subprocess

import pytest

from tests.cli.conftest import ROOT

STATE = "state.json"


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A folder with a pack and its state."""
    shutil.copytree(ROOT / "starters" / "chat", tmp_path / "starter")
    shutil.copy(ROOT / "starters" / "chat" / STATE, tmp_path / STATE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def repository(there):
    """The same, committed."""
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b.c commit -q -m first"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)
    return there


def _edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_equal_packs_end_with_0(there, run):
    assert run("diff", "starter", "starter", "--state", STATE) == (done := run("diff", STATE, STATE, "--pack", "starter"))
    assert (done.code, done.out) == (0, "no difference\n")


def test_states_are_compared_by_what_a_pack_makes_of_them(there, run):
    value = json.loads((there / STATE).read_text(encoding="utf-8"))
    (there / "other.json").write_text(json.dumps(value | {"facts": value["facts"][1:]}), encoding="utf-8")
    done = run("diff", STATE, "other.json", "--pack", "starter")
    assert done.code == 1 and not done.err
    assert "@@ facts @@" in done.out and "lost" in done.out


def test_a_revision_is_read_from_git_wherever_in_it_the_work_is_done(repository, run, monkeypatch):
    template = next((repository / "starter" / "templates").glob("*.j2"))
    template.write_text("Another rule.\n", encoding="utf-8")
    first = run("diff", "HEAD:starter", "starter", "--state", STATE)
    assert first.code == 1 and "{+Another rule+}." in first.out
    monkeypatch.chdir(repository / "starter")
    second = run("diff", "HEAD:starter", ".", "--state", "../" + STATE)
    assert (second.code, second.out) == (1, first.out)
    same = run("diff", "HEAD:starter", "HEAD:starter", "--state", "../" + STATE)
    assert same.code == 0


def test_a_path_in_a_revision_stays_in_it(repository, run):
    """The files of a revision are in a folder of their own; a path that leaves it would lead to files of now."""
    for path in ("..", "../starter", f"../../../../../../../..{repository}/starter"):
        done = run("diff", f"HEAD:{path}", "starter", "--state", STATE)
        assert done.code == 4 and not done.out
        assert f"`HEAD` has no `{path}`" in done.err and "write the path from the root of the repository" in done.err


def test_a_link_out_of_the_repository_is_not_followed(repository, run):
    (repository / "starter" / "secret.md").symlink_to("/etc/hostname")
    _edit(repository / "starter" / "pack.yaml", "templates/rules.md.j2", "secret.md")
    for line in ("add .", "-c user.name=a -c user.email=a@b.c commit -q -m second"):
        subprocess.run(["git", *line.split()], check=True, cwd=repository)
    done = run("diff", "HEAD:starter", "HEAD~1:starter", "--state", STATE)
    assert done.code == 3 and not done.out
    assert "secret.md" in done.err and str(repository) not in done.err


def test_findings_of_a_revision_name_no_folder_of_this_machine(repository, run):
    (repository / "starter" / "pack.yaml").write_text("promptc: 1\nnam: x\n", encoding="utf-8")
    for line in ("add .", "-c user.name=a -c user.email=a@b.c commit -q -m second"):
        subprocess.run(["git", *line.split()], check=True, cwd=repository)
    done = run("diff", "HEAD:starter", "HEAD~1:starter", "--state", STATE)
    assert done.code == 3
    assert "\nstarter/pack.yaml:2:1" in "\n" + done.err


def test_goldens_are_compared_with_the_report_beside_them(run, golden):
    folder = ROOT / "fixtures" / "sentinel"
    done = run("diff", str(folder / "calm" / "golden.txt"), str(folder / "strain_2" / "golden.txt"), "--stat")
    assert done.code == 1
    golden("diff_stat.txt", done.out)
    whole = run("diff", str(folder / "calm" / "golden.txt"), str(folder / "strain_2" / "golden.txt"), "--width", "80")
    golden("diff_words.txt", whole.out)


def test_several_states_each_under_its_name(there, run):
    shutil.copy(STATE, "other.json")
    done = run("diff", "starter", "starter", "--state", STATE, "--state", "other.json", "--stat")
    assert done.out == "== state.json ==\nno difference\n== other.json ==\nno difference\n"


def test_json_holds_every_word(there, run):
    (there / "a.txt").write_text("one two\n", encoding="utf-8")
    (there / "b.txt").write_text("one three\n", encoding="utf-8")
    done = run("diff", "a.txt", "b.txt", "--json")
    runs = json.loads(done.out)["sections"][0]["runs"]
    assert [(run["kind"], run["text"]) for run in runs] == [("same", "one "), ("gone", "two"), ("come", "three"), ("same", "\n")]


def test_what_does_not_fit_is_trouble(there, run):
    done = run("diff", "starter", "starter", "--state", STATE, "--budget", "5")
    assert done.code == 3 and not done.out and "PC0532" in done.err


def test_control_characters_are_shown(there, run):
    (there / "a.txt").write_text("one \x1b[31m\n", encoding="utf-8")
    (there / "b.txt").write_text("two \x1b[31m\n", encoding="utf-8")
    done = run("diff", "a.txt", "b.txt")
    assert done.code == 1 and "\x1b" not in done.out and "\\x1b" in done.out


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a\n", "a", "    a[-¶-]\n"),
        ("a\nb\n", "a\n", "    a\n    [-b-]\n"),
        ("a\n\nb\n", "a\nb\n", "    a\n    [-¶-]\n    b\n"),
        ("", "a\n", "    {+a+}\n"),
    ],
)
def test_line_ends_are_seen(there, run, old, new, shown):
    (there / "a.txt").write_bytes(old.encode())
    (there / "b.txt").write_bytes(new.encode())
    done = run("diff", "a.txt", "b.txt")
    assert (done.code, done.out.partition("\n\n")[2]) == (1, shown)


def test_standard_input_is_a_state_or_a_prompt(there, run):
    state = (there / STATE).read_bytes()
    assert run("diff", STATE, "-", "--pack", "starter", stdin=state).code == 0
    other = json.dumps(json.loads(state) | {"input": "Another question?"}).encode()
    done = run("diff", "-", STATE, "--pack", "starter", stdin=other)
    assert done.code == 1 and "Another question" in done.out
    prompt = run("render", "starter", STATE).out
    (there / "before.txt").write_text(prompt, encoding="utf-8")
    assert run("diff", "before.txt", "-", stdin=prompt.encode()).code == 0
    assert "{+more+}" in run("diff", "before.txt", "-", stdin=(prompt + "more\n").encode()).out
    messages = run("render", "starter", STATE, "--format", "messages").out
    (there / "before.json").write_text(messages, encoding="utf-8")
    assert run("diff", "before.json", "-", stdin=messages.encode()).code == 0


def test_standard_input_is_read_once(there, run):
    state = (there / STATE).read_bytes()
    assert run("diff", "starter", "starter", "--state", "-", stdin=state).code == 0
    for line in (["-", "-"], ["-", "starter", "--state", "-"], ["starter", "starter", "--state", "-", "--state", "-"]):
        done = run("diff", *line, stdin=state)
        assert done.code == 2 and "standard input can be read once" in done.err
    done = run("diff", "-", "starter", "--state", STATE, stdin=state)
    assert done.code == 2 and "`standard input` is a state" in done.err
    done = run("diff", "starter", "starter", "--state", "-", stdin=b'{"inputs": 1}')
    assert done.code == 3 and "stdin" in done.err


def test_a_report_that_is_no_longer_of_its_prompt_cuts_nothing(there, run):
    for name in ("old", "new"):
        (there / name).mkdir()
        for file in ("golden.txt", "golden.report.json"):
            shutil.copy(ROOT / "fixtures" / "sentinel" / "calm" / file, there / name / file)
    _edit(there / "new" / "golden.txt", "Bas Hollow", "Bas Hollowell")
    done = run("diff", "old/golden.txt", "new/golden.txt")
    assert done.code == 1 and "@@" not in done.out and "{+Hollowell+}" in done.out


# --- what is tried ---

TRY = ("--try", "sections.facts.budget=25")


def test_a_pack_and_a_state_are_the_pack_beside_what_is_tried(there, run):
    found = run("diff", "starter", STATE, *TRY)
    assert found.code == 1 and "@@ facts @@" in found.out and "lost" in found.out
    assert found.out == run("diff", STATE, "starter", *TRY).out == run("diff", "starter", "starter", "--state", STATE, *TRY).out
    piped = run("diff", "starter", "-", *TRY, stdin=(there / STATE).read_bytes())
    assert (piped.code, piped.out) == (1, found.out)
    edited = there / "starter" / "pack.yaml"
    shutil.copytree(there / "starter", there / "old")
    _edit(edited, "budget: 80 ", "budget: 25 ")
    assert _leave_places(run("diff", "old", "starter", "--state", STATE).out) == _leave_places(found.out)


def _leave_places(text):
    return [line for line in text.splitlines() if "pack.yaml" not in line]


def test_a_state_of_a_revision_and_more_states(repository, run):
    _edit(repository / STATE, "{", "{ ")
    done = run("diff", "HEAD:starter", f"HEAD:{STATE}", "--state", STATE, "--stat", *TRY)
    assert done.code == 1 and done.out.count(f"== {STATE} ==") == 1 and f"== HEAD:{STATE} ==" in done.out and done.out.count("facts") == 2


def test_two_states_are_both_rendered_with_it(there, run):
    assert run("diff", STATE, STATE, "--pack", "starter", *TRY).out == "no difference\n"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["a.txt", "a.txt", *TRY], "there is nothing to try"),
        (["starter", STATE, "--try", "sections.fcats.budget=1"], "did you mean `facts`?"),
        (["starter", STATE], "or a pack with itself: `--try"),
    ],
)
def test_what_cannot_be_tried(there, run, asked, says):
    (there / "a.txt").write_text("a", encoding="utf-8")
    done = run("diff", *asked)
    assert done.code == 2 and not done.out and says in done.err


# contract 13.2
@pytest.mark.parametrize("budget", ["78", "60", "40"])
def test_a_section_has_one_size_in_every_view(there, run, budget):
    """What `diff` shows of a section is what `explain` shows of it, also after `truncate`: header and separators are counted."""
    whole, cut = (_read_sizes(run("explain", "starter", STATE, "--try", f"budget={total}").out) for total in ("1000", budget))
    assert whole != cut and sum(cut.values()) == 2 * cut["total"]
    found = json.loads(run("diff", "starter", STATE, "--try", f"budget={budget}", "--json").out)
    sizes = {one["id"]: (one["old_tokens"], one["new_tokens"]) for one in found["sections"] if one["old_tokens"] is not None}
    assert sizes and sizes == {name: (whole[name], cut[name]) for name in sizes}


def _read_sizes(meter):
    """The column `tokens` of a meter, by section."""
    lines = meter.splitlines()
    head = next(line for line in lines if line.startswith("section "))
    end = head.index("tokens") + len("tokens")
    rows = [line for line in lines[lines.index(head) + 1 :] if line]
    rows = rows[: next(at for at, line in enumerate(rows) if line.startswith("total ")) + 1]
    return {line.split()[0]: int(tokens) if (tokens := line[:end].split()[-1]).isdigit() else 0 for line in rows}
