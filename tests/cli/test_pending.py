"""`promptc pending`, `accept`, `reject` and `review`: what waits for someone's word, and how it is given."""

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from promptc.cli.paint import PLAIN
from promptc.cli.review_loop import Review
from promptc.golden import settle
from promptc.golden.list_pending import list_pending
from tests.cli.conftest import command, environment

CASES = {"first": ("one two\n", "one three\n"), "second": ("a two\n", "a three\n"), "third": (None, "new\n")}


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    """A folder with three cases whose goldens wait; not in CI, whatever runs the tests."""
    monkeypatch.delenv("CI", raising=False)
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
    assert done.code == 4 and "it is a link" in done.err
    assert "accepted 2 goldens\nnot accepted, and still pending:\n    fixtures/tavern/first/golden.txt\n" in done.err
    assert outside.read_text(encoding="utf-8") == "mine\n" and golden.is_symlink()


@pytest.mark.parametrize("failing", range(3))
def test_what_cannot_be_accepted_is_named_and_the_others_are_accepted(there, run, monkeypatch, failing):
    """As where a folder is read-only, which does not hold for an administrator, or a disk is full."""
    calls = []

    def refuse(source, target):
        calls.append(target)
        if len(calls) == failing + 1:
            raise OSError(28, "No space left on device")
        source.replace(target)

    monkeypatch.setattr(settle, "_replace", refuse)
    done = run("accept", "--all")
    name = sorted(CASES)[failing]
    assert done.code == 4
    assert f"cannot accept fixtures/tavern/{name}/golden.txt: No space left on device" in done.err
    assert f"accepted 2 goldens\nnot accepted, and still pending:\n    fixtures/tavern/{name}/golden.txt\n" in done.err
    for other, (old, new) in CASES.items():
        assert _read(there, other) == ((old, new) if other == name else (new, None))


@pytest.mark.parametrize("after", range(4))
def test_what_an_interruption_leaves_is_named(there, run, monkeypatch, after):
    """After so many of the three: those accepted are, the others are pending and listed."""
    calls = []

    def interrupt(source, target):
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(target)
        source.replace(target)

    monkeypatch.setattr(settle, "_replace", interrupt)
    done = run("accept", "--all")
    names = sorted(CASES)
    assert done.code == (130 if after < 3 else 0)
    for at, name in enumerate(names):
        old, new = CASES[name]
        assert _read(there, name) == ((new, None) if at < after else (old, new))
        assert (f"    fixtures/tavern/{name}/golden.txt\n" in done.err) == (at >= after)


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


def test_an_interruption_gives_the_terminal_back(there):
    import pexpect

    child = pexpect.spawn(
        str(command([])[0]), [str(one) for one in command(["review"])[1:]], cwd=str(there), env=environment(), encoding="utf-8"
    )
    child.expect(r"\[1/3\]")
    os.kill(child.pid, signal.SIGINT)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130 and "\x1b[?1049l" in child.before
    assert _read(there, "first") == ("one two\n", "one three\n")


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
