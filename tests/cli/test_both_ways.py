"""A render's command line is read by click or without it, its pack from its files or from the cache: always the same comes of it."""

import contextlib
import os
from pathlib import Path

import click
import pytest

from promptc import api
from promptc.cli import run as running
from promptc.cli.commands.render import render_command
from promptc.cli.group import group
from promptc.cli.options import RENDER, REQUEST, SETTINGS, read_render
from promptc.diag.findings import UsageError
from promptc.frontend import kept_pack
from promptc.golden.running.resources import SuiteResources, work_in
from tests.cases.case import ROOT, load_cases, read_raw
from tests.cases.given import OwnShell
from tests.cli.conftest import KEEP
from tests.size import read_size


def _choose():
    """The cases that render, by name; for a commit one of those that differ in nothing but their state."""
    chosen = {}
    for case in load_cases():
        if (case.kind == "run" and case.asked[0] == "render") or (case.kind == "render" and "call" not in case.given):
            line = case.asked if case.kind == "run" else (case.pack, case.flags)
            chosen.setdefault(repr((line, case.given, case.exit)) if read_size() == "commit" else case.name, case)
    return list(chosen.values())


CASES = _choose()
PACK, STATE = "keep", "keep/state.json"
COMMANDS = [
    (),
    ("--budget", "9000"),
    ("--budget=9000", "--format=messages"),
    ("--format", "messages", "--only", "rules", "--only", "input"),
    ("--variant", "mood=calm", "--patch", "terse"),
    ("--mood", "calm", "--mood", "calm"),
    ("--format", "openai", "--model", "gpt-5.6"),
    ("--format=anthropic", "--model=claude-opus-5-5", "--report", "report.json"),
    ("--format", "gemini", "--only", "input"),
    ("--try", "sections.lore.budget=60", "--try=budget=400"),
    ("--model", "gpt-5.6"),
    ("--model", ""),
    ("--set", "/turn=3", "--set", '/input="a=b"'),
    ("--quiet", "--traceback", "--no-cache"),
    ("--color=always", "--diagnostics", "json"),
    ("--report", "report.json", "--output", "prompt.txt"),
    ("--only=input", "--budget", "1"),
    ("--try", "sections.lore.budgte=60"),
    ("--try", "sections.lroe.budget=60"),
    # what may be wrong, and is not read without click
    ("--try", "budget"),
    ("--try", "=1"),
    ("--try", "budget="),
    ("--try",),
    ("--budget", "0"),
    ("--budget", "x"),
    ("--budget",),
    ("--format", "html"),
    ("--format", "TEXT"),
    ("--color", "red"),
    ("--diagnostics=xml",),
    ("--output", "-o"),
    ("--output=",),
    ("--nothing",),
    ("--quiet=1",),
    ("-o", "prompt.txt"),
    ("--", "third"),
    ("third",),
    ("--help",),
    ("--mood", "--quiet"),
    ("--variant", "mood"),
    ("--variant", "mood=calm", "--mood", "action"),
    ("--set", "turn"),
    ("--set", "/turn"),
    ("--store", "main=sqlite:a.db"),
    ("--store", "main"),
    ("--store", "main=sqlite:a.db", "--store=main=sqlite:b.db"),
]


@pytest.fixture
def ways(run, monkeypatch):
    """What a command line comes to: by click and from the files, then twice without click and with the cache."""

    def call(*arguments):
        with monkeypatch.context() as patched:
            patched.setattr(running, "read_render", lambda given: None)
            first = run(arguments[0], "--no-cache", *arguments[1:])
        return [first, run(*arguments), run(*arguments)]

    return call


@pytest.mark.sampled(9)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_comes_to_the_same(case, ways, tmp_path):
    with SuiteResources() as resources, OwnShell().surround(case, resources) as there, work_in(there.root):
        stores = [part for name, url in there.stores.items() for part in ("--store", f"{name}={url}")]
        results = ways(*(case.asked if case.kind == "run" else [*_write_command(case, tmp_path), *stores]))
    assert results[0] == results[1] == results[2]
    assert results[0].code == case.exit


