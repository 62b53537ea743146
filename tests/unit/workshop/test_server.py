"""Who may ask the page for what: the one browser that was given its address, and nobody else."""

import json
import os
import re
import socket
import threading
import urllib.request

import pytest
from starlette.testclient import TestClient

from promptc.diag.findings import DiskError
from promptc.workshop.page import Bench
from promptc.workshop.server import HOST, MOST_BYTES, PageApp, PageServer

TOKEN = "a-token-that-nobody-guesses"
HOME = f"http://{HOST}:8123"
OWN = {"origin": HOME, "sec-fetch-site": "same-origin"}


@pytest.fixture
def page(make_bench):
    """Asks the page as its own browser would."""
    return TestClient(PageApp(make_bench(notes=["<script>alert(1)</script>"]), TOKEN).app, base_url=HOME)


def test_the_page_and_its_files_are_shown(page):
    for name, kind in (("", "text/html"), ("page.css", "text/css"), ("page.js", "text/javascript"), ("draw.js", "text/javascript")):
        got = page.get(f"/{TOKEN}/{name}")
        assert got.status_code == 200 and got.headers["content-type"].startswith(kind)


def test_every_answer_forbids_what_is_not_the_pages_own(page):
    answers = [page.get(f"/{TOKEN}/"), page.get("/other/"), page.post(f"/{TOKEN}/view", headers=OWN, json={}), page.post(f"/{TOKEN}/view")]
    for got in answers:
        policy = dict(one.split(" ", 1) for one in got.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert got.headers["x-content-type-options"] == "nosniff" and got.headers["referrer-policy"] == "no-referrer"
        assert got.headers["cache-control"] == "no-store"
        assert not [name for name in got.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "path", ["/", "/view", "/other/", "/other/page.js", "/other/events", f"/{TOKEN}", f"/{TOKEN[:-1]}/", f"/{TOKEN}/nothing"]
)
def test_without_the_token_there_is_nothing(page, path):
    assert page.get(path, follow_redirects=False).status_code in (404, 405, 307)
    assert "message" not in page.post(path, headers=OWN, json={}, follow_redirects=False).text


@pytest.mark.parametrize("host", ["evil.example", HOST, f"{HOST}:80", f"{HOST}.evil.example:8123", "[::1]:8123", ""])
def test_another_name_of_the_host_is_refused(page, host):
    """A name that somebody lets lead here would be an origin of theirs."""
    for got in (page.get(f"/{TOKEN}/", headers={"host": host}), page.post(f"/{TOKEN}/view", headers={**OWN, "host": host}, json={})):
        assert got.status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": f"http://{HOST}:8124"},
        {"origin": f"https://{HOST}:8123"},
        {**OWN, "sec-fetch-site": "cross-site"},
        {**OWN, "sec-fetch-site": "same-site"},
        {**OWN, "sec-fetch-site": "none"},
    ],
)
def test_a_post_of_another_page_is_refused(page, headers):
    assert page.post(f"/{TOKEN}/view", headers=headers, json={}).status_code == 403


def test_another_page_does_not_read_ours(page):
    for name in ("", "page.js", "events"):
        assert page.get(f"/{TOKEN}/{name}", headers={"sec-fetch-site": "cross-site"}).status_code == 403
        assert page.get(f"/{TOKEN}/{name}", headers={"origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"3", b"\xff", b'{"tries": 3}', b'{"tries": [3]}', b'{"variants": []}', b"[" * 60_000, b'{"known": [0, 1e999]}'],
)
def test_a_body_of_another_form_is_refused(page, body):
    assert page.post(f"/{TOKEN}/view", headers=OWN, content=body).status_code == 400


def test_a_line_without_end_is_refused(page):
    body = b'{"asked": {}, "message": Infinity, "line": 1}'
    assert page.post(f"/{TOKEN}/trace", headers=OWN, content=body).status_code == 400


def test_a_long_body_is_not_read(page):
    got = page.post(f"/{TOKEN}/view", headers=OWN, content=b" " * (MOST_BYTES + 1))
    assert got.status_code == 413
    assert page.post(f"/{TOKEN}/view", headers=OWN, content=b" " * (MOST_BYTES - 2) + b"{}").status_code == 200


@pytest.mark.parametrize("name", ["forget", "__init__", "save", "../view", "list_shown", "render"])
def test_only_what_the_page_does_can_be_asked(page, name):
    assert page.post(f"/{TOKEN}/{name}", headers=OWN, json={}).status_code in (404, 405)


def test_no_path_of_a_request_is_opened(page):
    for shown in ("/etc/passwd", "../../etc/passwd", "state.json#0"):
        view = page.post(f"/{TOKEN}/view", headers=OWN, json={"shown": shown, "pack": "/etc"}).json()
        assert view["pack"] == "log"  # what is not known is the first of what is
    got = page.post(f"/{TOKEN}/golden", headers=OWN, json={"path": "/etc/passwd", "digest": "x", "verb": "reject"}).json()
    assert got["failed"]


@pytest.mark.parametrize("more", [{}, {"confirmed": 1}, {"confirmed": "true"}, {"confirmed": False}, {"confirmed": True}])
def test_nothing_is_written_that_was_not_shown_and_confirmed(page, tmp_path, more):
    before = read_all(tmp_path)
    asked = {"tries": [["sections.notes.budget", "75"]]}
    shown = page.post(f"/{TOKEN}/preview", headers=OWN, json=asked).json()
    digest = {} if more.get("confirmed") is True else {"digest": shown["digest"]}
    assert page.post(f"/{TOKEN}/write", headers=OWN, json={**asked, **digest, **more}).status_code == 400
    other = page.post(f"/{TOKEN}/write", headers=OWN, json={**asked, "confirmed": True, "digest": "sha256:0"}).json()
    assert other["failed"] and other["findings"][0]["code"] == "PC0725"
    assert read_all(tmp_path) == before


@pytest.fixture
def golden(make_bench, tmp_path):
    """A pending golden of a case, and a page that shows it."""
    make_bench(notes=["hello"])
    case = tmp_path / "cases" / "one"
    case.mkdir(parents=True)
    (case / "case.yaml").write_text("title: t\nstate: ../../state.json\ngolden: [text]\n", encoding="utf-8")
    pending = case / "golden.txt.new"
    pending.write_bytes(b"hello\n")
    bench = Bench(str(tmp_path / "pack.yaml"), (str(tmp_path / "cases"),))
    page = TestClient(PageApp(bench, TOKEN).app, base_url=HOME)
    (shown,) = page.post(f"/{TOKEN}/goldens", headers=OWN, json={}).json()["goldens"]
    return pending, lambda verb, **more: page.post(
        f"/{TOKEN}/golden", headers=OWN, json={"path": shown["path"], "digest": shown["digest"], "verb": verb, **more}
    )


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "nothing", "another"])
@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_what_stands_in_place_of_a_golden_is_a_finding(golden, kind, verb):
    pending, settle = golden
    pending.unlink()
    make = {
        "pipe": os.mkfifo,
        "folder": os.mkdir,
        "link": lambda path: path.symlink_to("/etc/hostname"),
        "another": lambda path: path.touch(),
    }
    make.get(kind, lambda path: None)(pending)
    before = read_all(pending.parent)
    got = settle(verb)
    assert got.status_code == 200 and got.json()["failed"] and read_all(pending.parent) == before


