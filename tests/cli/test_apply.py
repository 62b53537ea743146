"""`promptc apply`: what it prints, what it writes, and how it fails."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from promptc.cli.commands.apply import keep_answers
from promptc.diag.findings import Diagnostic, DiskError
from promptc.files.lock import hold_lock
from tests.cli.conftest import command, environment

LOGBOOK = Path(__file__).parent / "logbook"
ANSWER = "## Done\nmuch\n## Open\nlittle\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the pack `logbook` and a state beside it."""
    shutil.copytree(LOGBOOK, tmp_path / "logbook")
    (tmp_path / "logbook" / "state.json").rename(tmp_path / "state.json")
    (tmp_path / "answer.md").write_text(ANSWER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _state(path="state.json"):
    return json.loads(Path(path).read_bytes())


def _numbers(path="state.json"):
    return [entry["n"] for entry in _state(path)["entries"]]


def _archives(folder="state.json.archive"):
    return sorted(Path(folder).glob("*.jsonl"))


def test_the_list(here, run):
    listed = run("apply", "logbook", "--list")
    assert listed.code == 0 and "due" not in listed.out
    due = run("apply", "logbook", "--list", "state.json")
    assert [line.split()[0] for line in due.out.splitlines() if "  due  " in line] == ["prune", "digest"]
    read = json.loads(run("apply", "logbook", "--list", "state.json", "--json").out)
    assert read[1] == {"name": "prune", "title": "Archive all but the newest", "args": {"keep": 3}, "asks": [], "due": True}
    assert [one["due"] for one in json.loads(run("apply", "logbook", "--list", "--json").out)] == [None] * len(read)
    assert max(map(len, due.out.splitlines())) <= 80


@pytest.mark.parametrize("link", ["state.json.answers", "state.json.answers/digest.ca978112ca1b.txt"])
def test_answers_are_not_kept_behind_a_link(tmp_path, link):
    outside, place = tmp_path / "outside", tmp_path / link
    outside.mkdir()
    (outside / "file").write_text("mine")
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside if link.endswith("answers") else outside / "file")
    conflict = DiskError([Diagnostic("PC0821", "the state has changed")])
    assert keep_answers(str(tmp_path / "state.json"), {"digest": "a"}, conflict) is conflict
    assert [one.read_text() for one in outside.iterdir()] == ["mine"]
    place.unlink()
    told = keep_answers(str(tmp_path / "state.json"), {"digest": "a"}, conflict)
    (kept,) = (tmp_path / "state.json.answers").iterdir()
    assert kept.read_text() == "a" and f"--answer digest={kept}" in told.diagnostics[0].help


# contract 9.23
def test_an_operation_that_asks_nothing_is_done(here, run):
    done = run("apply", "logbook", "prune", "state.json", "--arg", "keep=2")
    assert (done.code, done.out, _numbers()) == (0, "", [8, 9])
    (archive,) = _archives()
    assert done.err == (f"2 kept.\nstate.json\n  /entries  10 → 2 elements, 8 archived\n8 elements in {archive}\n")
    header, *elements = map(json.loads, archive.read_text().splitlines())
    assert [one["n"] for one in elements] == list(range(8))
    assert {name: header[name] for name in ("promptc", "pack", "version", "operation", "pointer", "places", "length")} == {
        "promptc": 1, "pack": "logbook", "version": "1.0.0", "operation": "prune", "pointer": "/entries", "places": [[0, 8]], "length": 10,
    }  # fmt: skip


def test_a_repeated_call_changes_nothing(here, run):
    run("apply", "logbook", "prune", "state.json")
    before, archives = Path("state.json").read_bytes(), _archives()
    again = run("apply", "logbook", "prune", "state.json")
    assert again.code == 0 and again.err.endswith("state.json: nothing to change\n")
    assert (Path("state.json").read_bytes(), _archives()) == (before, archives)


