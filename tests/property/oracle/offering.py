"""What a pack offers beside messages, counted by the libraries themselves."""

import json
from collections.abc import Mapping
from typing import Any

from tests.property.oracle.counting import count


def list_offered(manifest: Mapping[str, Any], files: Mapping[str, str]) -> list[Any]:
    """The tools and the response schema of a manifest, as they are in their files."""
    names = [*(manifest.get("tools") or ()), *([manifest["response"]] if manifest.get("response") else [])]
    return [json.loads(files[name]) for name in names]


def count_offered(counter: str, offered: list[Any]) -> int:
    """Tokens of the JSON of each: keys sorted, no spaces."""
    return sum(count(counter, json.dumps(one, ensure_ascii=False, sort_keys=True, separators=(",", ":"))) for one in offered)