@pytest.mark.parametrize("verb", ["delete", "", None, ["reject"], {"reject": 1}])
def test_a_golden_is_accepted_or_rejected_and_nothing_else(golden, verb):
    pending, settle = golden
    assert settle(verb).status_code == 400 and pending.exists()
    assert settle("reject").json() == {"goldens": []} and not pending.exists()


def test_a_write_of_another_page_is_refused(page, tmp_path):
    asked = {"tries": [["sections.notes.budget", "75"]]}
    shown = page.post(f"/{TOKEN}/preview", headers=OWN, json=asked).json()
    body, before = {**asked, "digest": shown["digest"], "confirmed": True}, read_all(tmp_path)
    assert page.post(f"/{TOKEN}/write", headers={"origin": "http://evil.example"}, json=body).status_code == 403
    assert page.post("/other/write", headers=OWN, json=body).status_code == 404
    assert page.get(f"/{TOKEN}/write", headers=OWN).status_code == 404
    assert read_all(tmp_path) == before
    assert page.post(f"/{TOKEN}/write", headers=OWN, json=body).json()["count"] == 1
    changed = [name for name, content in read_all(tmp_path).items() if content != before[name]]
    assert changed == ["pack.yaml"]


def test_nothing_else_writes(page, tmp_path):
    """Each thing that a page may ask, with values that are tried."""
    before, body = read_all(tmp_path), {"tries": [["sections.notes.budget", "75"]]}
    bodies = {"trace": {"asked": body, "message": 0, "line": 1}, "compare": {"old": {}, "new": body}}
    for name in ("start", "view", "check", "trace", "compare", "session", "goldens", "preview"):
        assert page.post(f"/{TOKEN}/{name}", headers=OWN, json=bodies.get(name, body)).status_code == 200
    assert read_all(tmp_path) == before


def read_all(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_view_is_json_that_no_browser_takes_for_a_page(page):
    got = page.post(f"/{TOKEN}/view", headers=OWN, json={})
    assert got.headers["content-type"] == "application/json"
    assert json.loads(got.text)["tokens"] > 0


def test_the_page_has_no_script_and_no_style_of_its_own_lines(page):
    html = page.get(f"/{TOKEN}/").text
    assert not re.search(r"<script(?! src=)|<style|\son\w+=|\sstyle=|javascript:|https?://", html)
    script = page.get(f"/{TOKEN}/page.js").text + page.get(f"/{TOKEN}/draw.js").text
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?://", script)
    assert "http" not in page.get(f"/{TOKEN}/page.css").text


def test_the_server_listens_on_this_machine_alone_tells_changes_and_ends(make_bench, tmp_path):
    server = PageServer(make_bench(notes=["x"]))
    running, told = threading.Thread(target=server.run), threading.Event()
    running.start()
    try:
        assert re.fullmatch(rf"http://{re.escape(HOST)}:\d+/[\w-]{{32}}/", server.address)
        with urllib.request.urlopen(f"{server.address}events", timeout=20) as stream:
            assert stream.readline() == b"retry: 500\n"
            saving = threading.Thread(target=_save, args=(tmp_path / "pack.yaml", told))
            saving.start()
            lines = [stream.readline() for _ in range(2)]
            told.set()
            assert lines[1].startswith(b"data: ")
    finally:
        told.set()
        server.stop()
        running.join(20)
    assert not running.is_alive()


def _save(path, told):
    """Again and again, for it is not told when the watch begins."""
    while not told.wait(0.2):
        path.write_text(f"{path.read_text()}# changed\n")


def test_a_port_that_is_taken_is_said(make_bench):
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        with pytest.raises(DiskError, match="PC0723"):
            PageServer(make_bench(notes=["x"]), taken.getsockname()[1])
