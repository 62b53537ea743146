"""`fixtures/mcp`: the tools of a dozen servers that speak MCP, as a script makes them."""

import json
import subprocess
import sys

from jsonschema import Draft202012Validator

from tests.cases.recount import count_text
from tests.contract.sources import ROOT

STATE = json.loads((ROOT / "fixtures" / "mcp" / "base" / "state.json").read_text(encoding="utf-8"))


def test_the_state_is_what_the_script_makes():
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_mcp_state.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_it_has_300_tools_of_many_sizes():
    tools = STATE["tools"]
    assert len({one["name"] for one in tools}) == len(tools) == 300
    assert {one["server"] for one in tools} == set(STATE["servers"]) and set(STATE["used"]) < {one["name"] for one in tools}
    for one in tools:
        Draft202012Validator.check_schema(one["inputSchema"])
    sizes = sorted(count_text("o200k_base", json.dumps(one["inputSchema"])) for one in tools)
    assert sizes[0] < 20 and sizes[150] > 40 and sizes[-1] > 180
    assert sum(one["last_used"] == 0 for one in tools) == 180
