"""Every diagnostic code is explained, is in order, and has a bad fixture whose printed message is a golden."""

import re
import subprocess
import sys
import tomllib
from itertools import pairwise

import pytest

from promptc.diag.findings import FAMILIES, find_code, load_codes
from promptc.version import DOCUMENTATION
from tests.contract.sources import PACKAGE, ROOT, load_modules
from tools.measure_prose import list_code_sentences

CODES = tuple(load_codes().values())
TABLE = PACKAGE / "diag" / "codes.toml"
IN_OUTPUT = ("PC0920",)
"""What `promptc test` tells in its output, with its cause, and reports to nobody."""

BAD = (ROOT / "fixtures" / "bad", ROOT / "tests" / "fixtures" / "bad")
EXAMPLE = "PC0123"  # stands for any code in the texts about codes
NAME = re.compile(r"PC(?!00)\d{4}")


def test_names_are_unique_and_in_order():
    names = [code.name for code in CODES]
    late = [name for before, name in pairwise(names) if name <= before]
    assert not late, f"codes.toml: move these codes up, to the order of their numbers: {late}"
    odd = [name for name in names if not NAME.fullmatch(name)]
    assert not odd, f"codes.toml: a name is PC and four digits, from PC0100 on: {odd}"


def test_a_code_stands_in_its_family():
    """A comment `# PC0160 to PC0179. What they are about` begins each family of the table; the families do not overlap."""
    first = last = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"# (PC\d{4}) to (PC\d{4})\. .+", line):
            assert last < heading[1] <= heading[2], line
            first, last = heading.groups()
        elif table := re.fullmatch(r"\[(\w+)\]", line):
            advice = f"{line} stands in the family {first} to {last}: move it to its own, or begin one with `# PC1000 to PC1099. Subject`"
            assert first <= table[1] <= last, advice


def test_a_code_is_explained():
    wrong = [(code.name, what) for code in CODES for what, is_so in _judge(code).items() if not is_so]
    assert not wrong, f"codes.toml: make each of these true: {wrong}"


def _judge(code):
    return {
        "is found by its name": find_code(code.name) is code,
        "has a level": code.level in {"error", "warn", "note"},
        "its summary is one line without a full stop": code.summary and not code.summary.endswith(".") and "\n" not in code.summary,
        "says why, shows what is bad, says what mends it": code.why.strip() and code.fix.strip() and code.bad.strip(),
    }


def test_no_sentence_about_a_code_is_long():
    sentences = list_code_sentences(TABLE.read_text(encoding="utf-8"))
    long = [one for one in sentences if len(one.split()) > 35]
    assert not long, f"codes.toml: split each sentence of more than 35 words: {long}"


def test_a_code_belongs_to_a_family_of_the_documents():
    used = {code.name[:4] for code in CODES}
    assert used == set(FAMILIES), f"`FAMILIES` of compiler/promptc/diag/findings.py: add or take out {sorted(used ^ set(FAMILIES))}"


def test_the_address_of_a_code_is_in_the_documentation_that_the_wheel_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Documentation"] == DOCUMENTATION
    for code in CODES:
        page, _, anchor = code.url.removeprefix(f"{DOCUMENTATION}/").partition("#")
        document = ROOT / "docs" / page.replace(".html", ".md")
        is_there = f"\n### {anchor.upper()}\n" in document.read_text(encoding="utf-8")
        assert is_there, f"{code.name} has no entry in {document.name}: run `make codes`"


@pytest.mark.dear
def test_used_and_declared_codes_are_the_same():
    declared = {code.name for code in CODES}
    used = {name for module in load_modules() for name in NAME.findall(module.text)}
    assert not declared - used, f"no module reports these codes: take them out of codes.toml, with their fixtures: {declared - used}"
    assert not used - declared - {EXAMPLE}, f"add these codes to codes.toml: {used - declared - {EXAMPLE}}"


def test_a_code_has_a_bad_fixture():
    without = [code.name for code in CODES if not any(_tells(folder / code.name, code.name) for folder in BAD)]
    advice = [
        f"{code}: write fixtures/bad/{code}/case.yaml, then run `.venv/bin/python tools/accept_goldens.py 'bad/{code}'`; its "
        f"golden.diagnostics.txt must name {code}"
        for code in without
    ]
    assert not advice, "\n" + "\n".join(advice)


def _tells(folder, name):
    golden = folder / ("golden.txt" if name in IN_OUTPUT else "golden.diagnostics.txt")
    return (folder / "case.yaml").is_file() and golden.is_file() and name in golden.read_text(encoding="utf-8")


def test_a_bad_fixture_has_a_code():
    known = {code.name for code in CODES}
    folders = sorted(path.name for bad in BAD for path in bad.iterdir() if path.is_dir())
    alien = [name for name in folders if NAME.match(name) and name[:6] not in known]
    assert not alien, f"rename or remove these folders of fixtures/bad, whose code codes.toml does not have: {alien}"


def test_the_document_of_codes_is_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_codes_doc.py", "--check"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "compiler")},
    )
    assert done.returncode == 0, done.stderr
