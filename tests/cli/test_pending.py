"""`promptc pending`, `accept`, `reject` and `review`: what waits for someone's word, and how it is given."""

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from promptc.cli.commands.pending import Review
from promptc.cli.terminal import PLAIN
from promptc.diag.findings import DiskError
from promptc.golden.verdicts import pending as settle
from promptc.golden.verdicts.pending import list_pending
from tests.cli.conftest import command, environment

CASES = {"first": ("one two\n", "one three\n"), "second": ("a two\n", "a three\n"), "third": (None, "new\n")}


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    """A folder with three cases whose goldens wait."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packs").mkdir()
    for name, (old, new) in CASES.items():
        folder = tmp_path / "fixtures" / "tavern" / name
        folder.mkdir(parents=True)
        (folder / "case.yaml").write_text("title: x\nstate: s.json\ngolden: [text]\n", encoding="utf-8")
        if old is not None:
            (folder / "golden.txt").write_text(old, encoding="utf-8")
        (folder / "golden.txt.new").write_text(new, encoding="utf-8")
    return tmp_path


def _read(there: Path, name: str) -> tuple[str | None, str | None]:
    paths = (there / "fixtures" / "tavern" / name / file for file in ("golden.txt", "golden.txt.new"))
    old, new = (path.read_text(encoding="utf-8") if path.exists() else None for path in paths)
    return old, new


def test_what_is_pending_is_listed(run):
    done = run("pending")
    assert done.code == 0
    assert done.out == "changed  tavern/first   golden.txt\nchanged  tavern/second  golden.txt\nnew      tavern/third   golden.txt\n"
    assert done.err == "3 goldens pending; `promptc review` shows them one by one\n"
    assert run("pending", "--only", "new").out == "new  tavern/third  golden.txt\n"
    listed = json.loads(run("pending", "tavern/s*", "--format", "json").out)
    assert listed == [
        {
            "case": "tavern/second",
            "golden": "fixtures/tavern/second/golden.txt",
            "pending": "fixtures/tavern/second/golden.txt.new",
            "status": "changed",
            "bytes": 8,
        }
    ]


def test_accepting_puts_it_in_the_goldens_place(there, run):
    done = run("accept", "tavern/first")
    assert (done.code, done.err) == (0, "accepted 1 golden\n")
    assert _read(there, "first") == ("one three\n", None)
    assert _read(there, "second") == ("a two\n", "a three\n")
    assert run("accept", "--all").err == "accepted 2 goldens\n"
    assert _read(there, "third") == ("new\n", None)
    assert run("pending").err == "0 goldens pending\n"


def test_rejecting_leaves_the_golden(there, run):
    assert run("reject", "fixtures/tavern/first/*").code == 0
    assert _read(there, "first") == ("one two\n", None)
    assert _read(there, "second") == ("a two\n", "a three\n")


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_nothing_is_settled_that_was_not_named(there, run, verb):
    assert run(verb).code == 2
    done = run(verb, "tavern/frist")
    assert done.code == 2 and "did you mean `tavern/first`" in done.err
    assert _read(there, "first") == ("one two\n", "one three\n")


def test_nothing_is_accepted_in_ci(there, run, monkeypatch):
    monkeypatch.setenv("CI", "true")
    for line in (["accept", "--all"], ["review"]):
        done = run(*line)
        assert done.code == 2 and "PC0944" in done.err
    assert _read(there, "first") == ("one two\n", "one three\n")


def test_a_link_is_not_written_through(there, run, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("mine\n", encoding="utf-8")
    golden = there / "fixtures" / "tavern" / "first" / "golden.txt"
    golden.unlink()
    golden.symlink_to(outside)
    done = run("accept", "--all")
    assert done.code == 4 and "it is a symbolic link" in done.err
    assert "accepted 2 goldens\nnot accepted, and still pending:\n    fixtures/tavern/first/golden.txt\n" in done.err
    assert outside.read_text(encoding="utf-8") == "mine\n" and golden.is_symlink()


@pytest.mark.parametrize("failing", range(3))
def test_what_cannot_be_accepted_is_named_and_the_others_are_accepted(there, run, monkeypatch, failing):
    """As where a folder is read-only, which does not hold for an administrator, or a disk is full."""
    calls = []

    rename = os.replace

    def refuse(source, target):
        calls.append(target)
        if len(calls) == failing + 1:
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    done = run("accept", "--all")
    name = sorted(CASES)[failing]
    assert done.code == 4
    assert f"cannot accept fixtures/tavern/{name}/golden.txt: No space left on device" in done.err
    assert f"accepted 2 goldens\nnot accepted, and still pending:\n    fixtures/tavern/{name}/golden.txt\n" in done.err
    for other, (old, new) in CASES.items():
        assert _read(there, other) == ((old, new) if other == name else (new, None))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("during", range(4))
def test_what_an_interruption_leaves_is_named(there, run, monkeypatch, during, sent):
    """Ctrl-C while one of the three is accepted, or never: that one is accepted whole, those behind it are pending and listed."""
    for name in CASES:
        (there / "fixtures" / "tavern" / name / "golden.inputs.json.new").write_text(name, encoding="utf-8")
    replaced = []

    rename = os.replace

    def interrupt(source, target):
        replaced.append(target)
        if len(replaced) == 2 * during + 1:  # each has a golden and its inputs
            os.kill(os.getpid(), sent)
        rename(source, target)

    monkeypatch.setattr(os, "replace", interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = run("accept", "--all")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code == (128 + sent if during < 3 else 0)
    assert f"accepted {min(during + 1, 3)} golden" in done.err
    for at, name in enumerate(sorted(CASES)):
        old, new = CASES[name]
        inputs = there / "fixtures" / "tavern" / name / "golden.inputs.json"
        assert _read(there, name) == ((new, None) if at <= during else (old, new))
        assert inputs.exists() == (at <= during) and Path(f"{inputs}.new").exists() == (at > during)
        assert (f"    fixtures/tavern/{name}/golden.txt\n" in done.err) == (at > during)


# contract 14.18
def test_the_inputs_go_with_the_golden(there, run):
    folder = there / "fixtures" / "tavern" / "first"
    (folder / "golden.inputs.json").write_text("old", encoding="utf-8")
    (folder / "golden.inputs.json.new").write_text("new", encoding="utf-8")
    (folder / "golden.report.json.new").write_text("{}\n", encoding="utf-8")
    run("accept", "tavern/first/golden.txt")
    assert (folder / "golden.inputs.json").read_text(encoding="utf-8") == "new" and (folder / "golden.inputs.json.new").exists()
    run("reject", "tavern/first/golden.report.json")
    assert sorted(path.name for path in folder.iterdir()) == ["case.yaml", "golden.inputs.json", "golden.txt"]


# --- review ---


def _review(keys: str, **named: str) -> tuple[dict[str, int], str]:
    """The keys, one a character; `\\n` is Enter."""
    given = iter(named.get(key, key) if key != "\n" else "enter" for key in keys)
    pending = list(list_pending(["."]))
    return Review(pending, lambda: next(given), PLAIN).run(), ""


@pytest.mark.parametrize(
    ("keys", "accepted"),
    [
        ("aaa", {"first", "second", "third"}),
        ("\n\n\n", set()),
        ("sasq", {"second"}),
        ("aauuq", set()),
        ("aabuq", {"first"}),
        ("gyq", {"first", "second"}),
        ("gnq", set()),
        ("gyuq", set()),
        ("dddda??xq", {"first"}),
        ("abaq", {"first"}),
        ("uuq", set()),
        ("", set()),
    ],
)
def test_keys_do_what_they_say(there, keys, accepted, capfdbinary):
    counts, _ = _review(keys or "q")
    assert {name for name, (_, new) in CASES.items() if _read(there, name) == (new, None)} == accepted
    assert counts["accepted"] == len(accepted)
    for name, (old, new) in CASES.items():
        assert name in accepted or _read(there, name) == (old, new)


def test_rejecting_and_taking_it_back(there, capfdbinary):
    counts, _ = _review("rruq")
    assert counts == {"accepted": 0, "rejected": 1, "left": 2}
    assert _read(there, "first") == ("one two\n", None)
    assert _read(there, "second") == ("a two\n", "a three\n")


def test_without_a_terminal_its_twins_are_named(run):
    done = run("review")
    assert done.code == 2 and not done.out
    assert all(word in done.err for word in ("PC0946", "promptc pending", "promptc accept PATTERN", "promptc reject PATTERN"))


def test_in_a_real_terminal(there):
    """What a person sees, key by key, on 80 by 24."""
    import pexpect
    import pyte

    screen = pyte.Screen(80, 24)
    stream = pyte.Stream(screen)
    child = pexpect.spawn(
        str(command([])[0]),
        [str(one) for one in command(["review"])[1:]],
        cwd=str(there),
        env={**environment(), "TERM": "xterm"},
        dimensions=(24, 80),
        encoding="utf-8",
    )

    def see(text: str) -> str:
        """Waits until the screen shows it."""
        for _ in range(600):
            with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
                stream.feed(child.read_nonblocking(4096, timeout=0.05))
            if text in "\n".join(screen.display):
                return "\n".join(line.rstrip() for line in screen.display)
        raise AssertionError("\n".join(screen.display))

    shown = see("[1/3]")
    assert "one [-two-]{+three+}" in shown and "a accept" in shown
    child.send("\r")
    see("[2/3]")
    child.send("d")
    assert "- a two" in see("- a two")
    child.send("a")
    see("[3/3]")
    child.send("u")
    see("[2/3]")
    assert _read(there, "second") == ("a two\n", "a three\n")
    child.send("a")
    see("[3/3]")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "accepted 1, rejected 0, 2 goldens still pending" in child.before
    assert [_read(there, name)[1] is None for name in sorted(CASES)] == [False, True, False]


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_gives_the_terminal_back(there, sent, code):
    import pexpect

    child = pexpect.spawn(
        str(command([])[0]),
        [str(one) for one in command(["review"])[1:]],
        cwd=str(there),
        env=environment(),
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # whatever runs the tests may be deaf to it
    )
    child.expect(r"\[1/3\]")
    os.kill(child.pid, sent)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code and "\x1b[?1049l" in child.before
    assert _read(there, "first") == ("one two\n", "one three\n")


@pytest.mark.parametrize("name", ["golden.txt", "golden.txt.new", "golden.inputs.json.new"])
def test_a_pipe_is_not_waited_for(there, run, name):
    """In the place of any of a case's files: told, and the other cases are settled."""
    path = there / "fixtures" / "tavern" / "first" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    done = run("accept", "--all")
    assert done.code == 4 and "it is not a regular file" in done.err and "accepted 2 goldens" in done.err
    assert _read(there, "second") == ("a three\n", None)