# contract 3.12
def test_the_layout_of_the_file_stays(here, run):
    assert Path("state.json").read_text().startswith('{\n  "turns": 4,\n  "entries": [')
    run("apply", "logbook", "count", "state.json")
    assert Path("state.json").read_text() == (LOGBOOK / "state.json").read_text().replace('"turns": 4', '"turns": 5')
    Path("state.json").write_text('{"turns":4,"entries":[]}')
    run("apply", "logbook", "count", "state.json")
    assert Path("state.json").read_text() == '{"turns":5,"entries":[]}'


def test_requests_and_then_answers(here, run):
    asked = run("apply", "logbook", "digest", "state.json")
    shown = json.loads(asked.out)
    assert asked.code == 0 and asked.err == "" and list(shown["requests"]) == ["summary"]
    assert shown["requests"]["summary"]["messages"][0]["role"] == "system"
    assert _numbers() == list(range(10)) and not Path("state.json.lock").exists()
    done = run("apply", "logbook", "digest", "state.json", "--answer", "summary=answer.md", "--if-state", shown["state"])
    assert done.code == 0 and _state()["summary"] == ANSWER.strip() and _numbers() == [7, 8, 9]


def test_requests_for_a_provider(here, run):
    body = json.loads(run("apply", "logbook", "digest", "state.json", "--format", "anthropic", "--model", "small").out)["requests"][
        "summary"
    ]
    assert body["model"] == "small" and "system" in body


@pytest.mark.parametrize("format", ["messages", "anthropic"])
def test_what_is_said_while_a_question_is_rendered_is_told_once(format, here, run):
    """Of two questions by one pack."""
    manifest = Path("logbook/summary.yaml")
    text, old = (
        manifest.read_text(encoding="utf-8"),
        'text: "{% for entry in state.entries %}- {{ entry.text }}\\n{% endfor %}", pinned: true}',
    )
    log = "budget: 12, items: {from: state.entries, text: '- {{ item.text }}'}, overflow: [evict: {warn: true}]}"
    assert old in text
    manifest.write_text("asserts: [{that: state.turns > 90, else: a young log}]\n" + text.replace(old, log), encoding="utf-8")
    pack = Path("logbook/pack.yaml")
    pack.write_text(pack.read_text(encoding="utf-8").replace("pack: title.yaml", "pack: summary.yaml"), encoding="utf-8")
    flags = ["--arg", "title=true", "--requests", "--format", format, "--model", "small"]
    asked = run("apply", "logbook", "digest", "state.json", *flags)
    assert asked.code == 0 and list(json.loads(asked.out)["requests"]) == ["summary", "title"]
    assert asked.err.count("PC0540 warning: section `log` was shortened") == asked.err.count("a young log\n") == 1
    assert run("apply", "logbook", "digest", "state.json", *flags, "--quiet").err == ""


def test_a_later_question_sees_an_earlier_answer(here, run):
    flags = ["apply", "logbook", "digest", "state.json", "--arg", "title=true"]
    missing = run(*flags, "--answer", "summary=answer.md")
    assert missing.code == 2 and "PC0828" in missing.err and "--answer title=FILE" in missing.err and "--no-model" in missing.err
    (request,) = json.loads(run(*flags, "--answer", "summary=answer.md", "--requests").out)["requests"].items()
    assert request[0] == "title" and "much" in json.dumps(request[1])
    done = run(*flags, "--answer", "summary=answer.md", "--answer", "title=-", stdin=b"The log\n")
    assert done.code == 0 and _state()["title"].strip() == "The log"


def test_without_a_model_else_stands(here, run):
    done = run("apply", "logbook", "digest", "state.json", "--no-model")
    assert done.code == 0 and "PC0801" in done.err and _state()["summary"].startswith("## Done\n10 entries")


