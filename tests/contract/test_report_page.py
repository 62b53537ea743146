"""docs/reference/report.md has the keys of a report as its schema has them; `make accept` writes its tables."""

import json
import re

from tests.contract.sources import ROOT

PAGE = ROOT / "docs" / "reference" / "report.md"
SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
_TABLE = re.compile(r"<!-- keys of (\w+) -->\n.*?<!-- end of keys -->", re.DOTALL)


def test_the_tables_are_as_the_schema_says(accepting):
    text = PAGE.read_text(encoding="utf-8")
    assert _TABLE.findall(text) == ["report", "section", "item", "cut"]
    made = _TABLE.sub(_fill, text)
    if accepting:
        PAGE.write_text(made, encoding="utf-8", newline="\n")
    assert made == PAGE.read_text(encoding="utf-8"), "run `make accept`"


def _fill(found: re.Match[str]) -> str:
    group = SCHEMA if found[1] == "report" else SCHEMA["$defs"][found[1]]
    told = {key: value["description"].replace("|", r"\|") for key, value in group["properties"].items()}
    rows = [f"| `{key}` | {text} |" for key, text in told.items()]
    return "\n".join([found[0].split("\n", 1)[0], "", "| key | what it says |", "| --- | --- |", *rows, "", "<!-- end of keys -->"])
