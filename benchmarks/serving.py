"""The page of `promptc serve` in a real browser: from moving a slider, and from saving a file, to the prompt on the screen."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import LeftOut, Sample, Scale, begin, show

_BLOCKS = (1_000, 20)
_ROUNDS = (20, 1)
_SLIDER_MS, _SAVED_MS = 50, 300
_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update")
_MANIFEST = """\
promptc: 1
name: log
version: 1.0.0
budget: {context: 40000, reserve: 100}
tokenizer: o200k_base
state: {schema: state.schema.json}
sections:
  - {id: rules, text: "Be kind.", pinned: true}
  - id: notes
    budget: %d
    items: {from: state.notes, text: "{{ item }}"}
    overflow: [{evict: {}}]
"""
_SCHEMA = {"type": "object", "properties": {"notes": {"type": "array", "items": {"type": "string"}}}, "required": ["notes"]}
_PAINTED = """
const painted = (isThere, done) => {
  const look = () => {
    if (!isThere()) return false;
    seen.disconnect();
    requestAnimationFrame(() => {
      const next = new MessageChannel();
      next.port1.onmessage = done;
      next.port2.postMessage(0);
    });
    return true;
  };
  const seen = new MutationObserver(look);
  seen.observe(document.body, { attributes: true, childList: true, subtree: true, characterData: true });
};
"""
_SLIDE = f"""([value, cap]) => new Promise((found) => {{
{_PAINTED}
  const slider = document.querySelector("[data-path='sections.notes.budget']"), begun = performance.now();
  const held = () => document.querySelector("[data-section=notes] .num").textContent.endsWith(cap);
  painted(held, () => found((performance.now() - begun) / 1000));
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
}})"""
_WAIT = f"""(text) => {{
{_PAINTED}
  const isThere = () => document.querySelector("#prompt").textContent.includes(text);
  window.saved = new Promise((found) => painted(isThere, () => found(Date.now() / 1000)));
}}"""


def bench_serving(scale: Scale) -> None:
    """Print both times for a prompt of 1 000 notes, more than half of which a ladder removes."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise LeftOut("there is no Chromium on this machine: install Debian's `chromium`")
    blocks, rounds = scale.choose(*_BLOCKS), scale.choose(*_ROUNDS)
    begin(f"Serving: a page of {blocks:,} notes in Chromium")
    with tempfile.TemporaryDirectory() as folder, _open_browser(chromium) as browser:
        write_pack(Path(folder), blocks)
        with serve(Path(folder)) as address:
            page = open_page(browser, address)
            moved = [slide(page, blocks, turn) for turn in range(rounds + 1)][1:]
            saved = [save(page, Path(folder), blocks, turn) for turn in range(rounds + 1)][1:]
    show("slider to prompt on the screen", Sample(tuple(moved)), ".0f ms", at_most=_SLIDER_MS)
    show("saved file to prompt on the screen", Sample(tuple(saved)), ".0f ms", at_most=_SAVED_MS)


def write_pack(folder: Path, blocks: int) -> None:
    """Write a pack with one long list, and its state."""
    notes = [f"Note {at}: the harbour master tells at length of the rain, the boats and {at * 7919 % 1000} gulls." for at in range(blocks)]
    (folder / "state.schema.json").write_text(json.dumps(_SCHEMA), encoding="utf-8")
    (folder / "state.json").write_text(json.dumps({"notes": notes}), encoding="utf-8")
    (folder / "pack.yaml").write_text(_MANIFEST % (8 * blocks), encoding="utf-8")


@contextmanager
def serve(folder: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """Run a server in a separate process while the context lasts; its address is the context's value."""
    command = [sys.executable, "-c", "from promptc.cli.main import main; main()", "serve", str(folder), str(folder / "state.json")]
    ours = {**os.environ, **(environment or {}), "XDG_CACHE_HOME": str(folder / "cache")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ours) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().strip()
        finally:
            running.terminate()


@contextmanager
def _open_browser(path: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_FLAGS])
        yield browser
        browser.close()


def open_page(browser: Any, address: str) -> Any:
    """Return the page when all its first requests are shown and files are watched."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.wait_for_timeout(1500)
    return page


def slide(page: Any, blocks: int, turn: int) -> float:
    """Return the seconds from a moving slider to the painted prompt. Each turn moves the slider to a new place."""
    value = 8 * blocks + 100 * (turn + 1)
    taken: float = page.evaluate(_SLIDE, [str(value), f"/ {value:,}"])
    return taken


def save(page: Any, folder: Path, blocks: int, turn: int) -> float:
    """Return the seconds from a saved file to the painted prompt."""
    text = f"Be kind, {turn} times."
    page.evaluate(_WAIT, text)
    begun = time.time()
    (folder / "pack.yaml").write_text((_MANIFEST % (8 * blocks)).replace("Be kind.", text), encoding="utf-8")
    shown: float = page.evaluate("window.saved")
    page.wait_for_timeout(600)
    return shown - begun