def test_an_answer_that_fails_its_check_is_a_warning(here, run):
    Path("bad.md").write_text("I cannot do that.")
    done = run("apply", "logbook", "digest", "state.json", "--answer", "summary=bad.md")
    assert done.code == 0 and "PC0800 warning" in done.err and _state()["summary"].startswith("## Done\n10 entries")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (f"{ANSWER}é".encode()[:-1], "it is not UTF-8"),
        (b"\xff\xfe#\0", "it is not UTF-8"),
        (ANSWER.encode() + b"a" * 8_000_000, "it is longer than 8,000,000 bytes"),
        (("é" * 4_000_010).encode(), "it is longer than 8,000,000 bytes"),
        (b"", "it is empty"),
    ],
    ids=["cut", "utf-16", "long", "wide", "empty"],
)
def test_an_answer_file_that_is_no_answer_is_refused_and_else_stands(answer, why, here, run):
    Path("answer.md").write_bytes(answer)
    done = run("apply", "logbook", "digest", "state.json", "--answer", "summary=answer.md")
    assert done.code == 0 and "PC0800 warning" in done.err and why in " ".join(done.err.split())
    assert _numbers() == [7, 8, 9] and "10 entries" in _state()["summary"]
    assert len(done.err) < 2_000


def test_a_dry_run_writes_nothing(here, run):
    done = run("apply", "logbook", "digest", "state.json", "--answer", "summary=answer.md", "--dry-run")
    assert done.code == 0 and done.out.splitlines() == [
        "  /entries  10 → 3 elements, 7 archived",
        "  /summary  new: a string of 27 characters",
    ]
    assert sorted(one.name for one in here.iterdir()) == ["answer.md", "logbook", "state.json"]
    assert run("apply", "logbook", "prune", "state.json", "--arg", "keep=10", "--dry-run").out == "state.json would stay as it is\n"


def test_the_new_state_elsewhere(here, run):
    before = Path("state.json").read_bytes()
    done = run("apply", "logbook", "prune", "state.json", "-o", "new.json")
    assert done.code == 0 and _numbers("new.json") == [7, 8, 9] and Path("state.json").read_bytes() == before
    assert len(_archives("new.json.archive")) == 1 and "new.json\n" in done.err
    nowhere = run("apply", "logbook", "prune", "state.json", "-o", "no/new.json")
    assert nowhere.code == 4 and "PC0725" in nowhere.err and not Path("no").exists(), "no folder is made for it"
    back = run("apply", "logbook", "--restore", "new.json")
    assert back.code == 0 and _numbers("new.json") == list(range(10))
    same = run("apply", "logbook", "prune", "state.json", "-o", "./state.json")
    assert same.code == 2 and "PC0829" in same.err


def test_from_standard_input_to_standard_output(here, run):
    raw = Path("state.json").read_bytes()
    done = run("apply", "logbook", "prune", "-", "--archive", "kept", stdin=raw)
    assert done.code == 0 and [entry["n"] for entry in json.loads(done.out)["entries"]] == [7, 8, 9]
    assert len(_archives("kept")) == 1
    refused = run("apply", "logbook", "prune", "-", stdin=raw)
    assert (refused.code, refused.out) == (2, "") and "PC0827" in refused.err
    assert json.loads(run("apply", "logbook", "count", "-", stdin=raw).out)["turns"] == 5
    back = run("apply", "logbook", "--restore", "-", "--archive", "kept", stdin=done.out.encode())
    assert json.loads(back.out) == json.loads(raw)


def test_restore_brings_all_back_once(here, run):
    before = _state()
    run("apply", "logbook", "prune", "state.json", "--arg", "keep=6")
    run("apply", "logbook", "sweep", "state.json")
    run("apply", "logbook", "note", "state.json", "--arg", "n=10", "--arg", 'text="new"')
    assert _numbers() == [6, 9, 10] and len(_archives()) == 2
    dry = run("apply", "logbook", "--restore", "state.json", "--dry-run")
    assert dry.out == "  /entries  3 → 11 elements\n" and _numbers() == [6, 9, 10]
    done = run("apply", "logbook", "--restore", "state.json")
    assert done.code == 0 and _numbers() == list(range(11)) and _state()["entries"][:10] == before["entries"]
    assert done.err.count("put back at /entries") == 2
    again = run("apply", "logbook", "--restore", "state.json")
    assert again.err == "state.json: nothing to change\n" and _numbers() == list(range(11))


