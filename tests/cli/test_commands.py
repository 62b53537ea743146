"""The smaller commands: check, rule, schema, init, completion, --version."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

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


def test_a_new_pack_renders_at_once_and_is_clean(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("init", "The Old House!").code == 0
    monkeypatch.chdir(tmp_path / "The Old House!")
    files = sorted(path.relative_to(tmp_path / "The Old House!").as_posix() for path in tmp_path.rglob("*") if path.is_file())
    cases = [f"cases/first/{name}" for name in ("case.yaml", "golden.inputs.json", "golden.txt")]
    shown = ["pack.schema.json", "pack.yaml", "state.json", "state.schema.json", "templates/rules.md.j2"]
    assert files == [".gitattributes", ".gitignore", *cases, *shown]
    done = run("render", ".", "state.json")
    assert (done.code, done.err) == (0, "") and done.out.startswith("You are Ilse")
    assert run("check", ".").out == "nothing found; 1 more note with --verbose\n"
    assert "note: pinned content fits for every valid state" in run("check", ".", "--verbose").out
    assert "the-old-house 0.1.0" in run("explain", ".", "state.json").out


def test_the_first_failure_of_a_new_pack_shows_figures(run, tmp_path, monkeypatch):
    """What is noted beside its golden is what `promptc accept` would note."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    run("init", "inn")
    folder = tmp_path / "inn" / "cases" / "first"
    noted = (folder / "golden.inputs.json").read_bytes()
    assert run("test", "inn", "--no-cache").code == 0
    rules = tmp_path / "inn" / "templates" / "rules.md.j2"
    was = rules.read_bytes()
    rules.write_bytes(was + b"One more rule.\n")
    done = run("test", "inn", "--no-cache")
    assert done.code == 1 and "tokens 85 → 89 (+4)" in done.out
    rules.write_bytes(was)
    (folder / "golden.txt").unlink()
    run("test", "inn", "--no-cache")
    assert run("accept", "inn").code == 0
    assert (folder / "golden.inputs.json").read_bytes() == noted


def test_a_new_pack_names_the_schema_that_lies_beside_it(run, tmp_path):
    run("init", str(tmp_path / "inn"))
    manifest = (tmp_path / "inn" / "pack.yaml").read_text(encoding="utf-8")
    assert manifest.startswith("# yaml-language-server: $schema=pack.schema.json\n") and "\nname: inn\n" in manifest
    assert (tmp_path / "inn" / "pack.schema.json").read_bytes() == (ROOT / "schemas" / "pack.schema.json").read_bytes()
    assert "starter" not in manifest and ".." not in manifest


def test_the_least_state_renders(run, tmp_path):
    """Everything but the input has a default."""
    run("init", str(tmp_path / "inn"))
    assert "ask." in run("render", str(tmp_path / "inn"), "-", stdin=b'{"input": "Hello?"}').out


@pytest.mark.parametrize("name", ["42", "...", "π"])
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


@pytest.mark.parametrize("written", range(11))
def test_an_init_that_was_stopped_is_ended_by_the_next(run, tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    assert run("init", "whole/inn").code == 0
    whole = {path.relative_to("whole"): path.read_bytes() for path in Path("whole").rglob("*") if path.is_file()}
    assert len(whole) == 10
    rest = iter(range(written))

    def write(path, data):
        if next(rest, None) is None:
            raise KeyboardInterrupt
        write_file(path, data)

    monkeypatch.setattr(pack_info, "write_file", write)
    assert run("init", "inn").code == (130 if written < 10 else 0)
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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell, run):
    assert "_PROMPTC_COMPLETE" in run("completion", shell).out


@pytest.mark.parametrize(
    ("words", "offers"), [("promptc ex", "explain"), ("promptc rule PC053", "PC0531"), ("promptc render --bud", "--budget")]
)
def test_a_shell_is_answered(words, offers, run, monkeypatch):
    monkeypatch.setenv("_PROMPTC_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert offers in run().out
