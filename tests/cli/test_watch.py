"""`--watch`: what runs again, what is shown between two runs, and how it ends. Processes of their own are driven, by what they say."""

import os
import pty
import shutil
import signal
import subprocess
import time

import pytest

from promptc.api import Pack
from promptc.cli.options import WATCH, read_render
from promptc.cli.request import load_pack, reuse_packs
from tests.cli.conftest import PACK, ROOT, STATE, command, environment

pytest.importorskip("watchfiles")
pytestmark = pytest.mark.dear

BOUND = 120
"""Seconds for what takes one; a machine may be busy."""


class Watching:
    """A command that watches, and what it has written."""

    def __init__(self, folder, *arguments, stdout=None):
        self.out, self.err = folder / "out.log", folder / "err.log"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                command(arguments), cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout or out, stderr=err, env=environment()
            )

    def wait(self, runs):
        """Until so many runs have ended; what is on standard error."""
        return self.wait_for(lambda: self.err.read_text("utf-8").count("; Ctrl-C ends\n") >= runs)

    def wait_for(self, is_so):
        last = time.monotonic() + BOUND
        while not is_so():
            assert self.process.poll() is None, self.err.read_text("utf-8")
            assert time.monotonic() < last, self.err.read_text("utf-8")
            time.sleep(0.02)
        return self.err.read_text("utf-8")

    def end(self, sent=signal.SIGINT):
        """By Ctrl-C, or as the system asks."""
        self.process.send_signal(sent)
        code = self.process.wait(BOUND)
        assert "Traceback" not in self.err.read_text("utf-8")
        return code


@pytest.fixture
def watching(tmp_path):
    """Starts commands in a folder with a pack and a state, and ends them."""
    shutil.copytree(ROOT / "starters/chat", tmp_path / "chat")
    started = []

    def start(*arguments, **named):
        started.append(Watching(tmp_path, *arguments, **named))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait(BOUND)


