"""What the READMEs show is what happens: packs are run, Python is run, links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest

from tests.contract.sources import ROOT, list_tracked
from tools.measure_prose import list_sentences

README = ROOT / "README.md"
_FILE = re.compile(r"`([\w.]+)`:[^\n]*\n\n```(?:yaml|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_RUN = re.compile(r"^```console\n\$ promptc ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = "import sys; from promptc.cli.main import main; sys.argv[0] = 'promptc'; sys.exit(main())"
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@pytest.fixture
def folder(tmp_path):
    """A folder with the files the README shows."""
    for name, text in _FILE.findall(README.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _run_python(folder, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_output_shown_is_the_output(folder, accepting):
    text = README.read_text(encoding="utf-8")
    assert len(_RUN.findall(text)) == 2
    made = _RUN.sub(lambda shown: f"```console\n$ promptc {shown[1]}\n{_run_promptc(folder, shown[1])}```", text)
    if accepting:
        README.write_text(made, encoding="utf-8", newline="\n")
    assert made == README.read_text(encoding="utf-8"), "run `make accept` and read the difference"


def test_the_picture_shown_is_the_picture(tmp_path, accepting):
    """Of the command that the line below it names; it needs nothing but itself."""
    (picture,) = re.findall(r"\]\((docs/\S+\.svg)\)", README.read_text(encoding="utf-8"))
    (shown,) = re.findall(r"`promptc (explain [^`]* --svg)`", README.read_text(encoding="utf-8"))
    made = _run_python(ROOT, "-c", _COMMAND, *shown.split(), "--quiet")
    if accepting:
        (ROOT / picture).write_text(made, encoding="utf-8", newline="\n")
    assert made == (ROOT / picture).read_text(encoding="utf-8"), "run `make accept` and look at the picture"
    assert not re.search(r"https?:(?!//www\.w3\.org/2000/svg)|url\(|@import|href|<script|<image", made)


def test_the_name_of_the_package_is_the_one_to_install():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for page in (README, ROOT / "docs" / "index.md"):
        text = page.read_text(encoding="utf-8")
        for line in ("pip install {}", "pipx install {}", "uvx --from {} promptc"):
            assert line.format(project["name"]) in text, f"{page.name}: {line}"
        assert "`promptc` on the package index is another project" in text
        named = set(re.findall(r"`(?:promptc-compiler)?\[(\w+)\]`", text))
        assert named <= set(project["optional-dependencies"])
    assert list(project["scripts"]) == ["promptc"]


def test_the_first_screen_is_short():
    """What it is, before the first heading; no sentence of the page is long."""
    text = README.read_text(encoding="utf-8")
    first = re.sub(r"!\[.*?\]\(.*?\)", "", text.partition("\n## ")[0])
    assert len(first.split()) < 100
    assert not [sentence for sentence in list_sentences(text) if len(sentence.split()) > 35]


@pytest.mark.dear
@pytest.mark.parametrize("name", ["helpdesk", "reviewer"])
def test_a_pack_shows_what_its_commands_print(name, accepting):
    document = ROOT / "packs" / name / "README.md"
    text = document.read_text(encoding="utf-8")
    assert _RUN.search(text)
    made = _RUN.sub(lambda shown: f"```console\n$ promptc {shown[1]}\n{_run_promptc(ROOT, shown[1])}```", text)
    if accepting:
        document.write_text(made, encoding="utf-8", newline="\n")
    assert made == document.read_text(encoding="utf-8"), "run `make accept` and read the difference"


def test_the_python_shown_runs(folder):
    shown = re.search(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert "You keep the Lantern Inn." in _run_python(folder, "-c", shown[1])


def test_the_pack_shown_has_ten_lines(folder):
    assert len((folder / "tavern.yaml").read_text(encoding="utf-8").splitlines()) == 10


@pytest.mark.parametrize("name", [name for name in list_tracked() if name.endswith(".md")])
def test_links_lead_somewhere(name):
    path = ROOT / name
    broken = [link for link in _LINK.findall(path.read_text(encoding="utf-8")) if not (path.parent / link).exists()]
    assert not broken


def _run_promptc(folder, arguments: str) -> str:
    lines = _run_python(folder, "-c", _COMMAND, *shlex.split(arguments)).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)