def test_restore_of_named_archives_in_any_order(here, run):
    run("apply", "logbook", "prune", "state.json", "--arg", "keep=6")
    (first,) = _archives()
    run("apply", "logbook", "prune", "state.json", "--arg", "keep=2")
    (second,) = set(_archives()) - {first}
    run("apply", "logbook", "--restore", "state.json", str(first))
    assert _numbers() == [0, 1, 2, 3, 8, 9]
    run("apply", "logbook", "--restore", "state.json", str(second))
    assert _numbers() == list(range(10))


def test_states_that_share_a_folder_of_archives_keep_apart(here, run):
    shutil.copy("state.json", "other.json")
    run("apply", "logbook", "prune", "state.json", "--archive", "kept")
    run("apply", "logbook", "sweep", "other.json", "--archive", "kept")
    done = run("apply", "logbook", "--restore", "state.json", "--archive", "kept")
    assert _numbers() == list(range(10)) and _numbers("other.json") == [0, 3, 6, 9]
    assert "1 archive of other states left" in done.err


def test_a_damaged_archive_is_refused(here, run):
    run("apply", "logbook", "prune", "state.json")
    (archive,) = _archives()
    archive.write_bytes(archive.read_bytes().replace(b"entry 3", b"entry 4"))
    done = run("apply", "logbook", "--restore", "state.json")
    assert done.code == 4 and "PC0825" in done.err and _numbers() == [7, 8, 9]


def test_a_state_whose_name_is_no_utf8(here, start, run):
    name = os.fsdecode(b"b\xff.json")
    Path("state.json").rename(name)
    before = _state(name)
    done = run("apply", "logbook", "prune", name)
    assert done.code == 0 and _numbers(name) == [7, 8, 9], done.err
    back = run("apply", "logbook", "--restore", name)
    assert back.code == 0 and _state(name) == before and "nothing" not in back.err
    assert run("apply", "logbook", "--restore", name).code == 0 and _state(name) == before


def _forge(**changed):
    """An archive with another header, named as its bytes ask."""
    (archive,) = _archives()
    header, *elements = archive.read_text().splitlines()
    data = "".join(f"{line}\n" for line in (json.dumps({**json.loads(header), **changed}), *elements)).encode()
    forged = Path(f"entries.{hashlib.sha256(data).hexdigest()}.jsonl")
    forged.write_bytes(data)
    return str(forged)


@pytest.mark.parametrize(
    "changed",
    [
        {"length": 100_000_000_000},
        {"length": True},
        {"places": [[False, True]]},
        {"promptc": True},
        {"kept": [1, 2, 3]},
        {"places": [[0, 10**12]]},
    ],
    ids=["long", "true", "places", "promptc", "kept", "wide"],
)
def test_a_forged_header_is_refused(changed, here, run):
    run("apply", "logbook", "prune", "state.json")
    done = run("apply", "logbook", "--restore", "state.json", _forge(**changed))
    assert done.code == 4 and "PC0825" in done.err and "it is not an archive of promptc" in " ".join(done.err.split())
    assert _numbers() == [7, 8, 9]


def test_an_archive_of_another_pack_is_put_back_with_a_warning(here, run):
    run("apply", "logbook", "prune", "state.json")
    done = run("apply", "logbook", "--restore", "state.json", _forge(pack="diary"))
    assert done.code == 0 and "PC0834 warning" in done.err and "`diary`" in done.err and _numbers() == list(range(10))


def test_a_restore_is_repeated_with_equal_elements(here, run):
    before = [{"n": number, "text": "same", "open": number == 1} for number in (0, 1, 0)]
    Path("state.json").write_text(json.dumps({"entries": before}))
    run("apply", "logbook", "sweep", "state.json")
    run("apply", "logbook", "prune", "state.json", "--arg", "keep=0")
    for names in ((), (), map(str, _archives()), [str(_archives()[0])]):
        assert run("apply", "logbook", "--restore", "state.json", *names).code == 0
        assert _state()["entries"] == before


