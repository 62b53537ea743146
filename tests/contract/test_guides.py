"""What the tutorial and the guides show is what happens: from an empty folder, their files are written, their edits made and their commands
run, in order, by a shell.

A block with a `title` is a file, or as `diff` an edit of one. A block of `console` holds commands, each with what it prints.
"""

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.contract.sources import ROOT
from tools.make_pictures import BLOCK, DRAWN, make_picture
from tools.make_pictures import PAGES as EXPLAINED
from tools.measure_prose import list_sentences

PAGES = tuple(
    path.relative_to(ROOT).as_posix()
    for pattern in ("index.md", "tutorial.md", "language.md", "guides/*.md", "reference/*.md", "reference/keys/*.md", "explanation/*.md")
    for path in sorted((ROOT / "docs").glob(pattern))
)
"""What is written for authors."""
SHOWN = frozenset(
    [f"reference/{name}" for name in "check codes commands mistakes payloads templates".split()]
    + [f"explanation/{name}" for name in "benchmarks systems trust".split()]
)
"""Pages whose blocks are examples, held by tests of their own or by none."""
WRITTEN = tuple(name for name in PAGES if name.removeprefix("docs/").removesuffix(".md") not in SHOWN)
GUIDES = tuple(name for name in WRITTEN if "\n```" in (ROOT / name).read_text(encoding="utf-8"))
NEEDED = {"docs/guides/service.md": ("fastapi", "uvicorn")}
"""Guides with packages that only the benchmarks have besides."""
_RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_START = "import sys; from promptc.cli.main import main; sys.argv[0] = 'promptc'; sys.exit(main())"


class Shell:
    """Runs one line after the other, each in the folder where the one before it ended; each must succeed."""

    def __init__(self, folder: Path) -> None:
        self.where = folder / "work"
        self._home, commands = folder / "home", folder / "bin"
        for made in (self.where, self._home, commands):
            made.mkdir()
        for name, arguments in {"promptc": f'-c "{_START}"', "python": ""}.items():
            (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
            (commands / name).chmod(0o755)
        # tiktoken would download its ranks: here they are, under the name by which it keeps them.
        ranks = hashlib.sha1(_RANKS.encode()).hexdigest()
        (self._home / ranks).symlink_to(ROOT / "tools" / "ranks" / "o200k_base.tiktoken")
        self._environment = {
            **{name: os.environ[name] for name in ("PROMPTC_CACHE", "XDG_STATE_HOME")},
            **{f"GIT_{role}_{key}": f"ada@{key}.example" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": str(self._home),
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "compiler"),
            "PYTEST_ADDOPTS": "-p no:asyncio -p no:pytest-lsp",  # plugins of our own tests, of which a reader's pytest knows nothing
            "TIKTOKEN_CACHE_DIR": str(self._home),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
        }

    def run(self, line: str) -> str:
        script = f'{line}\ncode=$?\npwd > "$HOME/where"\nexit $code\n'
        made = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8"}
        done = subprocess.run(["bash", "-c", script], cwd=self.where, env=self._environment, **made)
        assert done.returncode == 0, f"$ {line}\n{done.stdout}"
        self.where = Path((self._home / "where").read_text(encoding="utf-8").strip())
        return "".join(f"{one.rstrip()}\n" for one in done.stdout.splitlines())

    def stop(self) -> None:
        """Ends what a line started in the background and a later one did not end."""
        for kept in self.where.glob("*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(kept.read_text(encoding="utf-8")), signal.SIGKILL)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", GUIDES)
def test_what_is_shown_is_what_happens(name, tmp_path, accepting):
    for package in NEEDED.get(name, ()):
        pytest.importorskip(package, reason=f"{name} needs {package}: `make .venv/bench.stamp` installs it")
    shell = Shell(tmp_path)
    document = ROOT / name
    text = document.read_text(encoding="utf-8")
    try:
        made = BLOCK.sub(lambda block: _do(block, shell), text)
    finally:
        shell.stop()
    if accepting:
        document.write_text(made, encoding="utf-8", newline="\n")
    assert made == document.read_text(encoding="utf-8"), "run `make accept` and read the difference"


@pytest.mark.parametrize("name", GUIDES)
def test_every_block_is_done(name):
    """A block that is neither a file, nor an edit, nor commands would be shown and never tried."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count("\n```") == 2 * len(BLOCK.findall(text))
    assert not [block for block in BLOCK.findall(text) if (block[0] == "console") == bool(block[1])]


@pytest.mark.parametrize("name", [*PAGES, "docs/contract.md"])
def test_no_sentence_is_long(name):
    sentences = list_sentences((ROOT / name).read_text(encoding="utf-8"))
    assert sentences and not [sentence for sentence in sentences if len(sentence.split()) > 35]


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_shows_what_its_page_renders(name):
    assert (EXPLAINED / f"{name}.svg").read_text(encoding="utf-8") == make_picture(name), "run `make pictures`"


def test_every_picture_is_drawn_and_shown():
    text = "\n".join(page.read_text(encoding="utf-8") for page in EXPLAINED.glob("*.md"))
    shown = re.findall(r"!\[[^\]]{40,}\]\((\w+)\.svg\)", text)
    assert sorted(shown) == sorted(DRAWN) == sorted(path.stem for path in EXPLAINED.glob("*.svg"))


@pytest.mark.parametrize("name", ["docs/tutorial.md", "docs/guides/goldens.md"])
def test_the_workflow_shown_uses_the_action_as_it_is(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    (workflow,) = [yaml.safe_load(content) for _, title, content in BLOCK.findall(text) if title.startswith(".github/workflows/")]
    (used,) = [step for job in workflow["jobs"].values() for step in job["steps"] if step["uses"].startswith("OWNER/promptc@")]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(used["with"]) <= set(action["inputs"])


def _do(block: re.Match[str], shell: Shell) -> str:
    """Does what a block says; gives the block as it should be."""
    language, title, content = block.groups()
    if language == "console":
        lines = [line for line in content.splitlines() if line.startswith("$ ")]
        assert lines and content.startswith("$ "), content
        return "```console\n" + "".join(f"{line}\n{shell.run(line[2:])}" for line in lines) + "```"
    path = shell.where / title
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_edit(path.read_text(encoding="utf-8"), content) if language == "diff" else content, encoding="utf-8")
    return block[0]


def _edit(text: str, difference: str) -> str:
    """A text with one edit made: the lines that are kept or removed must stand in it, once."""
    lines = [(line[:1] or " ", line[1:]) for line in difference.splitlines()]
    before = "".join(f"{line}\n" for sign, line in lines if sign in " -")
    after = "".join(f"{line}\n" for sign, line in lines if sign in " +")
    assert text.count(before) == 1, f"{text.count(before)} times in the file:\n{before}"
    return text.replace(before, after)
