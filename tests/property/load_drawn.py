"""From plain data to a loaded pack, by way of the disk."""

import json
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import promptc
from tests.property.drawing.packs import MODELS_FILE, Drawn

_UNWRITTEN = re.compile("[\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_HELD = 120


def render_yaml(value: Any) -> str:
    """The value as JSON that is YAML too: what YAML will not have in quotes is escaped."""
    return _UNWRITTEN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))


def load_drawn(drawn: Drawn, folder: Path) -> promptc.Pack:
    """The pack, written to `folder` and loaded."""
    for name, text in drawn.files.items():
        file = folder / name
        if not file.exists() or file.read_bytes() != text.encode():
            file.write_bytes(text.encode())
    (folder / "pack.yaml").write_bytes(render_yaml(drawn.manifest).encode())
    return promptc.load(folder, models=folder / MODELS_FILE if MODELS_FILE in drawn.files else None)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A drawn pack, loaded, and its state."""

    drawn: Drawn
    pack: promptc.Pack
    state: promptc.State

    def compile(self, total: int, **choice: Any) -> Any:
        """The outcome of a render, also of one that does not fit."""
        return self.pack.compile(self.state, budget=total, **choice)


class Library:
    """Loads drawn packs and remembers the newest, as most properties look at the same ones."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: OrderedDict[tuple[str, str], Loaded] = OrderedDict()

    def draw(self, draw: Callable[[Random], Drawn], seed: str) -> Loaded:
        """What `draw` makes of a seed."""
        key = (draw.__name__, seed)
        if key not in self._held:
            self._held[key] = self.load(draw(Random(seed)))
            if len(self._held) > _HELD:
                self._held.popitem(last=False)
        return self._held[key]

    def load(self, drawn: Drawn) -> Loaded:
        """A drawn pack, loaded anew."""
        pack = load_drawn(drawn, self._folder)
        return Loaded(drawn, pack, pack.load_state(drawn.state))