def save(path, text):
    """As an editor does: another file takes the place of the old one."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


# contract 12.10
@pytest.mark.parametrize("name", ["render", "explain", "check"])
def test_it_runs_again_for_each_file_that_it_read_and_goes_on_when_the_pack_is_broken(name, watching, tmp_path, run, monkeypatch):
    arguments = (name, "chat", *([] if name == "check" else ["chat/state.json"]))
    running = watching(*arguments, "--watch")
    assert "changed" not in running.wait(1)
    rules = tmp_path / "chat/templates/rules.md.j2"
    right = rules.read_text("utf-8")
    save(rules, f"{right}Never shout.\n")
    assert "── chat/templates/rules.md.j2 changed ──" in running.wait(2)
    save(rules, f"{right}{{{{ nobody }}}}\n")
    running.wait(3)
    save(rules, f"{right}Never shout.\n")
    running.wait(4)
    rules.rename(tmp_path / "gone")
    assert "PC0151" in running.wait(5)
    (tmp_path / "gone").rename(rules)
    told = running.wait(6)
    schema = tmp_path / "chat/state.schema.json"
    save(schema, f"{schema.read_text('utf-8')}\n")
    assert "── chat/state.schema.json changed ──" in running.wait(7)
    assert running.end() == 0
    monkeypatch.chdir(tmp_path)
    last = run(*arguments).out
    shown = running.out.read_text("utf-8")
    assert last and shown.count(last) >= 4 and shown.endswith(last)
    assert "nobody" in told + shown and "nobody" not in last


def test_the_state_is_watched_and_what_is_the_same_is_no_change(watching, tmp_path):
    running = watching("render", "chat", "chat/state.json", "--watch")
    running.wait(1)
    state = tmp_path / "chat/state.json"
    for text in (state.read_text("utf-8"), state.read_text("utf-8").replace("Ilse", "Inge")):
        save(state, text)
    assert running.wait(2).count(" changed ") == 1
    running.wait_for(lambda: "Inge: Far enough" in running.out.read_text("utf-8"))
    save(state, "{")
    assert "PC0130" in running.wait(3) or "PC01" in running.wait(3)
    assert running.end() == 0


def test_what_it_extends_and_a_store_are_watched(watching, tmp_path):
    shutil.copytree(ROOT / "fixtures/mend/missing", tmp_path / "base")
    (tmp_path / ".git").mkdir()
    (tmp_path / "child").mkdir()
    (tmp_path / "child/pack.yaml").write_text("promptc: 1\nname: child\nversion: 1.0.0\nextends: ../base\n", encoding="utf-8")
    shutil.copy(tmp_path / "base/state.schema.json", tmp_path / "child")

    def fill(text):
        (tmp_path / "s.yaml").write_text(f"segments: [{{id: one, scope: core, content: {text}}}]\n", encoding="utf-8")
        filled = command(("segments", "import", "s.yaml", "--pack", "base", "--url", "sqlite:store.db"))
        subprocess.run(filled, cwd=tmp_path, env=environment(), check=True, capture_output=True)

    fill("First.")
    running = watching("render", "child", "base/state.json", "--store", "main=sqlite:store.db", "--watch")
    running.wait(1)
    fill("Second.")
    running.wait_for(lambda: "Second." in running.out.read_text("utf-8"))
    manifest = tmp_path / "base/pack.yaml"
    save(manifest, manifest.read_text("utf-8").replace('text: "{{ item.content }}"', 'text: "> {{ item.content }}"'))
    running.wait_for(lambda: "> Second." in running.out.read_text("utf-8"))
    assert running.end() == 0


def _make_cases(folder):
    for pack in ("a", "b"):
        for case in ("one", "two"):
            place = folder / "packs" / pack / "cases" / case
            place.mkdir(parents=True)
            text = f'title: t\nstate: {{base: ../state.json, set: {{/place: "{case}"}}}}\ngolden: [text]\n'
            (place / "case.yaml").write_text(text, encoding="utf-8")
            (place / "golden.txt").write_text("not this\n", encoding="utf-8")
        (folder / "packs" / pack / "pack.yaml").write_text(PACK, encoding="utf-8")
        (folder / "packs" / pack / "cases/state.json").write_text('{"place": "x", "seen": ["gulls"]}', encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)


def test_cases_run_again_what_a_change_concerns_first(watching, tmp_path):
    _make_cases(tmp_path)
    running = watching("test", "packs", "--watch", "--format", "concise")
    running.wait(1)

    def list_failed():
        return [line.split(" ")[1] for line in running.out.read_text("utf-8").splitlines() if line.startswith("FAILED")]

    assert [one[:2] for one in list_failed()] == ["a/", "a/", "b/", "b/"]
    case = tmp_path / "packs/b/cases/two/case.yaml"
    save(case, case.read_text("utf-8").replace("title: t", "title: u"))
    running.wait(2)
    assert list_failed()[4:5] == ["b/cases/two"]
    manifest = tmp_path / "packs/b/pack.yaml"
    save(manifest, manifest.read_text("utf-8").replace("You stand", "You are"))
    running.wait(3)
    assert [one[:2] for one in list_failed()[8:]] == ["b/", "b/", "a/", "a/"]
    subprocess.run(command(("accept", "--all")), cwd=tmp_path, env=environment(), check=True, capture_output=True)
    running.wait_for(lambda: running.out.read_text("utf-8").splitlines()[-1].startswith("4 passed"))
    assert running.end() == 0


def test_cases_are_found_again_when_their_pack_is_back(watching, tmp_path):
    running = watching("test", "chat", "--watch")
    running.wait(1)
    (tmp_path / "chat").rename(tmp_path / "away")
    assert "PC0907" in running.wait(2)
    (tmp_path / "away").rename(tmp_path / "chat")
    running.wait_for(lambda: running.out.read_text("utf-8").count("5 passed") == 2)
    assert running.end() == 0


def test_what_it_writes_itself_is_no_change(watching, tmp_path):
    """Neither a report in a folder of cases nor a log of the output there."""
    with (tmp_path / "chat/log.txt").open("wb") as log:
        running = watching("test", "chat", "--watch", "--report", "json=chat/report.json", stdout=log)
    running.wait(1)
    time.sleep(1)
    assert "changed" not in running.err.read_text("utf-8")
    save(tmp_path / "chat/cases/first/note.md", "Something else.")
    assert "── chat/cases/first/note.md changed ──" in running.wait(2)
    assert running.end() == 0


def test_a_terminal_is_cleared_between_two_runs(watching, tmp_path):
    leading, following = pty.openpty()
    try:
        running = watching("check", "chat", "--watch", stdout=following)
        running.wait(1)
        rules = tmp_path / "chat/templates/rules.md.j2"
        save(rules, f"{rules.read_text('utf-8')}More.\n")
        running.wait(2)
        assert running.end() == 0
        os.set_blocking(leading, False)
        shown = os.read(leading, 10_000).decode()
    finally:
        os.close(leading)
        os.close(following)
    assert shown.count("\x1b[H\x1b[2J") == 1 and shown.index("\x1b") > 0


def test_quiet_says_nothing_between(watching, tmp_path):
    running = watching("render", "chat", "chat/state.json", "--watch", "--quiet")
    running.wait_for(lambda: "Far enough" in running.out.read_text("utf-8"))
    state = tmp_path / "chat/state.json"
    save(state, state.read_text("utf-8").replace("Ilse", "Inge"))
    running.wait_for(lambda: "Inge" in running.out.read_text("utf-8"))
    assert running.end() == 0 and running.err.read_text("utf-8") == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("render", "chat", "chat/state.json", "--watch", "--set", "x"), "PC0721"),
        (("explain", "chat", "chat/state.json", "--watch", "--csv"), "PC0721"),
        (("check", "chat", "--watch", "--fix"), "PC0744"),
        (("explain", "chat", "-", "--watch"), "PC0744"),
        (("explain", "chat", "pipe", "--watch"), "PC0744"),
        (("render", "chat", "chat/state.json", "--watch", "-o", "chat/templates/rules.md.j2"), "PC0720"),
    ],
)
def test_a_wrong_command_line_ends_at_once(arguments, code, run, monkeypatch, tmp_path):
    shutil.copytree(ROOT / "starters/chat", tmp_path / "chat")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.code == 2 and code in done.err and "watching" not in done.err


def test_it_ends_when_its_folder_is_removed(watching, tmp_path):
    (tmp_path / "here").mkdir()
    here = Watching(tmp_path / "here", "render", "../chat", "../chat/state.json", "--watch")
    here.wait(1)
    shutil.rmtree(tmp_path / "here")
    save(tmp_path / "chat/templates/rules.md.j2", "Other rules.")
    code = here.process.wait(BOUND)
    assert code == 4


def test_a_plain_render_is_read_without_click_and_a_watched_one_is_not():
    assert read_render(("render", "p", "s", "--only", "a")) is not None
    assert read_render(("render", "p", "s", WATCH.name)) is None


def test_a_pack_is_reloaded_and_not_loaded_again(tmp_path, monkeypatch):
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    loads = []
    real = Pack.load.__func__
    monkeypatch.setattr(Pack, "load", classmethod(lambda cls, *given, **named: loads.append(1) or real(cls, *given, **named)))
    texts = []

    def load_often():
        for word in ("stand", "are", "sit"):
            (tmp_path / "pack.yaml").write_text(PACK.replace("You stand", f"You {word}"), encoding="utf-8")
            pack = load_pack(str(tmp_path), None)
            texts.append(pack.render(pack.load_state(STATE)).text.split(" ")[1])
        return 0

    reuse_packs(load_often)
    assert (texts, len(loads)) == (["stand", "are", "sit"], 1)
    load_pack(str(tmp_path), None)
    load_pack(str(tmp_path), None)
    assert len(loads) == 3


# contract 12.2
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_how_a_watch_ends(watching, sent, code):
    watched = watching("check", "chat", "--watch")
    watched.wait(1)
    assert watched.end(sent) == code
