"""The smaller commands: check, rule, schema, init, completion, --version."""

import json
import re
import shlex
from pathlib import Path

import jsonschema
import pytest
import yaml

from promptc.cli.commands import pack_info
from promptc.diag.findings import load_codes
from promptc.files.atomic import write_file
from promptc.text.counters.bpe import VOCABULARIES
from tests.cli.conftest import KEEP, ROOT

HEAD = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
DEAD = HEAD + "sections: [{id: rules, text: a, pinned: true, overflow: [{drop: {}}]}]\n"
LIST = HEAD + "sections: [{id: log, items: {from: state.log, text: '{{ item }}', sort: item}}]\n"


def _write(folder, text):
    (folder / "pack.yaml").write_text(text, encoding="utf-8")
    return str(folder)


# --- check ---


def test_a_clean_pack_has_nothing(run, tmp_path):
    (tmp_path / "state.schema.json").write_text(
        '{"type": "object", "properties": {"hint": {"type": "string", "default": ""}}}', encoding="utf-8"
    )
    clean = _write(tmp_path, HEAD + "state: {schema: state.schema.json}\nsections: [{id: hint, text: '{{ state.hint }}'}]\n")
    done = run("check", clean)
    assert (done.code, done.out, done.err) == (0, "nothing found\n", "")
    assert run("check", clean, "--format", "json").out == "[]\n"
    assert run("check", clean, "--quiet").out == ""


def test_notes_are_no_failure(keep, run):
    done = run("check", "keep")
    assert (done.code, done.err) == (0, "") and done.out.endswith("\n1 note; 1 more note with --verbose\n")
    assert "PC0655" not in done.out and "PC0674 note: " in done.out
    assert "PC0655" not in run("check", "keep", "--format", "json").out
    everything = run("check", "keep", "--verbose").out
    assert everything.endswith("\n2 notes\n") and "PC0655 note: " in everything
    assert run("check", "keep", "--quiet").out == ""


def test_findings_are_printed_and_counted(run, tmp_path):
    done = run("check", _write(tmp_path, DEAD))
    assert done.code == 1 and done.err == ""
    assert "pack.yaml:6:" in done.out and done.out.splitlines()[-1].startswith("1 error")
    found = json.loads(run("check", str(tmp_path), "--format", "json").out)
    assert {one["level"] for one in found} >= {"error"}
    assert all(one["line"] and one["code"] in done.out for one in found if one["file"])


def test_errors_stand_before_warnings_and_warnings_before_notes(run, tmp_path):
    texts = "sections: [{id: a, text: '{state.x}'}, {id: b, text: '{{ nothing }}'}, {id: c, when: false, text: c}]\n"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, HEAD + texts)
    found = json.loads(run("check", str(tmp_path), "--format", "json").out)
    ranks = [["error", "warn", "note"].index(one["level"]) for one in found]
    assert ranks == sorted(ranks) and {0, 1, 2} == set(ranks) and len(ranks) >= 6


def test_notes_alone_are_no_findings_unless_strict(run, tmp_path):
    done = run("check", _write(tmp_path, HEAD + "sections: [{id: rules, text: a}]\n"))
    levels = {one["level"] for one in json.loads(run("check", str(tmp_path), "--format", "json").out)}
    assert levels <= {"note"} and done.code == 0
    assert run("check", str(tmp_path), "--strict").code == (1 if levels else 0)


@pytest.mark.parametrize("flags", [[], ["--format", "json"], ["--diagnostics", "json"]])
def test_a_pack_that_cannot_be_loaded_is_no_finding_but_an_error(flags, run, tmp_path):
    done = run("check", _write(tmp_path, HEAD + "sectoins: []\n"), *flags)
    assert (done.code, done.out) == (3, "")
    assert "PC02" in done.err
    if flags:
        assert all(json.loads(line)["file"] for line in done.err.splitlines())


# --- rule ---


def test_a_rule_is_explained(run):
    done = run("rule", "pc0531")
    assert done.code == 0 and done == run("rule", "PC0531")
    assert done.out.startswith("PC0531 error: ") and max(map(len, done.out.splitlines())) <= 80


def test_every_rule_is_listed(run):
    lines = run("rule", "--all").out.splitlines()
    assert [line.split()[0] for line in lines] == list(load_codes())
    assert [one["name"] for one in json.loads(run("rule", "--all", "--format", "json").out)] == list(load_codes())
    described = json.loads(run("rule", "PC0101", "--format", "json").out)
    assert described["name"] == "PC0101" and described["url"].endswith("/reference/codes.html#pc0101")