@pytest.mark.parametrize("options", COMMANDS, ids=" ".join)
def test_a_command_line_comes_to_the_same(options, ways, keep, tmp_path):
    with contextlib.chdir(tmp_path):
        folder = str(KEEP)
        results = ways("render", folder, f"{folder}/state.json", *options)
        assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("options", COMMANDS, ids=" ".join)
def test_what_is_read_without_click_is_what_click_reads(options, monkeypatch):
    arguments = ["render", PACK, STATE, *options]
    seen = []
    monkeypatch.setattr("promptc.cli.commands.render.run_render", lambda reporter, asked: seen.append(asked) or 0)
    try:
        with group.make_context("promptc", list(arguments)) as context:
            group.invoke(context)
    except (click.exceptions.Exit, click.UsageError, UsageError) as wrong:
        seen.append(type(wrong))
    try:
        found = read_render(arguments)
    except UsageError as wrong:
        found = type(wrong)
    assert found is None or found == seen[0]


def test_plain_command_lines_need_no_click():
    for options in COMMANDS[:12]:
        assert read_render(["render", PACK, STATE, *options]) is not None
    assert read_render(["render", PACK, "-"]) is not None
    for others in ([], ["check", PACK], ["render"], ["render", PACK], ["render", "", STATE], ["--quiet", "render", PACK, STATE]):
        assert read_render(others) is None


def test_the_options_are_those_of_click():
    """A new option has to be known here, too, or named as one that is left to click."""
    with click.Context(render_command) as context:
        names = {name for param in render_command.get_params(context) for name in param.opts if name.startswith("--")}
    assert names == {*(option.name for option in (*REQUEST, *RENDER, *SETTINGS)), "--help"}


def test_a_second_render_is_warm(run, keep, monkeypatch):
    """Else the tests above would say nothing."""
    found = []
    find = kept_pack.find_kept
    monkeypatch.setattr("promptc.frontend.kept_pack.find_kept", lambda *given: found.append(find(*given)) or found[-1])
    for pack, state in ((PACK, STATE), (str(ROOT / "packs/sentinel"), str(ROOT / "fixtures/sentinel/base/table.json"))):
        assert [run("render", pack, state).code for _ in range(2)] == [0, 0]
        assert found[-1] is not None


def test_a_state_under_another_tier_is_warm(run, monkeypatch):
    """All tiers of a choice are kept with it; another choice is found afresh, and kept with what was there."""
    loads = []
    load = api._PackSource.load
    monkeypatch.setattr(api._PackSource, "load", lambda files: loads.append(files.path) or load(files))
    pack, calm = str(ROOT / "packs/sentinel"), str(ROOT / "fixtures/sentinel/base/table.json")
    full = str(ROOT / "fixtures/sentinel/base/overfull.json")
    run("render", pack, calm)
    before = len(loads)
    run("render", pack, full)
    assert len(loads) == before
    run("render", pack, calm, "--variant", "retrieval=deep")
    for state in (calm, full):
        for options in ((), ("--variant", "retrieval=deep")):
            before = len(loads)
            run("render", pack, state, *options)
            assert len(loads) == before


def _write_command(case, folder) -> list[str]:
    flags = case.flags
    raw, path = read_raw(case), Path(case.folder, case.states[0].base)
    if raw != path.read_bytes():
        path = folder / "state.json"
        path.write_bytes(raw)
    options = [part for axis, chosen in flags.get("variant", {}).items() for part in ("--variant", f"{axis}={chosen}")]
    options += [part for name in flags.get("patch", ()) for part in ("--patch", name)]
    options += [part for name in ("budget", "mood", "format", "only") if name in flags for part in (f"--{name}", str(flags[name]))]
    return ["render", case.pack, str(path), *options]


@pytest.mark.parametrize("folder", ["/dev/null/cache", "relative\0name", ""], ids=repr)
def test_without_a_folder_everything_works(folder, run, keep, monkeypatch):
    """It cannot be made; none is told of."""
    expected = run("render", PACK, STATE, "--no-cache")
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setattr("promptc.cache.os.environ", {**os.environ, "PROMPTC_CACHE": folder})
    assert run("render", PACK, STATE) == run("render", PACK, STATE) == expected
