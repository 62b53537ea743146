"""`promptc fmt`: what is written, what is only told, and what is left alone."""

import os
import signal

import pytest

LOOSE, TIDY = "a:   1 #x\n\n\n", "a: 1  # x\n"


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"pack.yaml": LOOSE, "parts/b.yml": TIDY, ".hidden/c.yaml": LOOSE, "note.md": LOOSE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_folder_is_laid_out_once(run, there):
    done = run("fmt")
    assert (done.code, done.out, done.err) == (0, "", "laid out pack.yaml\n2 files, 1 changed\n")
    assert (there / "pack.yaml").read_text() == TIDY
    assert (there / ".hidden/c.yaml").read_text() == LOOSE and (there / "note.md").read_text() == LOOSE
    assert run("fmt").err == "2 files, 0 changed\n"


@pytest.mark.parametrize(("option", "code"), [("--check", 1), ("--diff", 0)])
def test_nothing_is_written_where_only_what_would_change_is_asked(option, code, run, there):
    done = run("fmt", option, ".")
    assert done.code == code and done.err == "would lay out pack.yaml\n2 files, 1 would change\n"
    assert ("-a:   1 #x\n" in done.out and "+a: 1  # x\n" in done.out) == (option == "--diff")
    assert (there / "pack.yaml").read_text() == LOOSE
    assert run("fmt", option, "parts").code == 0


def test_standard_input(run):
    done = run("fmt", "-", stdin=LOOSE.encode())
    assert (done.code, done.out, done.err) == (0, TIDY, "")


def test_a_file_that_cannot_be_read_is_left_and_the_others_are_laid_out(run, there):
    (there / "bad.yaml").write_text("a: [1\n", encoding="utf-8")
    done = run("fmt", ".")
    assert done.code == 3 and "bad.yaml:" in done.err and "PC0110" in done.err
    assert (there / "bad.yaml").read_text() == "a: [1\n" and (there / "pack.yaml").read_text() == TIDY
    assert run("fmt", "missing.yaml").code == 4


# contract 12.2
def test_a_request_to_end_leaves_nothing_half_written(run, there, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: signal.raise_signal(signal.SIGTERM))
    assert run("fmt").code == 143 and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert (there / "pack.yaml").read_text() == LOOSE and not list(there.glob(".promptc*"))
