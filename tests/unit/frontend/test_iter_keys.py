"""What an author calls a section, a `let`, a case or a patch is never taken for a key of the language."""

import json
from pathlib import Path

import pytest

import promptc
from promptc.files.paths import name_shipped
from promptc.frontend import manifest as module

WORDS = ("tools", "response", "cache", "segments", "retrieve", "stores", "template", "forms")
PACK = """
promptc: 1
name: words
version: 1.0.0
tokenizer: chars/4
budget: 500
let: {{ {word}: state.input }}
sections:
  - {{id: {word}, text: "{{{{ {word} }}}}"}}
  - {{id: log, items: {{from: state.log, text: "{{{{ item }}}}", limit_per: {{by: item, caps: {{ {word}: 1 }}}}}}}}
patches: {{ {word}: {{sections: {{ {word}: {{header: head}}}}}}}}
variants: {{ {word}: {{select: "'{word}'", cases: {{ {word}: {{sections: {{log: null}}}}}}}}}}
"""


@pytest.mark.parametrize("word", WORDS)
def test_an_authors_names_are_free(word: str, tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(PACK.format(word=word))
    pack = promptc.load(tmp_path)
    assert pack.render({"input": "hello", "log": []}, patches=[word]).text == "head\nhello\n"


def test_every_mapping_by_names_in_the_schema_is_known() -> None:
    defs = json.loads(name_shipped("schemas", "pack.schema.json").read_bytes())["$defs"]
    by_name = {name for name, schema in defs.items() if "propertyNames" in schema or isinstance(schema.get("additionalProperties"), dict)}
    keys = {
        key
        for schema in defs.values()
        for key, value in schema.get("properties", {}).items()
        if "propertyNames" in value or value.get("$ref", "").removeprefix("#/$defs/") in by_name
    }
    assert keys <= module._BY_NAME
