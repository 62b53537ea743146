"""What is written down about each diagnostic code: `find_code` for one, `load_codes` for all. The texts stand in `codes.toml`.

The file is read when the first code is asked for: by `promptc rule`, SARIF and docs/codes.md. A finding itself needs none of it.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from promptc.diag.findings import Level
from promptc.diag.frozen import frozen


@frozen
class Code:
    """A code's name, its usual level, a one-line summary, why it is a finding, a bad example, and how to mend it."""

    name: str
    level: Level
    summary: str
    why: str
    bad: str
    fix: str


def find_code(name: str) -> Code | None:
    """The entry of `PC0123`, or None."""
    return load_codes().get(name)


@cache
def load_codes() -> Mapping[str, Code]:
    """Every code by its name, in order of number."""
    import tomllib

    tables = tomllib.loads(Path(__file__).with_name("codes.toml").read_text(encoding="utf-8"))
    return {name: Code(name=name, **texts) for name, texts in tables.items()}