# --- prune ---


def test_what_no_case_asks_for_is_removed(there, run):
    folder = there / "fixtures" / "tavern" / "first"
    (folder / "golden.report.json").write_text("{}", encoding="utf-8")
    (there / "fixtures" / "tavern" / "golden.txt").write_text("stray", encoding="utf-8")
    names = "fixtures/tavern/golden.txt\nfixtures/tavern/first/golden.report.json\n"
    done = run("prune", "--dry-run")
    assert (done.code, done.out, done.err) == (0, names, "would remove 2 goldens\n")
    assert (folder / "golden.report.json").exists()
    done = run("prune")
    assert (done.code, done.out, done.err) == (0, names, "removed 2 goldens\n")
    assert not (folder / "golden.report.json").exists() and _read(there, "first") == ("one two\n", "one three\n")
    assert run("prune").out == ""


def test_nothing_is_removed_beside_a_case_that_cannot_be_read(there, run):
    folder = there / "fixtures" / "tavern" / "first"
    (folder / "golden.report.json").write_text("{}", encoding="utf-8")
    (folder / "case.yaml").write_text("titel: x\n", encoding="utf-8")
    done = run("prune")
    assert done.code == 3 and "PC0901" in done.err and done.out == ""
    assert (folder / "golden.report.json").exists()


