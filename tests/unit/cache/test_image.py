"""Modules from the cache are those of the files; what is damaged, or edited since, is read from the files."""

import os
import shutil
import subprocess
import sys

import pytest

from promptc.cache import Cache
from promptc.cli.main import Image
from tests.contract.sources import ROOT

SHOW = """\
import sys
from promptc.cli import main
code = main._render(["render", "starters/chat", "starters/chat/state.json"])
from promptc.passes import bind
from promptc.cli.main import Image
print(code, isinstance(bind.__spec__.loader, Image), bind.__file__, bind.__name__, bind.__package__, file=sys.stderr)
"""


@pytest.fixture
def start(tmp_path):
    """A render in a process of its own, of a copy of promptc: its output, and where one of its modules came from."""
    shutil.copytree(ROOT / "compiler", tmp_path / "compiler", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")

    def call(code=SHOW, states="state"):
        environment = {"PYTHONPATH": str(tmp_path / "compiler"), "PROMPTC_CACHE": str(tmp_path / "cache")}
        environment["XDG_STATE_HOME"] = str(tmp_path / states)
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
        return done.stdout, done.stderr.decode().split()

    return call


def _find_image(folder):
    return max((folder / "cache").iterdir(), key=lambda path: path.stat().st_size)


def test_the_third_render_has_its_modules_from_the_cache(start, tmp_path):
    outputs, told = zip(*(start() for _ in range(3)), strict=True)
    file = str(tmp_path / "compiler/promptc/passes/bind.py")
    assert [one[1] for one in told] == ["False", "False", "True"]
    assert all(
        one == ["0", from_image, file, "promptc.passes.bind", "promptc.passes"]
        for one, from_image in zip(told, ("False", "False", "True"), strict=True)
    )
    assert outputs[0] == outputs[1] == outputs[2] != b""


@pytest.mark.dear
def test_modules_that_another_users_promptc_kept_are_not_run(start):
    """Such as those of a cache that a build service restores: all is as it should be, but for the key."""
    assert [start()[1][1] for _ in range(3)] == ["False", "False", "True"]
    assert [start(states="other")[1][1] for _ in range(3)] == ["False", "False", "True"]
    assert start()[1][1] == "False", "nor the other way round"


@pytest.mark.dear
def test_an_edit_and_damage_are_seen(start, tmp_path):
    for _ in range(2):
        start()
    assert start()[1][1] == "True"
    image = _find_image(tmp_path)
    whole = image.read_bytes()
    image.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert [start()[1][1] for _ in range(2)] == ["False", "True"]
    source = tmp_path / "compiler/promptc/passes/bind.py"
    source.write_text(source.read_text(encoding="utf-8") + "\nEDITED = 1\n", encoding="utf-8")
    edited = SHOW + "print(bind.EDITED, file=sys.stderr)\n"
    assert [start(edited)[1][-1] for _ in range(3)] == ["1", "1", "1"]


def test_a_fault_shows_its_line(start):
    """Code from the cache knows its file and lines."""
    for _ in range(2):
        start()
    told = start(
        SHOW + "import traceback\ntry:\n bind.bind()\nexcept TypeError: pass\nprint(bind.bind.__code__.co_filename, file=sys.stderr)\n"
    )[1]
    assert told[-1] == told[2]


def test_only_promptcs_modules_are_kept(tmp_path, monkeypatch):
    image = Image(Cache(str(tmp_path / "cache")))
    assert image.find_spec("json") is None and image.find_spec("promptc.api") is None
    image.keep()
    again = Image(Cache(str(tmp_path / "cache")))
    assert all(name.startswith("promptc.") for name in again._codes)


def test_an_image_that_lacks_nothing_is_not_written(tmp_path):
    image = Image(Cache(str(tmp_path / "cache")))
    image.find_spec("json")
    image.keep()
    assert not os.path.lexists(tmp_path / "cache")