def test_a_restore_that_fits_no_list_is_refused(here, run):
    run("apply", "logbook", "prune", "state.json")
    Path("text.json").write_text('{"entries": "none"}')
    archive = str(_archives()[0])
    assert run("apply", "logbook", "--restore", "text.json", archive).code == 3
    shutil.copytree("logbook", "free")
    pack = Path("free/pack.yaml")
    pack.write_text(pack.read_text().replace("state: {schema: state.schema.json}\n", ""))
    done = run("apply", "free", "--restore", "text.json", archive)
    assert done.code == 3 and "PC0826" in done.err
    Path("bare.json").write_text("{}")
    assert run("apply", "logbook", "--restore", "bare.json", archive).code == 0 and _numbers("bare.json") == list(range(7))


@pytest.mark.parametrize("given", ["keep=" + "9" * 5000, "k" * 5000])
def test_an_argument_that_is_long_is_told_in_short(given, here, run):
    done = run("apply", "logbook", "prune", "state.json", "--arg", given)
    assert done.code == 2 and "PC0721" in done.err and len(done.err) < 300


@pytest.mark.parametrize(
    ("code", "name", "arguments"),
    [
        (4, "PC0724", ["prune", "nowhere.json"]),
        (4, "PC0724", ["prune", "logbook"]),
        (4, "PC0724", ["--restore", "state.json", "nowhere.jsonl"]),
        (4, "PC0724", ["digest", "state.json", "--answer", "summary=nowhere.md"]),
        (4, "PC0724", ["--list", "nowhere.json"]),
        (4, "PC0821", ["prune", "state.json", "--if-state", "sha256:0"]),
        (4, "PC0725", ["prune", "state.json", "-o", "no/such/new.json", "--archive", "kept"]),
        (4, "PC0824", ["prune", "state.json", "--archive", "answer.md/kept"]),
        (4, "PC0825", ["--restore", "state.json", "answer.md"]),
        (3, "PC0103", ["prune", "empty.json"]),
        (3, "PC0302", ["prune", "wrong.json"]),
        (3, "PC0810", ["spoil", "state.json"]),
        (2, "PC0802", ["prnue", "state.json"]),
        (2, "PC0803", ["prune", "state.json", "--arg", "kep=3"]),
        (2, "PC0721", ["prune", "state.json", "--arg", "keep"]),
        (2, "PC0721", ["prune", "state.json", "--arg", "keep=three"]),
        (2, "PC0721", ["prune", "state.json", "--arg", "keep=1", "--arg", "keep=1"]),
        (2, "PC0721", ["digest", "state.json", "--answer", "summary"]),
        (2, "PC0721", ["digest", "state.json", "--answer", "summary=answer.md", "--answer", "summary=answer.md"]),
        (2, "PC0829", ["digest", "-", "--answer", "summary=-"]),
        (2, "PC0829", ["--list", "--restore", "state.json"]),
        (2, "PC0829", ["prune", "state.json", "--json"]),
        (2, "PC0829", ["digest", "state.json", "--no-model", "--endpoint", "http://localhost/", "--model", "m"]),
        (2, "PC0829", ["digest", "state.json", "--endpoint", "http://localhost/"]),
        (2, "PC0721", ["digest", "state.json", "--endpoint", "localhost", "--model", "m"]),
        (2, "PC0721", ["digest", "state.json", "--endpoint", "http://localhost/", "--model", "m", "--key-env", "NO_SUCH_KEY"]),
        (2, "PC0720", ["prune"]),
        (2, "PC0720", ["--list", "state.json", "state.json"]),
        (2, "PC0720", ["--restore"]),
        (2, "PC0720", ["prune", "state.json", "--wait", "soon"]),
    ],
)
def test_a_failure_changes_nothing(code, name, arguments, here, run):
    Path("empty.json").write_bytes(b"")
    Path("wrong.json").write_text('{"turns": "many"}')
    before = Path("state.json").read_bytes()
    done = run("apply", "logbook", *arguments)
    assert (done.code, done.out) == (code, "") and name in done.err
    assert Path("state.json").read_bytes() == before and "Traceback" not in done.err


