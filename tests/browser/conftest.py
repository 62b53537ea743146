"""A browser for the tests of a module, and the page of a pack in it.

Without Chromium these tests are skipped; where the variable `PROMPTC_BROWSER` is `required`, they fail.
"""

import json
import os
import shutil
import threading

import pytest

from promptc.workshop.page import Bench, render_static
from promptc.workshop.server import PageServer

_QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
).split()

SCHEMA = {
    "type": "object",
    "properties": {
        "mood": {"enum": ["calm", "tense"], "default": "calm"},
        "names": {"type": "array", "items": {"type": "string"}, "default": []},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["notes"],
}
MANIFEST = """\
promptc: 1
name: log
version: 1.0.0
budget: {context: 1000, reserve: 100}
tokenizer: o200k_base
state: {schema: state.schema.json}
variants:
  mood:
    select: state.mood
    cases:
      calm: {}
      tense: {sections: {rules: {text: "Be quick."}}}
patches:
  brief: {sections: {notes: {budget: 30}}}
sections:
  - {id: rules, text: "Be kind.", pinned: true}
  - id: names
    budget: 40
    items: {from: state.names, text: "{{ item }}"}
    overflow: [{evict: {}}]
  - id: notes
    budget: 60
    items: {from: state.notes, text: "{{ item }}"}
    overflow: [{trim: {floor: 8, marker: "[…]"}}, {evict: {}}]
strain:
  tiers:
    - {name: easy, at: 0}
    - {name: hard, at: 0.5, leave: 0.4}
"""


# For one module: as long as it is open, an event loop runs in this thread, and tests elsewhere could not run theirs.
@pytest.fixture(scope="module")
def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        message = "there is no Chromium on this machine: install Debian's `chromium`"
        if os.environ.get("PROMPTC_BROWSER") == "required":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=_QUIET)
        yield opened
        opened.close()


@pytest.fixture
def folder(tmp_path):
    """A pack and two states; write into it before the page is opened."""
    (tmp_path / "pack.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "state.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    notes = [f"Note {at} tells at length of the harbour and the rain." for at in range(9)]
    write_state(tmp_path, "long", notes=notes, names=[f"Name {at}" for at in range(20)])
    write_state(tmp_path, "short", notes=["One note."])
    return tmp_path


def write_state(folder, name, **state):
    (folder / f"{name}.json").write_text(json.dumps(state), encoding="utf-8")


@pytest.fixture
def show(browser):
    """Shows an address in a window of a scheme and a size. Whatever the page or its policy complains of fails the test."""
    contexts, wrong = [], []

    def show_it(address, scheme="light", size=(1280, 900)):
        context = browser.new_context(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(40_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda said: wrong.append(f"a dialog: {said.message}"))
        page.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith(address) else None)
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        return page

    yield show_it
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture
def open_page(show, folder):
    """Opens the page that is served."""
    running = []

    def open_it(*given, pack=None, against=None, **window):
        bench = Bench(str(pack or folder), given or list_states(folder), against=against)
        server = PageServer(bench)
        thread = threading.Thread(target=server.run, daemon=True)  # a page that never shows must not keep the process
        thread.start()
        page = show(server.address, **window)
        running.append((page, server, thread))
        return page

    yield open_it
    for page, server, thread in running:
        page.context.close()  # first: a page complains of a server that has gone
        server.stop()
        thread.join(20)


@pytest.fixture
def open_static(show, folder, tmp_path_factory):
    """Opens the page that is a file."""

    def open_it(*given, against=None, **window):
        file = tmp_path_factory.mktemp("static") / "page.html"
        file.write_bytes(render_static(Bench(str(folder), given or list_states(folder), against=against)))
        return show(file.as_uri(), **window)

    return open_it


def list_states(folder):
    return tuple(str(folder / f"{name}.json") for name in ("long", "short"))
