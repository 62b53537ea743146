"""What a review shows is what is there, and what is accepted is what it showed."""

import itertools
import json
import os
import re
import signal
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.cli.commands.pending import Review
from promptc.cli.terminal import PLAIN, Paint, count_cells
from promptc.cli.views.drawing import fold_lines, wrap
from promptc.golden.verdicts.pending import list_pending
from tests.cli.conftest import ROOT, command, environment
from tests.cli.test_test import PACK, STATE, change_pack, make_case
from tests.packs import load_pack

CASE = "title: x\nstate: s.json\ngolden: [text, report]\n"


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    """A folder in which cases can be made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packs").mkdir()
    return tmp_path


def _make(there: Path, name: str, **files: str) -> Path:
    """A case with goldens: `txt="…"`, `txt_new="…"`, `report_json_new="…"`."""
    folder = there / "fixtures" / name
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(CASE, encoding="utf-8")
    for ending, content in files.items():
        (folder / f"golden.{ending.replace('_', '.')}").write_text(content, encoding="utf-8", newline="")
    return folder


def _walk(keys: Iterator[str], monkeypatch: pytest.MonkeyPatch, size: tuple[int, int] = (80, 24)) -> list[str]:
    """The screen after each key; a key may be made as it is asked for."""
    screen = pyte.Screen(*size)
    stream = pyte.ByteStream(screen)
    shown: list[str] = []

    def write(data: bytes) -> None:
        screen.reset()
        stream.feed(data.replace(b"\n", b"\r\n"))
        shown.append("\n".join(line.rstrip() for line in screen.display))

    monkeypatch.setattr("promptc.cli.terminal.write_stdout", write)
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size(size))
    Review(list(list_pending(["."])), lambda: next(keys, ""), PLAIN).run()
    return shown


def test_a_prompt_comes_before_its_report_and_each_side_is_cut_by_its_own(there, monkeypatch):
    pack = load_pack("packs/sentinel")
    state = (ROOT / "fixtures/sentinel/base/loaded.json").read_bytes()
    wide, narrow = (pack.render(state, budget=budget, variants={"retrieval": "deep"}) for budget in (13000, 6000))
    reports = [json.dumps(one.report) for one in (wide, narrow)]
    _make(there, "tavern/first", txt=wide.text, txt_new=narrow.text, report_json=reports[0], report_json_new=reports[1])
    assert [one.name for one in list_pending(["."])] == ["golden.txt", "golden.report.json"]
    before = _walk(iter(""), monkeypatch)[0]
    assert "tokens" in before and "@@" in before
    (there / "fixtures/tavern/first/golden.report.json").write_text(reports[1], encoding="utf-8")
    (there / "fixtures/tavern/first/golden.report.json.new").unlink()
    pages = _walk(iter(["new", "space"]), monkeypatch)
    assert "@@" not in "".join(pages) and "evict" not in "".join(pages)


def test_types_come_in_their_order_and_turns_in_theirs(there):
    names = ("10.txt", "2.report.json", "2.messages.json", "10.diagnostics.txt", "2.txt")
    _make(there, "tavern/first", **{f"{name.replace('.', '_')}_new": "x" for name in names})
    assert [one.name for one in list_pending(["."])] == [
        "golden.2.txt",
        "golden.2.messages.json",
        "golden.2.report.json",
        "golden.10.txt",
        "golden.10.diagnostics.txt",
    ]


def _set_editor(there: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    (there / "editor.sh").write_text(f"{line}\n", encoding="utf-8")
    monkeypatch.setenv("VISUAL", "sh editor.sh")


def test_an_editor_that_fails_is_told(there, monkeypatch):
    folder = _make(there, "tavern/first", txt="one two\n", txt_new="one three\n")
    _set_editor(there, monkeypatch, "exit 3")
    assert "the editor `sh editor.sh` ended with 3" in _walk(iter("eq"), monkeypatch)[1]
    assert (folder / "golden.txt.new").read_text(encoding="utf-8") == "one three\n"


def test_an_interrupt_is_for_the_editor(there, monkeypatch):
    """Ctrl-C reaches whoever reads the terminal, both of them; an editor may mean something by it."""
    folder = _make(there, "tavern/first", txt="one two\n", txt_new="one three\n")
    _set_editor(there, monkeypatch, 'kill -INT $PPID; echo "four" > "$1"')
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert "four" in _walk(iter("eq"), monkeypatch)[1]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert (folder / "golden.txt.new").read_text(encoding="utf-8") == "four\n"


def test_what_an_editor_deleted_is_not_left(there, monkeypatch):
    for name in ("first", "second"):
        _make(there, f"tavern/{name}", txt="one two\n", txt_new="one three\n")
    _set_editor(there, monkeypatch, 'rm "$1"')
    pending = list(list_pending(["."]))
    keys = iter("eq")
    monkeypatch.setattr("promptc.cli.commands.pending.write_stdout", lambda _: None)
    assert Review(pending, lambda: next(keys), PLAIN).run() == {"accepted": 0, "rejected": 0, "left": 1}


def test_what_an_editor_added_is_shown_before_it_can_be_accepted(there, monkeypatch):
    prompt = load_pack("packs/sentinel").render((ROOT / "fixtures/sentinel/calm/state.json").read_bytes())
    report = json.dumps(prompt.report)
    folder = _make(there, "tavern/first", txt=prompt.text, txt_new=prompt.text + "x", report_json=report)
    _set_editor(there, monkeypatch, 'echo "obey me" >> "$1"')
    (folder / "golden.txt.new").write_text(prompt.text, encoding="utf-8")
    shown = _walk(iter("ea"), monkeypatch)
    assert "obey me" in shown[1]
    assert (folder / "golden.txt").read_text(encoding="utf-8") == prompt.text + "obey me\n"


def _later(keys: str, act: Callable[[], object], at: int) -> Iterator[str]:
    """Somebody else acts before the key with that number."""
    for number, key in enumerate(keys):
        if number == at:
            act()
        yield key


@pytest.mark.parametrize("name", ["golden.txt.new", "golden.txt"])
@pytest.mark.parametrize("key", ["a", "r"])
def test_what_was_not_shown_is_not_settled(there, monkeypatch, name, key):
    folder = _make(there, "tavern/first", txt="one two\n", txt_new="one three\n")
    shown = _walk(_later(f"{key}q", lambda: (folder / name).write_text("evil\n", encoding="utf-8"), 0), monkeypatch)
    assert "look again" in shown[1] and "evil" in shown[1]
    assert (folder / name).read_text(encoding="utf-8") == "evil\n" and (folder / "golden.txt.new").exists()


def test_what_changes_while_many_are_asked_for_is_left(there, monkeypatch):
    first, second = (_make(there, f"tavern/{name}", txt="one two\n", txt_new="one three\n") for name in ("first", "second"))
    shown = _walk(_later("gyq", lambda: (second / "golden.txt.new").write_text("evil\n", encoding="utf-8"), 1), monkeypatch)
    assert (first / "golden.txt").read_text(encoding="utf-8") == "one three\n"
    assert (second / "golden.txt").read_text(encoding="utf-8") == "one two\n"
    assert "accepted 1" in shown[2] and "look again" in shown[2] and "evil" in shown[2]


@pytest.mark.parametrize("name", ["golden.txt", "golden.txt.new", "golden.inputs.json"])
def test_what_somebody_else_wrote_is_not_taken_back(there, monkeypatch, name):
    folder = _make(there, "tavern/first", txt="one two\n", txt_new="one three\n", inputs_json="{}", inputs_json_new="{ }")
    _make(there, "tavern/second", txt="one\n", txt_new="other\n")
    shown = _walk(_later("auq", lambda: (folder / name).write_text("theirs\n", encoding="utf-8"), 1), monkeypatch)
    assert (folder / name).read_text(encoding="utf-8") == "theirs\n"
    assert "cannot take back fixtures/tavern/first/golden.txt: it has changed" in shown[2].replace("\n", "")


def test_two_goldens_of_a_case_are_taken_back_one_after_the_other(there, monkeypatch):
    files = {
        "txt": "one\n",
        "txt_new": "two\n",
        "report_json": "1\n",
        "report_json_new": "2\n",
        "inputs_json": "{}",
        "inputs_json_new": "{ }",
    }
    folder = _make(there, "tavern/first", **files)
    _make(there, "tavern/second", txt="one\n", txt_new="other\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    _walk(iter("aauuq"), monkeypatch)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    _walk(iter("rruuq"), monkeypatch)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_that_is_gone_is_told(there, monkeypatch):
    folder = _make(there, "tavern/first", txt="one two\n", txt_new="one three\n")
    _make(there, "tavern/second", txt="one\n", txt_new="other\n")

    def remove() -> None:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()

    shown = _walk(_later("agr sbq", remove, 0), monkeypatch)
    assert "one" in shown[0]
    assert all("golden.txt.new is not there any more" in page.replace("\n", "") for page in shown[1:4])
    assert "tavern/second" in shown[5] and "no difference" not in "".join(shown)


# --- the page ---

_HEAD = re.compile(r"\[\d/\d\] tavern/first")


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 6)])
@pytest.mark.parametrize("keys", ["", " ", "?", "g", "d", "dd", "x", " ?", "  \x00", "gn"])
def test_the_case_is_named_whatever_else_is_shown(there, monkeypatch, size, keys):
    old, new = ("".join(f"line {number} {word} and more words than fit a narrow screen\n" for number in range(60)) for word in ("a", "b"))
    for name in ("first", "second", "third"):
        _make(there, f"tavern/{name}", txt=old, txt_new=new)
    for page in (shown := _walk(iter([{" ": "space"}.get(key, key) for key in keys]), monkeypatch, size)):
        lines = page.split("\n")
        assert _HEAD.match(lines[0] + lines[1]), page
        assert "q quit" in page.replace("\n", " ") or size[0] < 40, page
    if keys == "g":
        assert any("y/n" in page for page in shown)


def test_a_narrow_head_says_whether_a_golden_is_new_or_changed(there, monkeypatch):
    name = f"tavern/{'a_long_name_' * 3}case"
    _make(there, name, txt="one two\n", txt_new="one three\n")
    assert "  changed" in "".join(_walk(iter("q"), monkeypatch, (40, 24))[0].splitlines()[:3])
    (there / f"fixtures/{name}/golden.txt").unlink()
    assert "  new" in "".join(_walk(iter("q"), monkeypatch, (40, 24))[0].splitlines()[:3])


@pytest.mark.parametrize("width", range(20, 60))
def test_a_number_keeps_its_per_cent_sign(width):
    text = "tokens 1,024 → 987 (-37) · tier calm · pressure 52 % → 51 % · reuse 40 % → 39 %"
    for lines in (wrap(text, width), fold_lines(text, width)):
        assert " ".join(map(str.strip, lines)) == text and not [one for one in lines if one.strip().startswith("%")]


def test_all_lines_of_a_difference_are_reached(there, monkeypatch):
    numbers = [f"number {number}." for number in range(100)]
    _make(there, "tavern/first", txt="", txt_new="\n".join(numbers) + "\n")
    for size in ((80, 24), (40, 10), (30, 7)):
        seen = "\n".join(_walk(iter(["space"] * 99), monkeypatch, size))
        assert all(number in seen for number in numbers)


def test_the_keys_fit_a_line(there, monkeypatch):
    _make(there, "tavern/first", txt="one\n", txt_new="other\n")
    for page in _walk(iter("ddd"), monkeypatch):
        assert any("a accept" in line and "q quit" in line for line in page.split("\n"))


def test_another_size_draws_anew_and_ctrl_d_quits(there):
    import pexpect

    _make(there, "tavern/first", txt="one\n", txt_new="other\n")
    child = pexpect.spawn(
        str(command([])[0]),
        [str(one) for one in command(["review"])[1:]],
        cwd=str(there),
        env={**environment(), "TERM": "xterm"},
        dimensions=(24, 80),
        encoding="utf-8",
    )
    child.expect("q quit")
    child.setwinsize(10, 40)
    child.expect(r"\[1/1\]")
    child.expect("q quit")
    child.send("\x04")
    child.expect("accepted 0, rejected 0, 1 golden still pending")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


# --- stale ---


@pytest.fixture
def pack(there, run):
    """A pack of which a rule was edited, and what differs is pending."""
    assert run("init", "lighthouse").code == 0
    rules = there / "lighthouse/templates/rules.md.j2"
    was = rules.read_text(encoding="utf-8")
    rules.write_text(was.replace("sentences", "words"), encoding="utf-8")
    assert run("test", "lighthouse", "--no-cache").code == 1
    return rules, was


def test_what_is_made_of_files_as_they_were_is_refused(there, run, pack):
    rules, was = pack
    edited = rules.read_text(encoding="utf-8")
    rules.write_text(was, encoding="utf-8")
    done = run("accept", "--all")
    assert done.code == 1 and "PC0947" in done.err and "templates/rules.md.j2 has changed since" in done.err
    assert "not accepted, and still pending:\n    lighthouse/cases/first/golden.txt\n" in done.err
    rules.write_text(edited.replace("\n", "\r\n"), encoding="utf-8", newline="")
    assert run("accept", "--all").code == 0  # line ends are no edit


def test_what_is_stale_is_accepted_if_that_is_said(there, run, pack):
    pack[0].unlink()
    assert run("accept", "--all").code == 1
    assert run("accept", "--all", "--stale").code == 0
    assert "words" in (there / "lighthouse/cases/first/golden.txt").read_text(encoding="utf-8")


def test_stale_files_are_named_from_where_the_work_is_done(there, run, monkeypatch, pack):
    pack[0].write_text(pack[1], encoding="utf-8")
    monkeypatch.chdir(there / "lighthouse" / "cases")
    assert "first/golden.txt is out of date: ../templates/rules.md.j2 has changed since" in run("accept", "first").err


def test_a_review_warns_of_what_is_stale(there, monkeypatch, pack):
    rules, was = pack
    assert "as it was" not in _walk(iter(""), monkeypatch)[0]
    rules.write_text(was, encoding="utf-8")
    shown = _walk(iter("gq"), monkeypatch)
    assert "made of lighthouse/templates/rules.md.j2 as it was: run `promptc test`" in shown[0]
    assert "or accept it alone" in shown[1]
    assert "sentences" in (there / "lighthouse/cases/first/golden.txt").read_text(encoding="utf-8")


# --- what moved it ---


@pytest.fixture
def moved(there, run):
    """Two cases of a pack without a report golden; their goldens were accepted, committed, and moved by one edit of a budget."""
    (there / "packs/tavern").mkdir()
    (there / "fixtures/tavern").mkdir(parents=True)
    (there / "packs/tavern/pack.yaml").write_text(PACK, encoding="utf-8")
    (there / "fixtures/tavern/state.json").write_text(json.dumps(STATE), encoding="utf-8")
    for name in ("calm", "fog"):
        make_case(there, name)
    assert run("test").code == 0 and run("accept", "--all").code == 0
    for line in ("init -q", "add packs fixtures", "-c user.name=a -c user.email=a@b.c commit -q -m x"):
        subprocess.run(["git", *line.split()], check=True)
    change_pack(there, "budget: 40\n", "budget: 9\n")
    assert run("test").code == 1
    return there


def test_a_review_tells_the_cause_and_the_figures_without_a_report(moved, monkeypatch):
    assert not list(moved.rglob("golden.report.json*"))
    lines = _walk(iter(""), monkeypatch)[0].split("\n")
    assert lines[2:6] == [
        "cause: packs/tavern/pack.yaml:10:13 sections.seen.budget: 40 → 9",
        "with the same cause: tavern/fog",
        "tokens 20 → 12 (-8)",
        "seen  14 → 6  dropped `gulls` · `a ladder`",
    ]


def test_the_place_of_the_cause_is_told_from_where_the_work_is_done(moved, monkeypatch):
    monkeypatch.chdir(moved / "fixtures")
    assert "cause: ../packs/tavern/pack.yaml:10:13 sections.seen" in _walk(iter(""), monkeypatch)[0]


def test_what_one_edit_moved_stands_together(moved, monkeypatch):
    """A case between them that waits for another reason, and has no cause, comes after."""
    _make(moved, "tavern/dusk", txt="one\n", txt_new="two\n")
    pages = _walk(iter("ss"), monkeypatch)
    assert [page.split()[1] for page in pages] == ["tavern/calm", "tavern/fog", "tavern/dusk"]
    assert "cause" not in pages[2]


# contract 14.18
def test_what_is_about_a_difference_is_not_kept_with_the_golden(moved, run):
    """The cause and the figures before go; the note that stays tells of the golden."""
    pending = json.loads((moved / "fixtures/tavern/calm/golden.inputs.json.new").read_text(encoding="utf-8"))
    assert [one["what"] for one in pending.pop("cause")] == ["sections.seen.budget: 40 → 9"]
    assert pending.pop("before")["tokens"] > pending["figures"]["tokens"]
    assert run("accept", "--all").code == 0
    text = (moved / "fixtures/tavern/calm/golden.inputs.json").read_text(encoding="utf-8")
    assert text == json.dumps(pending, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _write_cause(moved: Path, cause: object) -> None:
    note = moved / "fixtures/tavern/calm/golden.inputs.json.new"
    note.write_text(json.dumps(json.loads(note.read_text(encoding="utf-8")) | {"cause": cause}), encoding="utf-8")


@pytest.mark.parametrize(
    "cause",
    [
        "x",
        [1],
        [{"what": 1, "span": None}],
        [{"what": "x", "span": {"file": 1, "line": 1, "column": 1}}],
        [{"what": "x", "span": None}] * 10,
    ],
)
def test_a_cause_that_is_none_is_not_shown(moved, monkeypatch, cause):
    _write_cause(moved, cause)
    page = _walk(iter(""), monkeypatch)[0]
    assert "cause" not in page and "tokens 20 → 12" in page


def test_a_cause_that_somebody_wrote_cannot_move_the_cursor(moved, monkeypatch):
    place = {"file": "\x1b[31m", "line": 1, "column": 1}
    _write_cause(moved, [{"what": "\x1b[2J\nyou\u202e http://u:secret@h", "span": place}])
    page = _walk(iter(""), monkeypatch)[0]
    assert "\\x1b[31m:1:1 \\x1b[2J\\nyou\\u202e http://u:*" in page and "secret" not in page


@pytest.mark.parametrize("width", [80, 40, 24])
def test_lines_are_broken_between_words_and_as_far_in_as_they_begin(there, monkeypatch, width):
    words = "the lamp is lit at dusk and the horn is sounded in fog whatever the town says of it".split()
    _make(there, "tavern/first", txt="", txt_new=" ".join(words) + "\n")
    lines = _walk(iter("ddd"), monkeypatch, (width, 24))[3].split("\n")
    shown = [line for line in lines if line.startswith("    ")]
    assert " ".join(shown).split() == words and len(shown) > 1
    assert all(len(line) <= width and not line.startswith("     ") for line in shown)
    assert all(len(line) + 1 + len(after.split()[0]) > width for line, after in itertools.pairwise(shown))


_TEXTS = st.text(st.sampled_from("ab  é火\u0301"), max_size=40)
_LINES = st.lists(st.tuples(_TEXTS, st.sampled_from([None, "red", "dim"])), max_size=6)


@given(_LINES, st.integers(4, 30))
def test_a_folded_line_loses_no_word_fits_and_is_broken_where_it_may_be(pieces, width):
    """Spaces at a fold go, and nothing else; colours end with their line and go on behind it."""
    text = "".join(Paint(True).apply(word, style) if style else word for word, style in pieces)
    lines = fold_lines(text, width)
    plain = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines]
    assert "".join(plain).replace(" ", "") == "".join(word for word, _ in pieces).replace(" ", "")
    assert all(count_cells(line) <= width for line in plain)
    assert all(line.count("\x1b[0m") == len(re.findall("\x1b\\[[^0][0-9;]*m", line)) for line in lines)
    whole = "".join(word for word, _ in pieces)
    places = [at for at, one in enumerate(whole) if one != " "]
    told = 0
    for line in plain[:-1]:
        told += len(line.replace(" ", ""))
        if 0 < told < len(places) and places[told] == places[told - 1] + 1:
            assert " " not in line.strip(" ")  # a word is cut only where it alone is too long


@given(st.text(st.sampled_from("ab,  \n-"), max_size=120), st.integers(10, 40), st.sampled_from([0, 2, 4]))
def test_lines_are_wrapped_as_textwrap_does(text, width, indent):
    """Which leaves a space at the end of a line that a long word follows."""
    leads = {"initial_indent": " " * indent, "subsequent_indent": " " * (indent + 2)}
    expected = textwrap.wrap(text, max(width, 20), break_on_hyphens=False, **leads)
    assert wrap(text, width, indent) == [line.rstrip(" ") for line in expected]


@pytest.mark.parametrize("text", ["番人は灯台の扉を閉め、鐘を二度鳴らした。" * 4, "番人は 灯台の扉を 閉め、 a鐘を 二度 鳴らした。 " * 4])
def test_wrapped_lines_are_measured_in_cells(text):
    lines = wrap(text, 40)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(count_cells(line) <= 40 for line in lines) and max(map(count_cells, lines)) > 36
