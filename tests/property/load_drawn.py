"""From plain data to a loaded pack, by way of the disk."""

import json
import re
from pathlib import Path
from typing import Any

import promptc
from tests.property.drawing.packs import Drawn

_UNWRITTEN = re.compile("[\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def render_yaml(value: Any) -> str:
    """The value as JSON that is YAML too: what YAML will not have in quotes is escaped."""
    return _UNWRITTEN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))


def load_drawn(drawn: Drawn, folder: Path) -> promptc.Pack:
    """The pack, written to `folder` and loaded."""
    for name, text in drawn.files.items():
        (folder / name).write_bytes(text.encode())
    (folder / "pack.yaml").write_bytes(render_yaml(drawn.manifest).encode())
    return promptc.load(folder)
