"""A file of states to a file of rows: what stands in a row, any number of processes, every way to stop, and going on."""

import errno
import io
import json
import os
import pickle
import re
import signal
from datetime import datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promptc
from promptc import batch as module
from promptc.batch import Batch, RowRenderer, run_batch
from promptc.diag.findings import DiskError, PromptcError, UsageError
from promptc.files.atomic import GrowingFile
from promptc.frontend.corpus import build_corpus
from promptc.frontend.pack import ReadPack
from promptc.sources import arrow
from tests.contract.sources import ROOT
from tests.size import read_size

DEMO = str(ROOT / "fixtures" / "demo")
STATE = json.loads((ROOT / "fixtures" / "demo" / "state.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    """A few lines at a time, each of them on the disk before the next."""
    monkeypatch.setattr(module, "_CHUNK_LINES", 3)
    monkeypatch.setattr(module, "_PAUSE", 0)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # whoever is killed leaves what was written, whether it is on the disk or not


def say(number, **more):
    """A state that is unlike others, as a line."""
    return json.dumps({"turns": STATE["turns"][: number % 5], "input": f"Ada: Which door is {number}?", **more}).encode()


def run(folder, lines, *, name="out.jsonl", ending=b"\n", **asked):
    """Renders lines to `folder/out.jsonl`; the rows, and the quarantined lines."""
    wanted = Batch(**{"pack": DEMO, "output": str(folder / name), **asked})
    done = run_batch(wanted, io.BytesIO(b"\n".join(lines) + (ending if lines else b"")), "states.jsonl")
    return done, *read(folder, name)


def read(folder, name="out.jsonl"):
    """The rows and the quarantined lines of a folder with nothing else in it."""
    out, aside = folder / name, folder / f"{Path(name).stem}.quarantine.jsonl"
    assert {path.name for path in folder.iterdir()} <= {out.name, aside.name}
    return [one.read_bytes() if one.exists() else b"" for one in (out, aside)]


def load(rows):
    return [json.loads(row) for row in rows.splitlines()]


# --- a row ---


# contract 12.6
@pytest.mark.parametrize(
    ("pack", "state"),
    [
        ("fixtures/demo", "fixtures/demo/state.json"),
        ("packs/sentinel", "fixtures/sentinel/calm/state.json"),
        ("packs/sentinel", "fixtures/sentinel/base/table.json"),
        ("fixtures/tools/base", "fixtures/tools/base/state.json"),
        ("fixtures/album/base", "fixtures/album/base/state.json"),
    ],
)
def test_a_row_says_what_the_report_says(pack, state):
    loaded, raw, met = promptc.load(ROOT / pack), (ROOT / state).read_bytes(), 0
    for asked in ({}, {"budget": 2500}, {"format": "text"}, {"format": "messages"}, {"format": "openai"}):
        try:
            prompt = loaded.render(raw, **asked)
        except PromptcError:
            continue
        row, report = RowRenderer(loaded, asked).render(module.StateLine(1, raw)).row, prompt.report
        sections = {one["id"]: one["tokens"] for one in report["sections"] if one["state"] == "present"}
        assert row["tokens"] == report["tokens"] and row["sections"] == sections and row["tier"] == report["strain"]
        assert row["digest"] == report["digests"]["state"] == loaded.load_state(raw).digest
        assert {one["code"] for one in report["warnings"]} <= {one["code"] for one in row["diagnostics"]}
        made = prompt.to("openai") if prompt.provider else prompt.messages if prompt.format == "messages" else prompt.text
        assert row["body" if prompt.provider else "messages" if prompt.format == "messages" else "prompt"] == made
        met += 1
    assert met > 1


def test_what_the_budget_took_is_counted():
    row = RowRenderer(promptc.load(ROOT / "fixtures" / "demo"), {}).render(module.StateLine(1, json.dumps(STATE).encode())).row
    report = promptc.load(ROOT / "fixtures" / "demo").render(STATE).report
    gone = [item for cut in report["cuts"] for item in cut["items"]]
    assert row["dropped"] == {"recent": len(gone)} and gone


def test_what_lies_beyond_reach_is_counted_with_it():
    log = [{"type": "A", "speaker": "B", "text": f"word {number} and more"} for number in range(3000)]
    prompt = promptc.load(ROOT / "benchmarks" / "reach")
    row = RowRenderer(prompt, {}).render(module.StateLine(1, json.dumps({"transcript": log, "input": "x"}).encode())).row
    stand = next(len(one["items"]) for one in prompt.render({"transcript": log, "input": "x"}).report["sections"] if one["id"] == "log")
    assert row["dropped"] == {"log": 3000 - stand} and stand > 100


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (say(1), "1"),
        (say(1, id="ada"), "ada"),
        (say(1, id=7), "7"),
        (say(1, id=1.5), "1"),
        (say(1, id=True), "1"),
        (json.dumps({"id": "x", "state": STATE}).encode(), "x"),
        (json.dumps({"state": STATE}).encode(), "1"),
        (json.dumps({"state": {**STATE, "id": "inner"}}).encode(), "1"),
    ],
)
def test_ids(line, id, tmp_path):
    _, rows, aside = run(tmp_path, [line])
    assert [row["id"] for row in load(rows)] == [id] and not aside


def test_a_wrapped_state_makes_the_row_of_a_bare_one(tmp_path):
    done, rows, _ = run(tmp_path, [json.dumps(STATE).encode(), json.dumps({"state": STATE, "id": "1"}).encode()])
    bare, wrapped = load(rows)
    assert bare == wrapped and done.rendered == 2


def test_equal_ids_are_rows_of_their_own(tmp_path):
    _, rows, _ = run(tmp_path, [say(1, id="ada"), say(2, id="ada")])
    assert [(row["id"], "is 1?" in row["prompt"]) for row in load(rows)] == [("ada", True), ("ada", False)]


def test_a_number_too_precise_stays_what_it_was(tmp_path):
    assert load(run(tmp_path, [say(1, id=12345678901234567890123)])[1])[0]["id"] == "12345678901234567890123"


# --- what is wrong with a line is that line's ---

BAD = {
    b'{"turns": ': "PC0130",
    b"\xff\xfe\x00": "PC0101",
    b"[1]": "PC0390",
    b'{"id": null, "state": {}}': "PC0717",
    b'{"state": 3}': "PC0390",
    b'{"a": 1, "a": 2}': "PC0106",
    b'{"a": NaN}': "PC0131",
    b"[" * 2000 + b"]" * 2000: "PC0105",
    b'{"input": "\\ud800"}': "PC0132",
    b'"' + b"x" * 5000: "PC0102",
    json.dumps({"turns": 5, "input": "x"}).encode(): "PC0",
    json.dumps({"turns": [], "input": "word " * 400}).encode(): "PC053",
}


@pytest.mark.parametrize(("bad", "code"), BAD.items(), ids=map(repr, range(len(BAD))))
def test_a_bad_line_costs_itself_and_nothing_else(bad, code, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_STATE_BYTES", 5000)
    (tmp_path / "a").mkdir()
    lines = [say(number) for number in range(1, 8)]
    _, alone, _ = run(tmp_path / "a", [*lines[:3], b"", *lines[4:]])
    (tmp_path / "b").mkdir()
    done, rows, aside = run(tmp_path / "b", [*lines[:3], bad, *lines[4:]])
    (refused,) = load(aside)
    assert rows == alone and (done.rendered, done.failed) == (6, 1)
    assert refused["line"] == 4 and refused["id"] == "4" and refused["diagnostics"][0]["code"].startswith(code)
    assert refused["input"] == (bad.decode("utf-8", "replace") if len(bad) <= 5000 else None)


def test_a_line_without_an_end_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_STATE_BYTES", 5000)
    monkeypatch.setattr(module, "_LONGEST_LINE", 1 << 21, raising=False)
    with pytest.raises(DiskError) as stopped:
        run(tmp_path, [say(1), b"x" * (1 << 23)])
    (found,) = stopped.value.diagnostics
    assert found.code == "PC0102" and "line 2 of " in found.message and found.message.endswith("has no end in its first 2097152 bytes")


def test_the_lines_that_are_put_aside_may_be_rendered_again(tmp_path):
    lines = [json.dumps({"turns": [], "input": "word " * 400, "id": number}).encode() for number in range(5)]
    aside = run(tmp_path, lines)[2]
    again = [one["input"].encode() for one in load(aside)]
    assert again == lines
    (tmp_path / "again").mkdir()
    assert run(tmp_path / "again", again, options={"budget": 2000})[0].rendered == 5


# contract 12.7
@pytest.mark.parametrize("on_error", ["skip", "quarantine", "fail"])
def test_what_becomes_of_a_state_without_a_prompt(on_error, tmp_path):
    lines = [say(1), say(2), b"{", say(4), b"}", say(6), say(7)]
    if on_error == "fail":
        with pytest.raises(PromptcError) as stopped:
            run(tmp_path, lines, on_error=on_error)
        (found,) = stopped.value.diagnostics
        assert str(found).startswith("states.jsonl:3:") and stopped.value.exit_code == 3
        assert not (tmp_path / "out.jsonl").exists()
        return
    told = []
    wanted = Batch(DEMO, str(tmp_path / "out.jsonl"), on_error=on_error)
    done = run_batch(wanted, io.BytesIO(b"\n".join(lines)), "states.jsonl", tell=told.extend)
    rows, aside = read(tmp_path)
    assert [row["id"] for row in load(rows)] == ["1", "2", "4", "6", "7"] and done.failed == 2
    assert [one["line"] for one in load(aside)] == ([3, 5] if on_error == "quarantine" else [])
    assert [one.span.line for one in told] == [3, 5]


def test_a_key_that_is_there_twice_is_named_by_the_line_of_the_file(tmp_path):
    with pytest.raises(PromptcError) as error:
        run(tmp_path, [say(1), b'{"input": "a", "input": "b"}'], on_error="fail")
    assert "states.jsonl:2:16: PC0106" in str(error.value) and "the first is at column 2 of the same line" in str(error.value)


def test_a_finding_in_the_pack_names_the_line(tmp_path):
    told = []
    wanted = Batch(DEMO, str(tmp_path / "out.jsonl"), {"budget": 9})
    run_batch(wanted, io.BytesIO(b"\n".join([say(1)] * 50)), "states.jsonl", tell=told.extend)
    assert [one.message.split(":")[0] for one in told] == [f"line {number}" for number in range(1, 21)]


@pytest.mark.parametrize("wrong", [{"variants": {"mood": "calm"}}, {"patches": ("none",)}, {"format": "smoke"}])
def test_what_no_state_can_mend_ends_the_run_and_leaves_nothing(wrong, tmp_path):
    with pytest.raises(UsageError):
        run(tmp_path, [say(1)], options=wrong)
    assert not list(tmp_path.iterdir())


def test_a_change_that_one_state_does_not_take_is_that_states(tmp_path):
    lines = [say(4), say(0), say(4)]
    done, rows, aside = run(tmp_path, lines, changes=(("/turns/1/text", '"Changed."'),))
    assert [row["id"] for row in load(rows)] == ["1", "3"] and all("Changed." in row["prompt"] for row in load(rows))
    assert load(aside)[0]["diagnostics"][0]["code"] == "PC0722" and done.failed == 1


# --- files ---


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_pack_is_compiled_once_for_all_runs(jobs, tmp_path, monkeypatch):
    monkeypatch.setenv("PROMPTC_CACHE", str(tmp_path / "cache"))
    (tmp_path / "rows").mkdir()
    _, first, _ = run(tmp_path / "rows", [say(1), say(2)])
    monkeypatch.setattr(ReadPack, "compile", None)
    _, again, _ = run(tmp_path / "rows", [say(1), say(2)], existing="replace", jobs=jobs)
    assert again == first


def test_an_empty_file_is_no_rows(tmp_path):
    done, rows, aside = run(tmp_path, [])
    assert rows == aside == b"" and (tmp_path / "out.jsonl").exists() and done.rendered == 0


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b"\n\n \n"])
def test_the_last_line_may_end_or_not(ending, tmp_path):
    lines = [say(number) for number in range(7)]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert run(tmp_path / "a", lines, ending=ending)[1] == run(tmp_path / "b", lines)[1]


@pytest.mark.parametrize("mark", [*module._COMPRESSED])
def test_what_is_compressed_is_not_read(mark, tmp_path):
    with pytest.raises(DiskError, match="PC0714"):
        run(tmp_path, [mark + b"rest", say(1)])
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_stays(tmp_path):
    for name in ("out.jsonl", "out.quarantine.jsonl", "out.jsonl.part", "out.quarantine.jsonl.part"):
        (tmp_path / name).write_bytes(b"kept")
        with pytest.raises(DiskError, match="PC0711"):
            run(tmp_path, [say(1)])
        assert (tmp_path / name).read_bytes() == b"kept"
        (tmp_path / name).unlink()


def test_a_file_that_is_there_is_replaced_where_that_is_asked(tmp_path):
    first = run(tmp_path, [say(1), b"{"])
    assert first[2]
    second = run(tmp_path, [say(2)], existing="replace")
    assert load(second[1])[0]["id"] == "1" and second[1] != first[1] and not second[2], "nor is anything left in quarantine"


def test_two_runs_do_not_write_one_output(tmp_path):
    other = GrowingFile(str(tmp_path / "out.jsonl"), 0)
    with pytest.raises(DiskError, match="another process is writing"):
        run(tmp_path, [say(1)], existing="replace")
    other.close()


def test_states_are_read_no_further_than_they_are_rendered(tmp_path):
    """Memory does not grow with the file: what is read ahead is a few chunks for each process."""
    ahead = []

    class Endless(io.RawIOBase):
        read_lines = 0

        def readline(self, size=-1):
            self.read_lines += 1
            return say(self.read_lines) + b"\n" if self.read_lines <= 600 else b""

    states = Endless()
    wanted = Batch(DEMO, str(tmp_path / "out.jsonl"), jobs=2)
    run_batch(wanted, states, "states.jsonl", note=lambda done, _: ahead.append(states.read_lines - done.mark.line))
    assert len(ahead) == 201 and max(ahead) <= 3 * (2 * 8 + 2)


# --- any number of processes ---

LINES = st.lists(
    st.sampled_from([*(say(number) for number in range(9)), *(say(3, id="ada"), b"", b" ", b"\r", *list(BAD)[:7])]), max_size=20
)


@settings(deadline=None, max_examples=12)
@given(lines=LINES, jobs=st.sampled_from([2, 3]), on_error=st.sampled_from(["skip", "quarantine"]), ends=st.booleans())
def test_any_number_of_processes_writes_the_same(lines, jobs, on_error, ends, tmp_path_factory):
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "many")]
    ending = b"\n" if ends else b""
    one, many = (run(folder, lines, jobs=count, on_error=on_error, ending=ending) for folder, count in zip(folders, (1, jobs), strict=True))
    assert one == many
    renderer = RowRenderer(promptc.load(DEMO), {})
    rows = [renderer.render(module.StateLine(number, raw)) for number, raw in enumerate(b"\n".join(lines).split(b"\n"), 1) if raw.strip()]
    assert load(one[1]) == [one.row for one in rows if not one.findings]


def test_the_first_that_fails_is_told_whoever_comes_to_it_first(tmp_path):
    lines = [*[say(number) for number in range(40)], b"{", *[b"}"] * 40]
    for jobs in (1, 2, 4):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        with pytest.raises(PromptcError) as stopped:
            run(folder, lines, jobs=jobs, on_error="fail")
        assert str(stopped.value).startswith("states.jsonl:41:2: PC0130")


# --- to be stopped, and to go on ---

WRITING = ("open", "write", "fsync", "ftruncate", "replace", "unlink", "close")
MANY = [say(1), say(2), b"{", say(4), say(5), say(6, id="x"), b"", say(8), b"[]", say(10)]


class Dying:
    """Kills the process ahead of the call of that number, of all that write."""

    def __init__(self, number):
        self.seen = 0
        self.number = number
        for name in WRITING:
            setattr(os, name, partial(self.call, getattr(os, name)))

    def call(self, call, *arguments, **named):
        self.seen += 1
        if self.seen == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)


def _run_dying(folder, number, lines, existing, jobs):
    Dying(number)
    run(folder, lines, existing=existing, jobs=jobs)
    os._exit(0)


def is_killed(folder, number, lines=MANY, existing="resume", jobs=1):
    """Whether a run was killed ahead of that call, rather than done before."""
    process = get_context("fork").Process(target=_run_dying, args=(folder, number, lines, existing, jobs))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return run(tmp_path_factory.mktemp("unbroken"), MANY)


# contract 12.8
@pytest.mark.dear
def test_killed_ahead_of_every_call_and_gone_on_with(unbroken, tmp_path):
    number, dead = 0, 0
    while True:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        was_killed = is_killed(folder, number)
        dead += was_killed
        if not (was_killed and (folder / "out.jsonl").exists() and not (folder / "out.jsonl.part.json").exists()):
            assert run(folder, MANY, existing="resume")[1:] == unbroken[1:] if was_killed else True
        assert read(folder) == list(unbroken[1:]), number
        if not was_killed:
            break
    assert dead > 30


@settings(deadline=None, max_examples=12 if read_size() == "commit" else 60)
@given(numbers=st.lists(st.integers(1, 50), max_size=5), jobs=st.sampled_from([1, 1, 2]))
def test_killed_again_and_again(unbroken, numbers, jobs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    for number in numbers:
        if (folder / "out.jsonl").exists() and not (folder / "out.jsonl.part.json").exists():
            break
        is_killed(folder, number, jobs=jobs)
    if not (folder / "out.jsonl").exists() or (folder / "out.jsonl.part.json").exists():
        run(folder, MANY, existing="resume")
    assert read(folder) == list(unbroken[1:])


class Failing(Dying):
    """Lets that call fail instead."""

    def __init__(self, patched, number, fault):
        self.seen, self.number, self.fault = 0, number, fault
        for name in ("write", "fsync", "ftruncate", "replace"):
            patched.setattr(os, name, partial(self.call, getattr(os, name)))

    def call(self, call, *arguments, **named):
        self.seen += 1
        if self.seen == self.number:
            raise self.fault
        return call(*arguments, **named)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("fault", "help"),
    [(OSError(errno.ENOSPC, "No space left on device"), "make room"), (OSError(errno.EIO, "Input/output error"), "name a file")],
    ids=["full", "broken"],
)
def test_a_disk_that_fails_at_every_call(fault, help, unbroken, tmp_path):
    found, faults = [], None
    for number in range(1, 100):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patched:
            faults = Failing(patched, number, fault)
            found += _fail(folder)
        if (folder / "out.jsonl.part.json").exists() or not (folder / "out.jsonl").exists():
            run(folder, MANY, existing="resume")
        assert read(folder) == list(unbroken[1:])
        if faults.seen < number:
            break
    assert len(found) > 20 and all(one.code == "PC0725" and one.help.startswith(help) for one in found)


def _fail(folder):
    """What a run is told, if anything."""
    try:
        run(folder, MANY)
    except DiskError as error:
        return error.diagnostics
    return ()


def test_what_was_done_before_a_state_that_fails_is_not_done_again(tmp_path):
    lines = [say(number) for number in range(1, 20)]
    broken = [*lines[:10], b"{", *lines[11:]]
    with pytest.raises(PromptcError, match=r"states\.jsonl:11:"):
        run(tmp_path, broken, on_error="fail")
    begun = json.loads((tmp_path / "out.jsonl.part.json").read_bytes())
    assert begun["mark"]["line"] == 9 and begun["rendered"] == 9
    done, rows, _ = run(tmp_path, lines, on_error="fail", existing="resume")
    assert done.rendered == 19 and [row["id"] for row in load(rows)] == [str(number) for number in range(1, 20)]


def stop(folder, **asked):
    with pytest.raises(PromptcError):
        run(folder, [say(1), say(2), say(3), say(4), b"{"], on_error="fail", **asked)
    assert (folder / "out.jsonl.part.json").exists()


@pytest.mark.parametrize(
    ("lines", "asked", "says"),
    [
        ([say(1), say(2), say(4), say(4)], {}, "the first 3 lines of `states.jsonl` are not what they were"),
        ([say(1)], {}, "the first 3 lines of `states.jsonl` are not what they were"),
        ([], {"options": {"budget": 300}}, "what is asked of each render"),
        ([], {"changes": (("/input", '"x"'),)}, "what is asked of each render"),
        ([], {"on_error": "skip"}, "`--on-error`"),
        ([], {"pack": str(ROOT / "packs" / "sentinel")}, "the pack is"),
    ],
)
def test_a_run_of_something_else_is_not_gone_on_with(lines, asked, says, tmp_path):
    stop(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(DiskError, match="PC0713") as refused:
        run(tmp_path, lines or [say(1), say(2), say(3), say(4)], existing="resume", **{"on_error": "fail", **asked})
    assert says in str(refused.value)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".lock"} == before


def test_a_run_is_not_gone_on_with_over_another_index(tmp_path):
    pack, rows = tmp_path / "shelf", tmp_path / "rows"
    (pack / "pages").mkdir(parents=True)
    rows.mkdir()
    manifest = "promptc: 1\nname: shelf\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 200\nindexes: {pages: {corpus: 'pages/*.md'}}\n"
    section = "{id: pages, items: {from: {retrieve: {index: pages, query: state.input, floor: 0}}, text: '{{ item.text }}'}}"
    (pack / "pack.yaml").write_text(f"{manifest}sections: [{section}]\n", encoding="utf-8")

    def build(text):
        (pack / "pages/door.md").write_text(f"# Door\n\n{text}\n", encoding="utf-8")
        loaded = promptc.load(pack)
        (index,) = loaded.model.indexes
        assert list(build_corpus(index, count=loaded.counter.measure, counter=loaded.counter.digest, load_encoder=lambda: None))

    build("The door is red.")
    stop(rows, pack=str(pack))
    build("The door is blue.")
    with pytest.raises(DiskError, match="an index of the pack"):
        run(rows, [say(1), say(2), say(3), say(4)], existing="resume", on_error="fail", pack=str(pack))


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"mark": 3}', b"\xff", b"x" * 70_000, b"[" * 60_000, b'{"a":' * 9_000])
def test_a_journal_that_is_none(content, tmp_path):
    stop(tmp_path)
    (tmp_path / "out.jsonl.part.json").write_bytes(content)
    with pytest.raises(DiskError, match="PC0713"):
        run(tmp_path, [say(1)], existing="resume")


@pytest.mark.parametrize("number", ["-1", "1e999", "NaN", "1.5", "true", '"12"', "null", "9223372036854775808", "9" * 4000])
@pytest.mark.parametrize("name", ["line", "offset", "checksum", "written", "aside", "rendered"])
def test_a_number_that_no_run_writes(name, number, tmp_path):
    stop(tmp_path)
    journal = tmp_path / "out.jsonl.part.json"
    journal.write_text(re.sub(rf'"{name}":[0-9]+', f'"{name}":{number}', journal.read_text()))
    with pytest.raises(DiskError, match="PC0713"):
        run(tmp_path, [say(1)], existing="resume", on_error="fail")


def test_an_unfinished_run_is_told_and_may_be_begun_again(tmp_path):
    stop(tmp_path)
    with pytest.raises(DiskError, match="PC0712"):
        run(tmp_path, [say(1)])
    assert len(load(run(tmp_path, [say(1)], existing="replace")[1])) == 1


def test_a_pack_that_changes_meanwhile_stops_the_run(tmp_path, monkeypatch):
    pack = tmp_path / "pack.yaml"
    pack.write_text((ROOT / "fixtures" / "demo" / "pack.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    started = module._start

    def change_first(*arguments):
        pack.write_text(pack.read_text(encoding="utf-8").replace("Lantern", "Beacon"), encoding="utf-8")
        return started(*arguments)

    monkeypatch.setattr(module, "_start", change_first)
    (tmp_path / "out").mkdir()
    with pytest.raises(DiskError, match="has changed since the run began"):
        run(tmp_path / "out", [say(1)], pack=str(pack))


# --- Parquet and record batches ---

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
STATES = [json.dumps({**STATE, "input": f"Ada: Door {number}?"}) for number in range(8)]


def as_rows(table):
    """Rows as JSON lines have them."""
    rows = table.to_pylist()
    return [{**row, **{name: dict(row[name]) for name in ("sections", "dropped")}} for row in rows]


def fill(row):
    """A row of JSON lines with the columns of a table."""
    texts = {name: json.dumps(row[name], ensure_ascii=False, separators=(",", ":")) for name in ("messages", "body") if name in row}
    return dict.fromkeys(module.make_schema(pa).names) | row | texts


def run_parquet(folder, table, name="out.parquet", **asked):
    path = folder / "states.parquet"
    parquet.write_table(table, path, row_group_size=3)
    with path.open("rb") as states:
        done = run_batch(Batch(**{"pack": DEMO, "output": str(folder / name), **asked}), states, "states.parquet")
    path.unlink()
    return done


@pytest.mark.parametrize("format", [None, "messages", "openai"])
def test_parquet_says_what_json_lines_say(format, tmp_path):
    options = {"format": format}
    lines = [f'{{"id":"n{number}","state":{state}}}'.encode() for number, state in enumerate([*STATES, "{", "5"])]
    (tmp_path / "lines").mkdir()
    (tmp_path / "table").mkdir()
    _, rows, aside = run(
        tmp_path / "lines", [line if number != 8 else b'{"id":"n8","state":5}' for number, line in enumerate(lines)], options=options
    )
    table = pa.table({"id": [f"n{number}" for number in range(10)], "state": [*STATES, "5", "5"]})
    done = run_parquet(tmp_path / "table", table, options=options)
    assert (done.rendered, done.failed) == (8, 2)
    assert as_rows(parquet.read_table(tmp_path / "table" / "out.parquet")) == [fill(row) for row in load(rows)]
    assert [one["id"] for one in load(aside)] == [one["id"] for one in load((tmp_path / "table" / "out.quarantine.jsonl").read_bytes())]


def test_the_bytes_of_a_parquet_file_are_the_same_for_any_number_of_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_GROUP", 3)
    table = pa.table({"state": STATES * 3})
    made = []
    for jobs in (1, 3):
        run_parquet(tmp_path, table, jobs=jobs, existing="replace")
        made.append((tmp_path / "out.parquet").read_bytes())
    assert made[0] == made[1] and parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups == 8


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"id": pa.array([7, 8], pa.int32()), "state": pa.array(STATES[:2], pa.large_string())}),
        pa.table({"state": pa.array([one.encode() for one in STATES[:2]]), "id": ["7", "8"]}),
        pa.table({"id": ["7", "8"], "state": [json.loads(one) for one in STATES[:2]]}),
        pa.Table.from_pylist([{**json.loads(one), "id": number} for number, one in zip((7, 8), STATES[:2], strict=True)]),
        pa.table({"id": pa.array(["7", "8"]).dictionary_encode(), "state": pa.array(STATES[:2]).dictionary_encode()}),
    ],
    ids=["large", "bytes", "struct", "columns", "dictionary"],
)
def test_columns_of_many_types(table, tmp_path):
    run_parquet(tmp_path, table, "out.jsonl")
    rows = load((tmp_path / "out.jsonl").read_bytes())
    assert [(row["id"], f"Door {number}?" in row["prompt"]) for number, row in enumerate(rows)] == [("7", True), ("8", True)]


def test_what_is_null_in_a_column_is_not_there(tmp_path):
    run_parquet(tmp_path, pa.table({"state": [STATES[0], None], "id": [None, None]}), "out.jsonl")
    assert [row["id"] for row in load((tmp_path / "out.jsonl").read_bytes())] == ["1"]
    (refused,) = load((tmp_path / "out.quarantine.jsonl").read_bytes())
    (found,) = refused["diagnostics"]
    assert refused["line"] == 2 and found["code"] == "PC0103" and "the column `state`" in found["message"]


def test_a_row_that_json_has_nothing_like(tmp_path):
    run_parquet(tmp_path, pa.table({"turns": [[], []], "input": ["a", "b"], "at": [datetime(2026, 1, 1), None]}), "out.jsonl")
    (refused,) = load((tmp_path / "out.quarantine.jsonl").read_bytes())
    assert refused["line"] == 1 and refused["diagnostics"][0]["code"] == "PC0391"


BROKEN = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\2\0\0\0"), pa.py_buffer(b"\xffa")])
"""Three texts, of which the first is not UTF-8."""


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (BROKEN, "PC0101"),
        (pa.array([[one] for one in BROKEN]), "PC0101"),
        (pa.array([1_700_000_000_123_456_789, None, None], pa.timestamp("ns")), "PC0391"),
        (pa.array([1, None, None], pa.duration("ns")), "PC0391"),
        (pa.array([2**60, None, None], pa.timestamp("us")), "PC0391"),
        (pa.array([0, None, None], pa.timestamp("us", "Nowhere/Else")), "PC0391"),
        (pa.array([2**30, None, None], pa.int32()).cast(pa.date32()), "PC0391"),
    ],
    ids=["text", "texts", "nanoseconds", "duration", "year", "zone", "date"],
)
def test_a_value_that_cannot_be_read_costs_its_row_and_nothing_else(column, code, tmp_path):
    table = pa.table({"turns": [[], [], []], "input": ["a", "b", "c"], "at": column})
    done = run_parquet(tmp_path, table, "out.jsonl", jobs=2)
    assert (done.rendered, done.failed) == (2, 1)
    (refused,) = load((tmp_path / "out.quarantine.jsonl").read_bytes())
    (found,) = refused["diagnostics"]
    assert refused["line"] == 1 and found["code"] == code and "the column `at`" in found["message"]
    assert [one["prompt"] is None for one in module.map_arrow(DEMO)(table).to_pylist()] == [True, False, False]


def test_states_and_ids_that_are_no_text(tmp_path):
    for number, table in enumerate([{"state": BROKEN}, {"id": BROKEN, "state": STATES[:3]}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        run_parquet(folder, pa.table(table), "out.jsonl")
        first, *_ = load((folder / "out.quarantine.jsonl").read_bytes())
        assert (first["id"], first["line"], first["diagnostics"][0]["code"]) == ("1", 1, "PC0101")


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1", b"PAR1\n{}\n"])
def test_a_damaged_parquet_file(content, tmp_path):
    with pytest.raises(DiskError, match=r"PC0716|PC0724"):
        run_batch(Batch(DEMO, str(tmp_path / "out.jsonl")), io.BytesIO(content), "states.parquet")
    assert not list(tmp_path.iterdir())


def test_ids_of_another_type(tmp_path):
    with pytest.raises(UsageError, match="PC0716"):
        run_parquet(tmp_path, pa.table({"id": [1.5], "state": STATES[:1]}))


def test_the_columns_of_a_wide_table_are_compared_in_linear_time():
    pyarrow = pytest.importorskip("pyarrow")
    begun = process_time()
    assert not list(arrow.iter_states(pyarrow.table({f"c{n}": pyarrow.array([], pyarrow.int8()) for n in range(40_000)})))
    assert process_time() - begun < 10


@pytest.mark.parametrize("names", [["state", "state"], ["turns", "input", "input"]])
def test_a_column_that_is_there_twice_is_refused(names, tmp_path):
    """As a key is that a line has twice: one of the two would be lost."""
    table = pa.Table.from_arrays([pa.array([STATES[0]])] * len(names), names=names)
    with pytest.raises(UsageError, match=f"PC0716 the column `{names[-1]}` is there twice"):
        run_parquet(tmp_path, table)
    with pytest.raises(UsageError, match="PC0716"):
        module.map_arrow(DEMO)(table)


@pytest.mark.dear
def test_a_parquet_file_that_was_killed_is_gone_on_with(tmp_path, monkeypatch):
    states = tmp_path / "states.parquet"
    parquet.write_table(pa.table({"state": STATES}), states)
    whole = tmp_path / "whole"
    whole.mkdir()

    def go(folder, existing="resume"):
        with states.open("rb") as opened:
            run_batch(Batch(DEMO, str(folder / "out.parquet"), existing=existing), opened, "states.parquet")

    def die(folder, number):
        Dying(number)
        go(folder)
        os._exit(0)

    go(whole)
    dead = 0
    for number in range(1, 100, 3):
        folder = tmp_path / str(number)
        folder.mkdir()
        process = get_context("fork").Process(target=die, args=(folder, number))
        process.start()
        process.join()
        dead += process.exitcode != 0
        if not (folder / "out.parquet").exists() or (folder / "out.parquet.part.json").exists():
            go(folder)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {path.name: path.read_bytes() for path in whole.iterdir()}
        if not process.exitcode:
            break
    assert dead > 8


# contract 12.6
def test_a_record_batch_gives_the_rows_of_a_file(tmp_path):
    states = [*STATES[:3], "{", *STATES[3:], "7"]
    _, rows, aside = run(tmp_path, [f'{{"id":"n{n}","state":{state}}}'.encode() for n, state in enumerate(states)])
    batch = pa.record_batch({"id": [f"n{n}" for n in range(10)], "state": states})
    render = module.map_arrow(DEMO)
    made = render(batch)
    assert made.schema == render.schema and isinstance(made, pa.RecordBatch)
    expected = {row["id"]: fill(row) for row in load(rows)}
    for row in as_rows(made):
        if row["id"] in expected:
            assert row == expected[row["id"]]
        else:
            assert row["prompt"] is None and row["tokens"] is None and row["diagnostics"]
    assert [row["id"] for row in made.to_pylist()] == [f"n{n}" for n in range(10)] and len(load(aside)) == 2


def test_what_is_mapped_pickles_and_takes_tables(tmp_path):
    batch = pa.record_batch({"state": STATES})
    render = module.map_arrow(promptc.load(DEMO), format="messages", budget=300)
    again = pickle.loads(pickle.dumps(render))
    assert again(batch) == render(batch) and render(pa.Table.from_batches([batch])).to_batches() == [render(batch)]
    assert {row["id"] for row in render(batch).to_pylist()} == {None} and json.loads(render(batch)["messages"][0].as_py())
    assert render(batch.slice(0, 0)).num_rows == 0
    with pytest.raises(UsageError):
        module.map_arrow(DEMO, variants={"mood": "calm"})(batch)
