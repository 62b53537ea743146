"""`promptc batch` as a person runs it: what it says, how it ends, and real processes that are killed."""

import json
import signal
import subprocess
import time

import pytest

from tests.cli.conftest import ROOT, command, environment

DEMO = "fixtures/demo"
STATE = json.loads((ROOT / DEMO / "state.json").read_text(encoding="utf-8"))


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A file of ten states, the fourth of which is none."""
    monkeypatch.chdir(ROOT)
    lines = [json.dumps({**STATE, "input": f"Ada: Door {number}?"}) for number in range(10)]
    (tmp_path / "states.jsonl").write_text("\n".join([*lines[:3], "{", *lines[4:]]), encoding="utf-8")
    return tmp_path


def batch(run, there, *more, states="states.jsonl", stdin=b""):
    given = "-" if states == "-" else str(there / states)
    return run("batch", DEMO, given, "-o", str(there / "out.jsonl"), *more, stdin=stdin)


def test_what_is_said(run, there):
    done = batch(run, there, "-j", "2")
    said = done.err.replace(f"{there}/", "")
    assert (done.code, done.out) == (1, "")
    assert said.startswith("states.jsonl:4:2: PC0130 JSON: ")
    assert said.endswith("9 rows written to out.jsonl\n1 state without a prompt is in out.quarantine.jsonl\n")
    assert batch(run, there, "--quiet", "--force").err.startswith(f"{there}/states.jsonl:4:2: PC0130")


def test_a_name_moves_no_cursor(run, there):
    done = run("batch", DEMO, str(there / "states.jsonl"), "-o", str(there / "a\x1b[31m\nb.jsonl"))
    assert "\x1b" not in done.err and "a\\x1b[31m\\nb.jsonl\n" in done.err and "a\\x1b[31m\\nb.quarantine.jsonl\n" in done.err


def test_standard_input_and_skipping(run, there):
    assert batch(run, there).code == 1
    rows = (there / "out.jsonl").read_bytes()
    done = batch(run, there, "--force", "--on-error", "skip", "-j", "1", states="-", stdin=(there / "states.jsonl").read_bytes())
    assert done.code == 1 and "stdin:4:2: PC0130" in done.err and "1 state without a prompt is left out" in done.err
    assert (there / "out.jsonl").read_bytes() == rows


def test_the_first_state_that_fails_ends_it(run, there):
    done = batch(run, there, "--on-error", "fail")
    assert done.code == 3 and "states.jsonl:4:2: PC0130" in done.err and not (there / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--resume", "--force"], 2, "give one of the two"),
        (["--on-error", "stop"], 2, "PC0720"),
        (["-j", "0"], 2, "PC0720"),
        (["--mood", "calm"], 2, "PC0701"),
        (["--set", "input"], 2, "PC0721"),
        (["--try", "sections.nowhere.budget=1"], 2, "PC0718"),
        (["-o", "/dev/null", "--force"], 4, "it is not a regular file"),
        (["-o", ""], 2, "PC0720 `--output` is empty"),
        (["-o", "."], 4, "it is not a regular file"),
        (["-o", "/"], 4, "it is not a regular file"),
        (["-o", "nowhere/out.jsonl"], 4, "name a file in a folder that exists"),
        (["-o", "out.jsonl.zst"], 4, "would be compressed with zstd"),
    ],
)
def test_what_is_refused(more, code, says, run, there):
    before = sorted(there.iterdir())
    done = batch(run, there, *more)
    assert done.code == code and says in done.err
    assert sorted(there.iterdir()) == before


def test_what_is_tried_holds_for_every_row_and_another_try_cannot_go_on_with_it(run, there):
    done = batch(run, there, "--try", "sections.recent.when=false")
    rows = [json.loads(line) for line in (there / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert done.code == 1 and all(row["sections"].get("recent", 0) == 0 for row in rows if "sections" in row)
    assert batch(run, there, "--force").code == 1
    plain = [json.loads(line) for line in (there / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["sections"] for row in plain] != [row["sections"] for row in rows]


@pytest.mark.parametrize(
    "name", ["out.jsonl", "out.jsonl.part", "out.quarantine.jsonl", "out.quarantine.jsonl.part", "out.jsonl.part.json"]
)
@pytest.mark.parametrize("more", [[], ["--force"], ["--force", "--on-error", "skip"]])
def test_the_states_are_not_overwritten(name, more, run, there):
    states = there / name
    states.write_bytes((there / "states.jsonl").read_bytes())
    done = batch(run, there, *more, states=name)
    assert done.code == 2 and f"writes to `{states}`, which is the file of the states, too" in done.err
    assert states.read_bytes() == (there / "states.jsonl").read_bytes()


def test_states_that_are_not_there(run, there):
    done = batch(run, there, states="none.jsonl")
    assert done.code == 4 and "PC0724 cannot read the states" in done.err


def test_a_run_that_is_done_is_not_resumed(run, there):
    batch(run, there)
    before = (there / "out.jsonl").read_bytes()
    done = batch(run, there, "--resume")
    assert done.code == 1 and "there is nothing to resume" in done.err, "one has no prompt, as the run said itself"
    assert (there / "out.jsonl").read_bytes() == before


@pytest.mark.parametrize("on_error", ["quarantine", "skip"])
@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_the_exit_code_of_a_run_that_is_done_depends_on_its_rows(name, on_error, run, there):
    asked = ("-o", str(there / name), "--on-error", on_error)
    first = batch(run, there, *asked)
    again = batch(run, there, *asked, "--resume")
    assert (first.code, again.code) == (1, 1) and "1 state without a prompt is" in again.err
    lines = (there / "states.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (there / "good.jsonl").write_text("".join(one for one in lines if one != "{\n"), encoding="utf-8")
    clean = batch(run, there, "-o", str(there / name), "--on-error", "skip", "--force", states="good.jsonl")
    assert clean.code == 0 and not (there / "out.quarantine.jsonl").exists(), "what an earlier run put aside is gone with its rows"
    assert batch(run, there, "-o", str(there / name), "--resume", states="good.jsonl").code == 0


def test_a_link_is_followed(run, there):
    (there / "real.jsonl").write_text("old", encoding="utf-8")
    (there / "out.jsonl").symlink_to(there / "real.jsonl")
    assert batch(run, there, "--force").code == 1
    assert (there / "out.jsonl").is_symlink() and (there / "real.jsonl").read_text(encoding="utf-8").count("\n") == 9


def _start(there, *more, stderr=subprocess.DEVNULL):
    return subprocess.Popen(
        command(["batch", DEMO, str(there / "many.jsonl"), "-o", str(there / "out.jsonl"), *more]),
        cwd=ROOT,
        env=environment(),
        stderr=stderr,
    )


def _wait_for_rows(there, process, count):
    """Until that many bytes of rows are written, or it is done."""
    part = there / "out.jsonl.part"
    while process.poll() is None and not (part.exists() and part.stat().st_size > count):
        time.sleep(0.005)


@pytest.fixture
def many(there):
    """Many states, and the bytes of their rows."""
    lines = [json.dumps({**STATE, "input": f"Ada: Door {number}?"}) for number in range(2000)]
    (there / "many.jsonl").write_text("\n".join([*lines[:100], "}", *lines[100:]]), encoding="utf-8")
    assert _start(there, "-j", "2").wait() == 1
    whole = (there / "out.jsonl").read_bytes()
    (there / "out.jsonl").unlink()
    (there / "out.quarantine.jsonl").unlink()
    return whole


@pytest.mark.dear
def test_a_process_that_is_killed_is_gone_on_with(many, there):
    jobs, killed = 1, 0
    for share in (0, 0.2, 0.5, 0.8):
        process = _start(there, "--resume", "-j", str(1 + jobs % 2))
        _wait_for_rows(there, process, share * len(many))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        jobs += 1
    assert killed == 4
    assert _start(there, "--resume").wait() == 1
    assert (there / "out.jsonl").read_bytes() == many
    assert (there / "out.quarantine.jsonl").read_bytes().count(b"\n") == 1
    assert not list(there.glob("*.part*"))


@pytest.mark.dear
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_process_that_is_asked_to_end_keeps_what_it_did(number, code, many, there):
    process = _start(there, "-j", "2", stderr=subprocess.PIPE)
    _wait_for_rows(there, process, len(many) // 3)
    process.send_signal(number)
    said = process.communicate()[1].decode()
    assert process.returncode == code and "run the same command with `--resume` to continue" in said
    kept = json.loads((there / "out.jsonl.part.json").read_bytes())
    assert kept["written"] == (there / "out.jsonl.part").stat().st_size >= len(many) // 3
    assert _start(there, "--resume").wait() == 1
    assert (there / "out.jsonl").read_bytes() == many