def test_families_of_rules(run):
    """Without a code the families are listed, and each lists its codes."""
    counted = dict(re.findall(r"^  (PC\d\d) +(\d+) codes  \S", run("rule").out, re.MULTILINE))
    listed = {family: run("rule", family).out.splitlines() for family in counted}
    assert {family: str(len(lines)) for family, lines in listed.items()} == counted
    assert [line.split()[0] for lines in listed.values() for line in lines] == list(load_codes())


def test_a_rule_near_the_one_asked_for(run):
    assert "did you mean `PC0201`?" in run("rule", "pc201").err


@pytest.mark.parametrize(("arguments", "code"), [(["PC9999"], "PC0728"), (["endif"], "PC0728"), (["PC0101", "--all"], "PC0720")])
def test_a_rule_nobody_knows(arguments, code, run):
    done = run("rule", *arguments)
    assert (done.code, done.out) == (2, "") and code in done.err


# --- schema ---


@pytest.mark.parametrize("kind", ["pack", "report", "case"])
def test_a_schema_is_the_shipped_one(kind, run):
    assert run("schema", kind).out == (ROOT / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8")


def test_the_schema_of_a_packs_states(keep, run):
    assert run("schema", "state", "keep").out == (KEEP / "state.schema.json").read_text(encoding="utf-8")


# contract 13.1
def test_a_report_is_valid_by_the_schema_that_is_printed(keep, run):
    schema = json.loads(run("schema", "report").out)
    for flags in ([], ["--budget", "20"], ["--format", "messages"]):
        jsonschema.validate(json.loads(run("explain", "keep", "keep/state.json", "--json", *flags).out), schema)


@pytest.mark.parametrize(
    ("arguments", "code"), [(["state"], "PC0720"), (["pack", "keep"], "PC0720"), (["nothing"], "PC0720"), (["state", "bare"], "PC0729")]
)
def test_a_schema_that_is_not_there(arguments, code, run, tmp_path, monkeypatch):
    (tmp_path / "bare").mkdir()
    _write(tmp_path / "bare", HEAD + "sections: [{id: rules, text: a}]\n")
    monkeypatch.chdir(tmp_path)
    done = run("schema", *arguments)
    assert (done.code, done.out) == (2, "") and code in done.err


# --- init ---

TEMPLATES = sorted(path.parent.name for path in (ROOT / "starters").glob("*/pack.yaml"))
_MODELINE = re.compile(r"# yaml-language-server: \$schema=(.*)")


@pytest.fixture
def made(run, tmp_path, monkeypatch):
    """Makes a pack of a template in an empty folder, and goes there: what was printed."""
    monkeypatch.chdir(tmp_path)

    def make(name, *arguments):
        done = run("init", name, *arguments)
        assert (done.code, done.out) == (0, "")
        monkeypatch.chdir(tmp_path / name)
        return done.err

    return make


def _list_files(folder="."):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_pack_works_at_once(template, made, run, golden):
    golden(f"init_{template}.txt", made("harbour", "--template", template))
    count = len(list(Path("cases").iterdir()))
    assert run("check", ".", "--strict").out.startswith("nothing found")
    done = run("test", "--no-cache")
    assert (done.code, done.out) == (0, f"{count} passed\n")
    for state in Path().glob("*.json"):
        if not state.name.endswith(".schema.json"):
            done = run("render", ".", state.name)
            assert (done.code, done.err) == (0, "") and done.out, state
            assert run("explain", ".", state.name).out.startswith("harbour 0.1.0 ")


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_pack_has_the_files_of_its_template(template, made):
    made("harbour", "--template", template)
    files = _list_files()
    cases = [path for path in files if path.endswith("/case.yaml")]
    noted = {f"{path.rpartition('/')[0]}/golden.inputs.json" for path in cases if b"\ngolden: " in files[path]}
    shipped = {path: content for name in ("common", template) for path, content in _list_files(ROOT / "starters" / name).items()}
    assert files.keys() == {*shipped, *noted, "pack.schema.json", "case.schema.json"}
    assert {".gitattributes", ".gitignore", "README.md", "state.schema.json", "state.json"} <= files.keys() and 2 <= len(cases) <= 6
    shipped["pack.yaml"] = shipped["pack.yaml"].replace(f"\nname: {template}\n".encode(), b"\nname: harbour\n")
    assert all(files[path] == content for path, content in shipped.items())
    assert all(files[f"{kind}.schema.json"] == (ROOT / "schemas" / f"{kind}.schema.json").read_bytes() for kind in ("pack", "case"))


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_schemas_a_new_pack_names_lie_where_it_says(template, made):
    made("harbour", "--template", template)
    for path in (Path("pack.yaml"), *Path("cases").glob("*/case.yaml")):
        named = _MODELINE.match(path.read_text(encoding="utf-8"))
        assert named, path
        assert (path.parent / named[1]).resolve() == Path(f"{path.stem}.schema.json").resolve()


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_a_new_pack_notes_beside_its_goldens_is_what_accept_would_note(template, made, run):
    made("harbour", "--template", template)
    before = _list_files("cases")
    for path in before:
        if "/golden." in path:
            Path("cases", path).unlink()
    run("test", "--no-cache")
    assert run("accept", "--all").code == 0
    assert _list_files("cases") == before


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_pack_may_lie_in_a_repository_of_packs(template, made, run, monkeypatch):
    """There its cases have another root."""
    made("packs/harbour", "--template", template)
    monkeypatch.chdir("../..")
    assert run("test", "packs/harbour", "--no-cache").code == 0


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_the_readme_of_a_new_pack_says_to_run_runs(template, made, run):
    made("harbour", "--template", template)
    (block,) = re.findall(r"^```sh\n(.*?)^```$", Path("README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert len(lines) >= 4
    for program, *arguments in lines:
        done = run(*arguments)
        assert (program, done.code) == ("promptc", 0), f"{arguments}: {done.err}"


def test_a_new_pack_may_be_the_home_folder(tmp_path, run, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert run("init", str(tmp_path)).code == 0
    assert (tmp_path / "cases/first/golden.inputs.json").is_file()


def test_an_index_that_was_left_stale_does_not_keep_init_from_ending(made, run):
    made("harbour", "--template", "rag")
    Path("cases/first/golden.inputs.json").unlink()
    Path("pages/bell.md").write_text("# Bell\n\nRing it.\n", encoding="utf-8")
    assert run("init", ".", "--template", "rag").code == 0
    assert Path("cases/first/golden.inputs.json").is_file()


def test_help_and_completion_name_every_template(run):
    said = run("init", "--help").out
    assert sorted(re.findall(r"^ {4}(\w+) {2,}\w", said, re.MULTILINE)) == TEMPLATES
    done = run("init", "x", "--template", "poem")
    assert (done.code, done.out) == (2, "") and all(f"'{name}'" in done.err for name in TEMPLATES)


def test_the_workflow_of_a_new_pack_uses_the_action_as_it_is():
    workflow = yaml.safe_load((ROOT / "starters/common/.github/workflows/promptc.yml").read_text(encoding="utf-8"))
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (used,) = [step for job in workflow["jobs"].values() for step in job["steps"] if step["uses"].startswith("OWNER/promptc@")]
    assert set(used["with"]) <= set(action["inputs"])


def test_without_a_template_it_is_a_chat_and_takes_the_name_of_its_folder(made, run):
    made("The Old House!")
    assert "the-old-house 0.1.0" in run("explain", ".", "state.json").out
    assert run("render", ".", "state.json").out.startswith("You are Ilse")
    assert "note: pinned content fits for every valid state" in run("check", ".", "--verbose").out


def test_in_the_working_folder_nobody_is_told_to_go_there(run, tmp_path, monkeypatch):
    (tmp_path / "inn").mkdir()
    monkeypatch.chdir(tmp_path / "inn")
    done = run("init", ".")
    assert done.code == 0 and "made the pack `inn`" in done.err and "cd " not in done.err


def test_the_first_failure_of_a_new_pack_shows_figures(made, run):
    made("inn")
    rules = Path("templates/rules.md.j2")
    rules.write_bytes(rules.read_bytes() + b"One more rule.\n")
    done = run("test", "--no-cache")
    assert done.code == 1 and "tokens 85 → 89 (+4)" in done.out


@pytest.mark.parametrize("name", ["42", "...", "π", "null", "true", "False"])
def test_a_folder_whose_name_is_no_packs_name(name, run, tmp_path):
    run("init", str(tmp_path / name))
    assert "\nname: my-pack\n" in (tmp_path / name / "pack.yaml").read_text(encoding="utf-8")


def test_nothing_is_overwritten(run, tmp_path):
    (tmp_path / "state.json").write_text("mine", encoding="utf-8")
    done = run("init", str(tmp_path))
    assert (done.code, done.out) == (4, "") and "PC0727" in done.err and "state.json" in done.err
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["mine"]
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run("init", str(tmp_path / "file" / "inn")).code == 4


def test_init_does_not_follow_a_link_in_the_folder(run, tmp_path):
    outside, inn = tmp_path / "outside", tmp_path / "inn"
    outside.mkdir()
    inn.mkdir()
    (inn / "cases").symlink_to(outside)
    done = run("init", str(inn))
    assert done.code == 4 and "PC0725" in done.err and "is a symbolic link" in done.err
    assert not list(outside.iterdir()) and list(inn.iterdir()) == [inn / "cases"]


@pytest.mark.parametrize("written", [0, 1, 2, 12, 23, 24, 27, 28, 29])
def test_an_init_that_was_stopped_is_ended_by_the_next(run, tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    assert run("init", "whole/inn").code == 0
    whole = {path.relative_to("whole"): path.read_bytes() for path in Path("whole").rglob("*") if path.is_file()}
    assert len(whole) == 29
    rest = iter(range(written))

    def write(path, data):
        if next(rest, None) is None:
            raise KeyboardInterrupt
        write_file(path, data)

    monkeypatch.setattr(pack_info, "write_file", write)
    assert run("init", "inn").code == (130 if written < 29 else 0)
    monkeypatch.setattr(pack_info, "write_file", write_file)
    assert run("init", "inn").code == 0
    assert {path: path.read_bytes() for path in Path("inn").rglob("*") if path.is_file()} == whole


@pytest.mark.parametrize("name", ["pack.yaml", "cases/first/golden.inputs.json"])
@pytest.mark.parametrize("how", ["other", "longer", "link", "folder"])
def test_what_is_not_what_would_be_made_is_refused_and_nothing_is_written(run, tmp_path, name, how):
    run("init", str(tmp_path / "whole" / "inn"))
    made = (tmp_path / "whole" / "inn" / name).read_bytes()
    path = tmp_path / "inn" / name
    path.parent.mkdir(parents=True)
    if how == "folder":
        path.mkdir()
    elif how == "link":
        path.symlink_to(tmp_path / "whole" / "inn" / name)
    else:
        path.write_bytes(made + b"x" if how == "longer" else b"x" * len(made))
    done = run("init", str(tmp_path / "inn"))
    assert done.code == 4 and done.err.count("PC0727") == 1 and name in done.err
    assert [path.name for path in (tmp_path / "inn").rglob("*") if not path.is_dir()] in ([], [path.name])


# --- the rest ---


# contract 12.5
def test_the_version_names_the_vocabularies(run):
    lines = run("--version").out.splitlines()
    assert re.fullmatch(r"promptc \d+\.\d+\.\d+", lines[0])
    assert lines[1:] == [f"{name} sha256:{vocabulary.sha256}" for name, vocabulary in VOCABULARIES.items()]


@pytest.mark.parametrize("variable", ["PROMPTC_CACHE", "XDG_STATE_HOME"])
def test_the_version_says_why_nothing_is_cached(variable, run, tmp_path, monkeypatch):
    """With umask 002, which many systems set, folders are made so that their group can write them."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("PROMPTC_CACHE", str(tmp_path / "cache" / "promptc"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv(variable, str(tmp_path / "home" / "not" / "made" / "yet"))
    for mode, told in ((0o775, [f"cache off: others can write `{tmp_path}/home`; `chmod go-w` mends that"]), (0o755, [])):
        (tmp_path / "home").chmod(mode)
        assert run("--version").out.splitlines()[1 + len(VOCABULARIES) :] == told
    (tmp_path / "home").chmod(0o777)
    monkeypatch.setenv("PROMPTC_CACHE", "")
    assert len(run("--version").out.splitlines()) == 1 + len(VOCABULARIES)


def test_a_vocabulary_that_is_missing_or_another_is_told(run, tmp_path, monkeypatch):
    monkeypatch.setattr("promptc.text.counters.bpe._FOLDER", tmp_path)
    (tmp_path / "o200k_base.tokens").write_bytes(b"x")
    assert [line.split(" ", 1)[1][-20:] for line in run("--version").out.splitlines()[1:]] == ["missing", "(another was shipped)"[-20:]]


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", ""),
        ("fmt", ""),
        ("prune", ""),
        ("check", ""),
        ("check", "starters/chat", ""),
        ("test", ""),
        ("render", "", "starters/chat/state.json"),
        ("render", "starters/chat", "starters/chat/state.json", "-o", ""),
        ("segments", "import", "", "--url", "sqlite:none.db"),
        ("map", ""),
    ],
)
def test_an_empty_path_is_not_the_current_folder(arguments, run, tmp_path, monkeypatch):
    """It comes from a variable of the shell that is not set."""
    (tmp_path / "pack.yaml").write_text("promptc:   1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert (done.code, done.out) == (2, "") and done.err.startswith("PC0720 ") and "is empty" in done.err
    assert [one.name for one in tmp_path.iterdir()] == ["pack.yaml"]
