"""The packs of this repository, each loaded once in a process, by the first test that asks for it."""

from functools import cache
from pathlib import Path

import promptc

ROOT = Path(__file__).resolve().parents[1]


@cache
def load_pack(path: str) -> promptc.Pack:
    """The pack at a path of this repository, such as `packs/sentinel`. What is made of a pack never changes it, so tests share it."""
    return promptc.load(ROOT / path)
