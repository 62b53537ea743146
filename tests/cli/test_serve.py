"""`promptc serve`, and `--static`: a file that needs no server, with a revision beside the pack."""

import json
import re
import socket
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from time import sleep
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import PACK, STATE


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "state.json").write_text(json.dumps(STATE), encoding="utf-8")
    return tmp_path


def read_made(file):
    """What the file holds beside the page."""
    return json.loads(re.search(r'<script type="application/json" id="made">(.*?)</script>', file.read_text(encoding="utf-8"))[1])


def commit(there):
    for command in ("init -q", "add .", "-c user.name=x -c user.email=x@x commit -qm x"):
        subprocess.run(["git", *command.split()], cwd=there, check=True)


def test_a_revision_stands_beside_the_pack_and_no_path_of_it(there, run):
    commit(there)
    old = re.search(r"^name: (\w+)", PACK, re.MULTILINE)[1]
    (there / "pack.yaml").write_text(PACK.replace(f"name: {old}", "name: other", 1), encoding="utf-8")
    first, again = there / "first.html", there / "again.html"
    for file in (first, again):
        done = run("serve", ".", "state.json", "--rev", "HEAD", "--static", str(file))
        assert done.code == 0 and done.out == "" and "wrote" in done.err
    made = read_made(first)
    assert made["start"]["against"] == ["HEAD:."]
    assert [(one["asked"]["pack"], one["view"]["pack"]) for one in made["views"][:2]] == [("", "other"), ("HEAD:.", old)]
    assert [one["pack"] for one in made["compared"]] == ["HEAD:."]
    assert first.read_bytes() == again.read_bytes()
    assert str(there).encode() not in first.read_bytes() and b"/tmp/" not in first.read_bytes()


def test_a_file_needs_no_package_that_serves(there):
    block = "import sys; sys.modules.update(dict.fromkeys(('starlette', 'uvicorn', 'watchfiles')))\n"
    call = "from promptc.cli.main import main; sys.exit(main(['serve', '.', 'state.json', '--static', 'page.html']))"
    done = subprocess.run([sys.executable, "-c", block + call], cwd=there, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (there / "page.html").exists()


def test_a_file_is_not_served(there, run):
    done = run("serve", ".", "state.json", "--static", "page.html", "--port", "8000")
    assert done.code == 2 and "PC0720" in done.err and "`--port`" in done.err
    assert not (there / "page.html").exists()


def test_a_file_that_cannot_be_written_is_said(there, run):
    done = run("serve", ".", "state.json", "--static", "no/such/page.html")
    assert done.code == 4 and "PC0725" in done.err


def test_more_connections_than_the_process_may_open_are_waited_for_in_silence(there):
    """Python would write a traceback for each that it cannot accept: megabytes a second."""
    pytest.importorskip("uvicorn")
    resource = pytest.importorskip("resource")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    call = f"import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, {most[1]})); "
    call += "from promptc.cli.main import main; sys.exit(main(['serve', '.', 'state.json']))"
    with ExitStack() as stack, (there / "said.txt").open("w+") as said:
        running = stack.enter_context(subprocess.Popen([sys.executable, "-uc", call], stdout=subprocess.PIPE, stderr=said, text=True))
        stack.callback(running.kill)
        address = running.stdout.readline().strip()
        where = urlsplit(address)
        with ExitStack() as open_ones:
            for _ in range(100):
                open_ones.enter_context(socket.create_connection((where.hostname, where.port), 20))
            sleep(1.5)
        assert urllib.request.urlopen(address, timeout=20).status == 200
        assert running.poll() is None and said.seek(0) == 0 and said.read() == ""
