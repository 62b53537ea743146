"""How findings are printed, and what happens when promptc itself is at fault."""

import json

import pytest

from promptc.cli.options import Settings, read_settings
from promptc.cli.terminal import Paint, clip_cells, count_cells, escape_controls, pad_cells, render_diagnostics, render_diagnostics_json
from promptc.diag.findings import Diagnostic, Span


# contract 12.4
def test_a_finding_shows_its_line_and_what_mends_it():
    found = Diagnostic("PC0201", "unknown key `totl`", Span("packs/inn.yaml", 7, 5, "    totl: 2048"), "did you mean `total`?")
    assert render_diagnostics([found]) == (
        "packs/inn.yaml:7:5: PC0201 unknown key `totl`\n    7 |     totl: 2048\n      |     ^\n    help: did you mean `total`?\n"
    )


def test_levels_are_named_but_for_errors():
    found = [Diagnostic("PC0540", "one", level="warn"), Diagnostic("PC0602", "two", level="note"), Diagnostic("PC0101", "three")]
    assert render_diagnostics(found) == "PC0540 warning: one\nPC0602 note: two\nPC0101 three\n"


@pytest.mark.parametrize(
    ("line", "column", "shown", "caret"),
    [
        ("日本: x", 5, "日本: x", "      ^"),
        ("\tkey: x", 2, "    key: x", "    ^"),
        ("e\u0301: x", 4, "e\u0301: x", "  ^"),
        ("ab", 3, "ab", "  ^"),
        ("a\x1b[2Jb", 6, "a\\x1b[2Jb", "        ^"),
    ],
)
def test_the_caret_stands_under_its_column(line, column, shown, caret):
    lines = render_diagnostics([Diagnostic("PC0101", "x", Span("f", 1, column, line))]).splitlines()
    assert lines[1] == f"    1 | {shown}"
    assert lines[2] == f"      | {caret}"


def test_a_long_line_is_shown_around_its_column():
    line = "x" * 300 + "Y" + "z" * 99
    shown, caret = render_diagnostics([Diagnostic("PC0101", "m", Span("f", 1, 301, line))]).splitlines()[1:]
    assert shown[caret.index("^")] == "Y" and len(shown) < 115
    part = Diagnostic("PC0101", "m", Span("f", 1, 9301, line, skipped=9000))
    shown, caret = render_diagnostics([part]).splitlines()[1:]
    assert shown[caret.index("^")] == "Y" and "| …" in shown
    assert len(render_diagnostics([Diagnostic("PC0101", "m", Span("f", 1, 9000, line))]).splitlines()) == 1, "the excerpt does not reach it"


def test_a_message_cannot_forge_a_finding_or_move_the_cursor():
    text = render_diagnostics([Diagnostic("PC0503", "one\nfake.yaml:1:1: PC0101 two\x1b[31m\u202e", Span("a\nb", 1, 1))])
    assert text == "a\\nb:1:1: PC0503 one\n    fake.yaml:1:1: PC0101 two\\x1b[31m\\u202e\n"
    assert json.loads(render_diagnostics_json([Diagnostic("PC0101", "\x1b\n")]))["message"] == "\x1b\n"
    assert "\x1b" not in render_diagnostics_json([Diagnostic("PC0101", "\x1b\n")])


def test_controls_are_spelled_out():
    assert escape_controls("a\tb\nc\r\x7f\x85\u2066\ud800é日") == "a    b\\nc\\x0d\\x7f\\x85\\u2066\\ud800é日"


def test_cells():
    assert [count_cells(text) for text in ("", "abc", "日本", "e\u0301", "a\u200bb")] == [0, 3, 4, 1, 2]
    assert [clip_cells("日本語", width) for width in (6, 5, 4, 1, 0)] == ["日本語", "日本…", "日…", "…", ""]
    assert pad_cells("日", 4) == "日  " and pad_cells("日", 4, right=True) == "  日" and pad_cells("abc", 2) == "a…"


def test_paint():
    assert Paint(True).apply("x", "red") == "\x1b[1;31mx\x1b[0m"
    assert Paint(True).apply("", "red") == "" and Paint().apply("x", "red") == "x"


# contract 12.5
def test_settings_are_found_wherever_they_stand():
    assert read_settings([]) == Settings()
    assert read_settings(["--quiet", "render", "a", "--color=never", "b", "--diagnostics", "json"]) == Settings("never", "json", True)
    assert read_settings(["--color", "blue", "--traceback"]) == Settings(with_traceback=True)
    assert read_settings(["--color", "never", "--color", "always"]).color == "always"
    assert read_settings(["eval", "--", "--quiet"]) == Settings()


@pytest.fixture
def broken(monkeypatch):
    """A promptc with a bug."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("by\x1bzero")

    monkeypatch.setattr("promptc.cli.commands.pack_info.load_codes", fail)


# contract 12.2
def test_a_bug_is_told_as_one(broken, run):
    done = run("rule", "PC0101")
    assert (done.code, done.out) == (70, "")
    first, *rest = done.err.splitlines()
    assert (
        first
        == "this is a bug in promptc, not in your pack or state: ZeroDivisionError: by\\x1bzero (test_reporter.py:" + first.split(":")[-1]
    )
    assert "--traceback" in done.err and "Traceback" not in done.err and len(rest) == 2


# contract 12.5
def test_a_traceback_is_shown_on_demand(broken, run):
    assert "Traceback (most recent call last)" in run("rule", "PC0101", "--traceback").err
    found = json.loads(run("rule", "PC0101", "--traceback", "--diagnostics", "json").err)
    assert found["code"] == "bug" and "Traceback" in found["traceback"]


def test_a_full_disk_under_stdout_is_a_disk_error(run, monkeypatch):
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        def flush(self) -> None: ...

    class Stream:
        buffer = Full()

        def flush(self) -> None: ...
        def fileno(self) -> int:
            return 1

    monkeypatch.setattr("promptc.cli.terminal.os.dup2", lambda *_: None)
    monkeypatch.setattr("sys.stdout", Stream())
    done = run("rule", "--all")
    assert done.code == 4 and "PC0725 cannot write to standard output: No space left" in done.err
