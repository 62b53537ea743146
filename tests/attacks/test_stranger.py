"""A stranger's repository through every reading command: no connection, no file outside, no process but git, and no secret told.

Each command runs in a process of its own, which writes down what it opens, starts and connects to (`trace.py`). A commit
tries a third of them.
"""

import json
import os
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.attacks.stranger import SECRET, make_stranger
from tests.contract.sources import ROOT

PACKS = (
    *("pack", "pack_include", "pack_absolute", "pack_link", "pack_link_folder", "pack_fifo", "pack_device", "pack_server", "pack_is_link"),
    *("pack_is_zero", "pack_is_fifo", "pack_extends", "pack_extends_file"),
)
COMMANDS = (
    *(["render", pack, "pack/state.json"] for pack in PACKS),
    *(["check", pack] for pack in PACKS),
    ["check", "."],
    ["explain", "pack", "pack/state.json", "--why"],
    ["map", "pack"],
    ["diff", "pack", "pack_link", "--state", "pack/state.json"],
    ["diff", "HEAD:pack", "pack", "--state", "pack/state.json"],
    ["diff", "HEAD:fixtures/golden_odd/golden.txt", "fixtures/golden_odd/golden.txt"],
    ["matrix", "pack", "--rev", "HEAD"],
    ["matrix", "pack", "fixtures", "--try", "budget=900", "--format", "html"],
    ["explain", "pack", "pack/state.json", "--sweep", "budget"],
    ["test", "-j", "1", "--try", "budget=900"],
    ["tune", "pack", "--check", "0"],
    ["tune", "pack", "pack/state.json", "fixtures", "--write"],
    *(["tune", pack, "--try", "budget=900", "--write"] for pack in ("pack", "pack_link", "pack_is_link", "pack_extends")),
    ["segments", "list", "--pack", "pack_server"],
    ["test", "-j", "1"],
    ["test", "-j", "2", "--no-cache"],
    ["test", "-j", "1", "--ci", "--format", "markdown"],
    ["test", "--since", "HEAD"],
    ["test", "--changed"],
    ["pending"],
    ["review"],
    ["accept"],
    ["prune"],
)
_HANGS = 100
_PYTHON = map(str, (ROOT, sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib")))
_READ = (*_PYTHON, "/usr/", "/etc/localtime", "/dev/null", "/proc/")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return make_stranger(tmp_path_factory.mktemp("stranger"))


# contract 1.1, 3.15 and 11.13
@pytest.mark.sampled
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_it_causes_a_prompt_or_a_diagnostic(clone, command, tmp_path):
    outside = clone.parent / "outside"
    before = _list_files(outside)
    done, events = _run_traced(clone, command, tmp_path)
    assert done.returncode in (0, 1, 2, 3, 4), done.stderr
    assert "Traceback" not in done.stderr
    assert not [event for event in events if not _is_allowed(event, (str(clone), str(tmp_path)))]
    assert _list_files(outside) == before
    assert SECRET not in done.stdout + done.stderr
    assert not [path for path in _list_files(clone) if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes()]


def test_an_editor_reads_the_packs_that_are_open_and_writes_nothing(tmp_path):
    """Also where what it asks about leads out of them."""
    pytest.importorskip("pytest_lsp", reason="needs pytest-lsp")
    from tests.cli.editing import Editor

    clone, log, answers = make_stranger(tmp_path), tmp_path / "log", []
    before = _read_files(tmp_path)
    editor, traced = Editor(clone), [sys.executable, "-B", "-m", "tests.attacks.trace", str(log), "lsp"]
    editor.start(traced)
    for name in PACKS:
        manifest = clone / name / "pack.yaml"
        text = manifest.read_text(encoding="utf-8") if manifest.is_file() and not manifest.is_symlink() else "promptc: 1\n"
        editor.open(manifest, text)
        editor.await_found(manifest, lambda found: True)
        for at, line in enumerate(text.split("\n")):
            for column in range(0, len(line), 5):
                answers += editor.ask_all(manifest, at, column)
    editor.list_hints(clone / "pack" / "pack.yaml")
    assert editor.stop() == 0
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert not [event for event in events if not _is_allowed(event, (str(clone),)) or _is_writing(event)]
    assert _read_files(tmp_path) == before
    assert SECRET not in repr(editor.client.diagnostics) + repr(answers)


def _is_writing(event):
    return event[0] == "open" and event[3] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) and event[1] != "/dev/null"


def test_a_value_is_written_to_the_own_manifest_alone(tmp_path):
    clone, changed = make_stranger(tmp_path), set()
    for pack in ("pack", "pack_link", "pack_link_folder", "pack_is_link", "pack_extends", "pack_extends_file"):
        before = _read_files(tmp_path)
        _run_traced(clone, ["tune", pack, "--try", "budget=900", "--write"], tmp_path)
        _run_traced(clone, ["tune", pack, "pack/state.json", "fixtures", "--total", "9000", "--write"], tmp_path)
        now = _read_files(tmp_path)
        found = {path for path in before if now[path] != before[path]}
        assert found <= {clone / pack / "pack.yaml"}
        changed |= found
    assert clone / "pack" / "pack.yaml" in changed


def _read_files(folder):
    return {path: path.readlink() if path.is_symlink() else path.read_bytes() for path in _list_files(folder) if _is_plain(path)}


def _is_plain(path):
    return path.name != "log" and ".git" not in path.parts and (path.is_symlink() or path.is_file())


def test_the_trace_sees_what_it_must(tmp_path):
    """What is watched for is seen: a file, a process, a connection."""
    log = tmp_path / "log"
    code = (
        f"from tests.attacks.trace import watch; watch({str(log)!r}); import contextlib, socket, subprocess, sys\n"
        "open('/etc/hostname'); subprocess.run([sys.executable, '-c', '']); socket.socket()\n"
        "with contextlib.suppress(OSError): socket.socket(socket.AF_UNIX).connect('/run/nobody')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    refused = {event[0] for event in events if not _is_allowed(event, ())}
    assert {"open", "subprocess.Popen", "socket.__new__", "socket.connect"} <= refused


def _run_traced(clone, command, tmp_path):
    log = tmp_path / "log"
    paths = os.pathsep.join((str(ROOT / "compiler"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "USER_KEY": SECRET, "PGPASSWORD": SECRET}
    environment |= {"TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    environment |= {"PROMPTC_CACHE": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    environment.pop("CI", None)
    traced = [sys.executable, "-m", "tests.attacks.trace", str(log), *command]
    done = subprocess.run(
        traced, cwd=clone, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=_HANGS
    )
    return done, [json.loads(line) for line in log.read_text().splitlines()]


def _is_allowed(event, folders):
    name, *values = event
    if name == "open":
        path, _, flags = values
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        there = path if isinstance(path, int) else os.path.normpath(Path(*folders[:1], path).absolute())
        return isinstance(there, int) or there.startswith(folders if writes else (*folders, *_READ))
    if name == "subprocess.Popen":
        return Path(str(values[0])).name == "git"
    if name == "sqlite3.connect":
        return str(values[0]).removeprefix("file:").startswith(folders)
    if name == "socket.__new__":
        return values[1] == socket.AF_UNIX  # a pair, as between `test` and its processes; a `socket.connect` or `socket.bind` is refused
    return name.startswith(("shutil.", "ctypes."))


def _list_files(folder):
    return sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