def test_nothing_is_pruned_in_ci(there, run, monkeypatch):
    monkeypatch.setenv("CI", "1")
    assert run("prune").code == 2


# --- names ---


@pytest.fixture
def two(tmp_path_factory, monkeypatch):
    """Two packs whose cases have the same names."""
    folder = tmp_path_factory.mktemp("two")
    for pack in ("a", "b"):
        for name in ("first", "first[x]"):
            case = folder / "prompts" / pack / "cases" / name
            case.mkdir(parents=True)
            (folder / "prompts" / pack / "pack.yaml").touch()
            (case / "case.yaml").write_text("title: x\nstate: s.json\ngolden: [text]\n", encoding="utf-8")
            (case / "golden.txt.new").write_text(f"{pack}\n", encoding="utf-8")
    (folder / "prompts/a/cases/firstx").mkdir()
    (folder / "prompts/a/cases/firstx/golden.txt.new").write_text("x\n", encoding="utf-8")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder)
    return folder


def _list_accepted(folder: Path) -> set[str]:
    return {path.parent.relative_to(folder).as_posix() for path in folder.rglob("golden.txt")}


def test_cases_of_one_name_are_listed_by_their_paths(two, run):
    listed = [line.split() for line in run("pending").out.splitlines()]
    assert ["new", "prompts/a/cases/first", "golden.txt"] in listed and ["new", "prompts/b/cases/first", "golden.txt"] in listed
    for _, name, _ in listed:
        assert run("accept", name).err == "accepted 1 golden\n"
    assert run("pending").out == ""


