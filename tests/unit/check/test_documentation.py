"""docs/reference/check.md shows what happens."""

import json
import re

import pytest

from tests.contract.sources import ROOT
from tests.unit.check.types_schema import ask_text

_TEXT = (ROOT / "docs" / "reference" / "check.md").read_text(encoding="utf-8")
_SCHEMA = json.loads(re.search(r"```json\n(.*?)```", _TEXT, re.DOTALL)[1])
_EXAMPLES = [tuple(line.split("  →  ")) for block in re.findall(r"```jinja\n(.*?)```", _TEXT, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize(("text", "says"), _EXAMPLES)
def test_an_example(tmp_path, text, says):
    found = ask_text(tmp_path, text, schema=_SCHEMA)
    if says == "right":
        assert [str(one) for one in found] == []
    else:
        code, words = says.split(" ", 1)
        assert [one.code for one in found] == [code]
        assert words in f"{found[0].message} {found[0].help}"