def test_a_state_in_use_is_waited_for(here, run):
    with hold_lock(here / "state.json.lock", wait=0, purpose="checkpoint", shown="state.json"):
        begun = time.monotonic()
        done = run("apply", "logbook", "prune", "state.json", "--wait", "0.2")
        assert done.code == 4 and time.monotonic() - begun >= 0.2
        assert f"PC0820 process {os.getpid()} (checkpoint)" in done.err
    assert run("apply", "logbook", "prune", "state.json", "--wait", "0").code == 0


def test_a_full_output_is_a_finding(here, start):
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" > /dev/full', "sh", *command(["apply", "logbook", "count", "-"])],
        input=Path("state.json").read_bytes(), capture_output=True, env=environment(), check=False,
    )  # fmt: skip
    assert done.returncode == 4 and b"PC0725" in done.stderr and b"Traceback" not in done.stderr


def test_a_control_character_cannot_move_the_cursor(here, run):
    pack = Path("logbook/pack.yaml")
    pack.write_text(pack.read_text().replace('say: "Noted {{ args.n }}."', 'say: "{{ args.text }}"'))
    done = run("apply", "logbook", "note", "state.json", "--arg", 'text="a\\u001b[2Jb\\nc"')
    assert "\x1b" not in done.err and done.err.startswith("a\\x1b[2Jb\nc\nstate.json\n")


