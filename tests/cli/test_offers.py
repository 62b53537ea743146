"""What the command line says of tools and response schemas."""

import json
import re

import pytest

from tests.cli.conftest import ROOT

TOOLS = ROOT / "fixtures" / "tools"
PACK, STATE = "base", "base/state.json"
METERS = {
    "fits": (["--budget", "250", "--quiet"], 0),
    "provider": (["--format", "openai"], 0),
    "unfit": (["--budget", "100", "--quiet"], 3),
    "none": (["--mood", "musing"], 0),
}


@pytest.fixture(autouse=True)
def there(monkeypatch):
    monkeypatch.chdir(TOOLS)


@pytest.mark.parametrize("name", METERS)
def test_the_meter_has_a_row_for_them(name, run, golden):
    arguments, code = METERS[name]
    done = run("explain", PACK, STATE, *arguments)
    assert done.code == code and max(map(len, done.out.splitlines())) <= 80
    golden(f"explain_offers_{name}.txt", done.out)


@pytest.mark.parametrize("budget", [40, 100, 190])
def test_the_rows_add_up_to_what_is_missing(budget, run):
    """The rows, what messages share among them, are the total: the budget and what is missing of it."""
    out = run("explain", PACK, STATE, "--budget", str(budget), "--quiet").out
    missing = int(re.search(r"(\d+) tokens? (?:is|are) missing", out)[1])
    rows = [int(found[1]) for found in re.finditer(r"^[a-z]+(?: [a-z]+)* {2,}([+-]?\d+)(?: |$)", out, re.MULTILINE)]
    assert rows[-1] == sum(rows[:-1]) == budget + missing


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "openai-compatible", "anthropic", "gemini", "ollama"])
def test_a_provider_is_a_format_of_every_command(provider, run):
    report = json.loads(run("explain", PACK, STATE, "--format", provider, "--budget", "2000", "--json").out)
    assert report["overhead"]["provider"] == provider and report["format"] == "messages"
    assert report["frame"]["tools"] > report["overhead"]["tools"] + report["overhead"]["response"]
    assert run("eval", PACK, STATE, "selected.log", "--section", "input", "--format", provider).code == 0


def test_no_format_is_near_a_wrong_one(run):
    done = run("render", PACK, STATE, "--format", "antropic")
    assert (done.code, done.out) == (2, "") and "anthropic" in done.err
