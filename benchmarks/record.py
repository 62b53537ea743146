"""The record of a run of the benchmarks as JSON: `docs/performance.json`, from which `docs/performance.md` is made."""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.measure import Block, Line

PATH = Path(__file__).resolve().parents[1] / "docs" / "performance.json"
_PACKAGES = """
    promptc-compiler click fastapi fastjsonschema Jinja2 jsonschema jsonschema-rs langchain-core pytest PyYAML SQLAlchemy tiktoken uvicorn
""".split()
"""promptc and the packages it is measured against."""


@dataclass(frozen=True, slots=True)
class Part:
    """The measurements of a part: its date, its duration in seconds, and how many processes wanted a processor before it began."""

    date: str
    seconds: int
    load: str
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Record:
    """The parts, by name, that were measured on one machine with one set of versions."""

    machine: Mapping[str, str]
    versions: Mapping[str, str]
    parts: Mapping[str, Part] = field(default_factory=dict)

    def add(self, parts: Mapping[str, Part]) -> "Record":
        """Return the record with these parts added or replaced."""
        return Record(self.machine, self.versions, {**self.parts, **parts})


def describe_here() -> Record:
    """Return a record of this machine without parts."""
    machine = {
        "processor": _read_processor(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    return Record(machine, dict(sorted(((name, _find_version(name)) for name in _PACKAGES), key=lambda pair: pair[0].lower())))


def _read_processor() -> str:
    """Return the processor model as Linux names it; elsewhere the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def read_record(path: Path = PATH) -> Record:
    """Read a record from its file."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    return Record(raw["machine"], raw["versions"], {name: _read_part(part) for name, part in raw["parts"].items()})


def _read_part(raw: Mapping[str, Any]) -> Part:
    blocks = [Block(block["title"], [Line(**line) for line in block["lines"]]) for block in raw["blocks"]]
    return Part(raw["date"], raw["seconds"], raw["load"], blocks)


def write_record(record: Record, path: Path = PATH) -> None:
    """Write a record to a file. Of a line, only values that differ from the defaults are written."""
    raw = {"machine": record.machine, "versions": record.versions, "parts": {name: _shape(part) for name, part in record.parts.items()}}
    path.write_text(json.dumps(raw, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")


def _shape(part: Part) -> dict[str, Any]:
    blocks = [{"title": block.title, "lines": [_shape_line(line) for line in block.lines]} for block in part.blocks]
    return {"date": part.date, "seconds": part.seconds, "load": part.load, "blocks": blocks}


def _shape_line(line: Line) -> dict[str, Any]:
    usual = {one.name: one.default for one in fields(Line)}
    return {name: value for name, value in asdict(line).items() if value != usual[name]}