def test_a_name_of_several_cases_is_refused(two, run):
    for verb in ("accept", "reject"):
        done = run(verb, "cases/first")
        assert done.code == 2 and "names cases in 2 folders" in done.err
        assert "`prompts/a/cases/first`, `prompts/b/cases/first`" in done.err.replace("\n", " ")
    assert not _list_accepted(two) and len(list(two.rglob("*.new"))) == 5


@pytest.mark.parametrize(
    ("where", "pattern", "accepted"),
    [
        (".", "prompts/b/cases/first", {"prompts/b/cases/first"}),
        (".", "./prompts/b/cases/first/", {"prompts/b/cases/first"}),
        (".", "prompts/b/cases/first/golden.txt", {"prompts/b/cases/first"}),
        (".", "prompts/b/cases/first/golden.txt.new", {"prompts/b/cases/first"}),
        (".", "prompts/b/cases/first/case.yaml", {"prompts/b/cases/first"}),
        (".", "prompts/b", {"prompts/b/cases/first", "prompts/b/cases/first[x]"}),
        (".", "prompts/a/cases/first[x]", {"prompts/a/cases/first[x]"}),
        (".", "prompts/*/cases/first", {"prompts/a/cases/first", "prompts/b/cases/first"}),
        (".", "./prompts/*/cases/first/*", {"prompts/a/cases/first", "prompts/b/cases/first"}),
        (".", "cases/f*st", {"prompts/a/cases/first", "prompts/b/cases/first"}),
        (".", "cases/firstx", {"prompts/a/cases/firstx"}),
        ("prompts/a", "cases/first[x]", {"prompts/a/cases/first[x]"}),
        ("prompts/a", "./cases/first", {"prompts/a/cases/first"}),
        ("prompts/a/cases/first", ".", {"prompts/a/cases/first"}),
        ("prompts/a", "../b/cases/first", {"prompts/b/cases/first"}),
        ("elsewhere", "../prompts/a/cases/first", {"prompts/a/cases/first"}),
    ],
)
def test_paths_names_and_patterns_are_accepted(two, run, monkeypatch, where, pattern, accepted):
    monkeypatch.chdir(two / where)
    done = run("accept", pattern)
    assert done.code == 0, done.err
    assert _list_accepted(two) == accepted