class _Model:
    """A server that answers by the words of the question, after `delay` seconds, and calls `meanwhile` first."""

    def __init__(self, answer, delay=0.0, meanwhile=lambda: None):
        model = self
        self.bodies = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                model.bodies.append((self.headers.get("Authorization"), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                time.sleep(delay)
                meanwhile()
                content = json.dumps({"choices": [{"message": {"content": answer(model.bodies[-1][1])}}]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("localhost", 0), Handler)
        self.http.daemon_threads = True
        self.flags = ["--endpoint", f"http://localhost:{self.http.server_address[1]}/v1", "--model", "small"]
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


def _write(body):
    return "The log" if "title" in json.dumps(body) else ANSWER


def test_an_endpoint_is_asked_one_by_one(here, run, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with _Model(_write) as model:
        done = run("apply", "logbook", "digest", "state.json", "--arg", "title=true", *model.flags, "--key-env", "MY_KEY")
    assert done.code == 0 and "sk-secret" not in done.err
    assert (_state()["summary"], _state()["title"], _numbers()) == (ANSWER.strip(), "The log", [7, 8, 9])
    assert [key for key, _ in model.bodies] == ["Bearer sk-secret"] * 2
    assert model.bodies[0][1]["model"] == "small" and "much" in json.dumps(model.bodies[1][1])


def test_a_long_wait_is_told(here, run, monkeypatch):
    monkeypatch.setattr("promptc.cli.commands.apply._PATIENCE", 0.01)
    with _Model(_write, delay=0.5) as model:
        done = run("apply", "logbook", "digest", "state.json", *model.flags)
        assert done.code == 0 and "waiting for small at http://localhost" in done.err
    monkeypatch.setattr("promptc.cli.commands.apply._PATIENCE", 600)
    with _Model(_write) as model:
        assert "waiting" not in run("apply", "logbook", "digest", "state.json", *model.flags).err


def test_a_server_without_an_answer_is_a_warning_unless_strict(here, run, monkeypatch):
    monkeypatch.setattr("promptc.operations.endpoint._PAUSE", 0.001)
    before = Path("state.json").read_bytes()
    flags = ["--endpoint", "http://localhost:1/v1", "--model", "m"]
    strict = run("apply", "logbook", "digest", "state.json", *flags, "--strict")
    assert strict.code == 4 and "PC0831" in strict.err and Path("state.json").read_bytes() == before
    done = run("apply", "logbook", "digest", "state.json", *flags)
    assert done.code == 0 and "PC0831 warning" in done.err and _state()["summary"].startswith("## Done\n10 entries")


def test_a_state_that_changes_while_a_model_thinks_is_a_conflict_and_the_answer_is_kept(here, run):
    def meanwhile():
        value = _state()
        Path("state.json").write_text(json.dumps({**value, "turns": 99}))

    with _Model(_write, meanwhile=meanwhile) as model:
        done = run("apply", "logbook", "digest", "state.json", *model.flags)
    assert done.code == 4 and "PC0821" in done.err
    flag, file = done.err.split("continue with ")[1].split()[:2]
    again = run("apply", "logbook", "digest", "state.json", flag, file)
    assert again.code == 0 and _state()["summary"] == ANSWER.strip() and _state()["turns"] == 99


# contract 9.21
def test_others_get_the_lock_while_a_model_thinks(here, run):
    took = []

    def meanwhile():
        with hold_lock(here / "state.json.lock", wait=0, purpose="another", shown="state.json"):
            took.append(True)

    with _Model(_write, meanwhile=meanwhile) as model:
        assert run("apply", "logbook", "digest", "state.json", *model.flags).code == 0
    assert took == [True]


@pytest.mark.parametrize("signal_sent", [signal.SIGINT])
def test_an_interrupt_while_a_model_thinks_ends_it(signal_sent, here):
    before = Path("state.json").read_bytes()
    probe = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); " + command([])[2]
    with _Model(_write, delay=60) as model:
        arguments = [command([])[0], "-c", probe, "apply", "logbook", "digest", "state.json", *model.flags]
        running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        assert running.stderr is not None and b"waiting" in running.stderr.readline()
        running.send_signal(signal_sent)
        out, err = running.communicate(timeout=50)
    assert (running.returncode, out, err) == (130, b"", b"") and Path("state.json").read_bytes() == before


def test_processes_at_one_state_lose_no_update(here):
    lines = [
        [*command(["apply", "logbook", "turn", "state.json", "--quiet", "--arg", f"n={n}", "--arg", "keep=2"])] for n in range(100, 106)
    ]
    running = [subprocess.Popen(line, env=environment()) for line in lines]
    assert [one.wait() for one in running] == [0] * 6
    assert _state()["turns"] == 10
    archived = [json.loads(line)["n"] for file in _archives() for line in file.read_text().splitlines()[1:]]
    assert sorted(archived + _numbers()) == [*range(10), *range(100, 106)]


_HIDING = """promptc: 1
name: inn
version: 1.0.0
tokenizer: chars/4
budget: 500
redact: [email]
sections: [{id: talk, items: {from: state.talk, text: "{{ item }}"}}]
operations:
  fold:
    title: Fold the talk
    asks:
      recap: {pack: recap.yaml, else: {text: none}}
      title: {pack: title.yaml, else: {text: none}}
    edits:
      - {set: /recap, to: answers.recap}
      - {set: /title, to: answers.title}
      - {keep: /talk, last: 1}
"""
_QUESTION = """promptc: 1
name: NAME
version: 1.0.0
tokenizer: chars/4
budget: 500
redact: [email]
sections: [{id: talk, role: user, items: {from: state.talk, text: "{{ item }}"}}, {id: recap, text: "{{ answers.recap }}"}]
"""


# contract 10.24
def test_an_answer_gets_back_what_its_question_hid(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    Path("pack.yaml").write_text(_HIDING)
    Path("recap.yaml").write_text(_QUESTION.replace("NAME", "recap").replace(', {id: recap, text: "{{ answers.recap }}"}', ""))
    Path("title.yaml").write_text(_QUESTION.replace("NAME", "title"))
    talk = ["Write to ada@example.com.", "Or to bo@example.com.", "I am [EMAIL_1]."]
    Path("state.json").write_text(json.dumps({"talk": talk}))
    Path("recap.md").write_text("[EMAIL_2] wrote, and [QUOTED_1]. [EMAIL_9] did not.")
    Path("title.md").write_text("[EMAIL_1]")
    asked = json.loads(run("apply", ".", "fold", "state.json").out)
    assert "ada@" not in json.dumps(asked) and "[EMAIL_1]" in json.dumps(asked)
    assert run("apply", ".", "fold", "state.json", "--answer", "recap=recap.md", "--answer", "title=title.md").code == 0
    kept = _state()
    assert kept["recap"] == "bo@example.com wrote, and [EMAIL_1]. [EMAIL_9] did not." and kept["title"] == "ada@example.com"
