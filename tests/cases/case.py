"""Cases as data: every `fixtures/**/case.yaml`, read once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"

GOLDENS: Mapping[str, str] = {
    "text": "golden.txt",
    "messages": "golden.messages.json",
    "payload": "golden.payload.json",
    "report": "golden.report.json",
    "state": "golden.state.json",
    "archive": "golden.archive.jsonl",
    "diagnostics": "golden.diagnostics.txt",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One folder: what is rendered, what must hold, which goldens are compared. `pack` is a path from the root of the project, `apply`
    the operation that is run in place of a render.
    """

    name: str
    folder: Path
    pack: str
    state: Any
    golden: tuple[str, ...]
    flags: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    expect: Mapping[str, Any] = field(default_factory=dict)
    covers: tuple[str, ...] = ()
    is_check: bool = False
    run: tuple[str, ...] = ()
    apply: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exit(self) -> int:
        """The exit code that is expected."""
        return int(self.expect.get("exit", 0))

    def golden_path(self, kind: str) -> Path:
        """Where the golden of that kind lies."""
        return self.folder / GOLDENS[kind]


@cache
def load_cases() -> tuple[Case, ...]:
    """Every case under `fixtures/`, by folder."""
    return tuple(_load_case(path.parent) for path in sorted(FIXTURES.rglob("case.yaml")))


def state_path(case: Case) -> Path:
    """The state's file: its own, or its base."""
    return case.folder / str(case.state["base"] if isinstance(case.state, dict) else case.state)


def read_state(case: Case) -> bytes:
    """The bytes of the case's state: of its file, or of its base with `set` applied, and `with: {set}` on top of either."""
    given = case.state
    changes: dict[str, Any] = dict(given.get("set", {})) if isinstance(given, dict) else {}
    raw = state_path(case).read_bytes()
    changes.update(case.flags.get("set", {}))
    if not changes:
        return raw
    value = json.loads(raw)
    for pointer, new in changes.items():
        value = _with_value(value, pointer, new)
    return json.dumps(value, ensure_ascii=False).encode()


def _load_case(folder: Path) -> Case:
    read = yaml.safe_load((folder / "case.yaml").read_text(encoding="utf-8"))
    own = (folder / "pack.yaml").is_file()
    pack = folder.relative_to(ROOT).as_posix() if own else f"packs/{folder.parent.name}"
    return Case(
        name=folder.relative_to(FIXTURES).as_posix(),
        folder=folder,
        pack=read.get("pack", pack),
        state=read.get("apply", read).get("state"),
        golden=tuple(read["golden"]),
        flags=read.get("with", {}),
        given=read.get("given", {}),
        expect=read.get("expect", {}),
        covers=tuple(read.get("covers", ())),
        is_check=read.get("check", False),
        run=tuple(read.get("run", ())),
        apply=read.get("apply", {}),
    )


def _with_value(value: Any, pointer: str, new: Any) -> Any:
    """`value` with `new` at the JSON pointer; `-` ends a list."""
    if not pointer:
        return new
    *way, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]
    inner = value
    for part in way:
        inner = inner[int(part)] if isinstance(inner, list) else inner.setdefault(part, {})
    if isinstance(inner, list) and last == "-":
        inner.append(new)
    elif isinstance(inner, list):
        inner[int(last)] = new
    else:
        inner[last] = new
    return value