@pytest.mark.parametrize("pattern", ["", "elsewhere", "prompts/c", "cases", "/", "no\0thing"])
def test_what_is_no_pending_golden_is_refused(two, run, pattern):
    if pattern == "/":
        pattern = str(two / "elsewhere")
    done = run("accept", pattern)
    assert done.code == 2 and "PC0943" in done.err and not _list_accepted(two)


def test_paths_are_from_where_the_work_is_done(two, run, monkeypatch):
    monkeypatch.chdir(two / "prompts" / "a")
    listed = json.loads(run("pending", "--dir", "../b", "--format", "json").out)
    assert [one["golden"] for one in listed] == ["../b/cases/first/golden.txt", "../b/cases/first[x]/golden.txt"]
    assert all(Path(one["pending"]).is_file() for one in listed)


# --- what is in the way ---


@pytest.mark.parametrize("way", ["link", "folder"])
def test_it_can_be_rejected_whatever_stands_in_the_goldens_place(there, run, way):
    golden = there / "fixtures" / "tavern" / "first" / "golden.txt"
    golden.unlink()
    if way == "link":
        golden.symlink_to(there / "outside.txt")
    else:
        golden.mkdir()
    assert run("accept", "tavern/first").code == 4
    done = run("reject", "tavern/first")
    assert (done.code, done.err) == (0, "rejected 1 golden\n")
    assert not golden.with_name("golden.txt.new").exists() and os.path.lexists(golden)


def test_other_bytes_than_expected_are_not_accepted(there):
    one = next(list_pending(["."]))
    for settle_one in (settle.accept_golden, settle.reject_golden):
        with pytest.raises(DiskError, match="changed meanwhile"):
            settle_one(one, b"other\n")
    assert _read(there, "first") == ("one two\n", "one three\n")


def test_what_is_written_while_it_is_accepted_stays_pending(there, monkeypatch):
    one = next(list_pending(["."]))
    pending = there / "fixtures" / "tavern" / "first" / "golden.txt.new"

    rename = os.replace

    def replace(source, target):
        pending.write_text("theirs\n", encoding="utf-8")
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    settled = settle.accept_golden(one, b"one three\n")
    assert _read(there, "first") == ("one three\n", "theirs\n")
    with pytest.raises(DiskError, match="changed meanwhile"):
        settle.undo_settled(settled)
    assert _read(there, "first") == ("one three\n", "theirs\n")


def test_an_accepted_golden_stands_though_its_inputs_cannot_be_noted(there, run, monkeypatch):
    folder = there / "fixtures" / "tavern" / "first"
    (folder / "golden.inputs.json").write_text("old", encoding="utf-8")
    (folder / "golden.inputs.json.new").write_text("new", encoding="utf-8")

    rename = os.replace

    def refuse(source, target):
        if Path(target).name == "golden.inputs.json":
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    assert run("accept", "tavern/first").err == "accepted 1 golden\n"
    assert sorted(path.name for path in folder.iterdir()) == ["case.yaml", "golden.txt"]


def test_pruned_goldens_are_named_by_paths_from_where_the_work_is_done(there, run, monkeypatch):
    (there / "fixtures" / "tavern" / "golden.txt").write_text("stray", encoding="utf-8")
    monkeypatch.chdir(there / "fixtures" / "tavern")
    assert run("prune", "--dry-run", ".").out == "golden.txt\n"
