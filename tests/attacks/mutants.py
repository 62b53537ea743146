"""Mutated inputs: every kind of file that a stranger may write, bent in small ways, and the command that reads it.

A scene is a part of this repository that works, the files of it that are mutated, and the commands that read them. The mutant of a scene,
a seed and a number is always the same one, so that a finding can be made again from these three.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3.0, 1.5, -0.0, 1e22, 2**53 + 1, 2**70, 10**30, -99999,
    "", " ", "\u0085", "\u001c", "\ufeff", "x", "x" * 5000, "é\u0301", "\U0001f600" * 50, "\x00", "\x1b[31m", "2026-02-31", "12:00",
    "{{ state }}", "{% for x in", "state.a[1:2,3]", "range(9999999)", "<|im_start|>", "</s>", "../../etc/passwd", "/dev/zero", "~", "NaN",
    [], [None], [[[[[]]]]], [-1], ["a", "a"], {}, {"a": 1}, {"type": "text"}, {"": {"": ""}}, [{"id": 1}, {"id": 1}],
)  # fmt: skip
SNIPPETS: tuple[bytes, ...] = (
    *b"{{ }} {% %} {# [1:2,3] [:, 1] |map('x') | () (**{}) (*[]) .x.y ~ % ** // not: &a *a ? : - --- ... ,".split(b" "),
    *b"!!python/object:os.system !x \\ \\ud800 \\u0000 1e999 -0 NaN Infinity 0x10 017 \" ' { } [ ]".split(b" "),
    *b"<|im_start|> </s> [INST] ../ /dev/zero self loop state item super() caller() __class__ selectattr round".split(b" "),
    *(b" if ", b" else ", b" not ", b" set x = 1", b"<<: *a\n", b"\n%YAML 1.1\n", b"\t", b"\r", b"\r\n", b"\x00", b"\xed\xa0\x80", b"\xff"),
    *(text.encode() for text in ("\ufeff", "\u0085", "\u2028", "\u001c", "\U0001f600", "1" * 400, "\x1b]0;x\x07")),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """Folders and files of this repository that are laid out (`lay`), the files that are mutated (`files`, globs), the commands that read
    them, in turn (`commands`), and what is run once before (`prepare`). `{mutant}` in a command is the mutated file, `{folder}` its folder.
    Of a number of mutants a scene gets a share by its `weight`: what takes a tenth of the time is tried more often.
    """

    kind: str
    lay: tuple[str, ...]
    files: tuple[str, ...]
    commands: tuple[str, ...]
    prepare: tuple[str, ...] = ()
    weight: int = 7


_SENTINEL = ("packs/sentinel", "fixtures/sentinel/base", "fixtures/sentinel/calm", "fixtures/sentinel/answers")
_TIDEPOOL = ("packs/tidepool", "fixtures/tidepool/base", "fixtures/tidepool/answers")
_COMPANION = ("packs/companion", "fixtures/companion/base", "fixtures/companion/answers", "fixtures/companion/judge")
_TALE = ("fixtures/tale/base",)
_IMPORT = "segments import fixtures/tale/base/segments.yaml --pack fixtures/tale/base"

SCENES: dict[str, Scene] = {
    "manifest": Scene(
        "manifest",
        ("starters/chat",),
        ("starters/chat/pack.yaml",),
        (
            "render starters/chat starters/chat/state.json",
            "check starters/chat",
            "explain starters/chat starters/chat/state.json --why recent",
        ),
    ),
    "manifest with tools": Scene(
        "manifest",
        ("fixtures/gatehouse/base",),
        ("fixtures/gatehouse/base/pack.yaml", "fixtures/gatehouse/base/tools/*.json", "fixtures/gatehouse/base/schemas/*.json"),
        (
            "render fixtures/gatehouse/base fixtures/gatehouse/base/state.json",
            "render fixtures/gatehouse/base fixtures/gatehouse/base/state.json --format anthropic",
            "map fixtures/gatehouse/base",
        ),
    ),
    "manifest with sources": Scene(
        "manifest",
        _TALE,
        ("fixtures/tale/base/pack.yaml", "fixtures/tale/base/synonyms.yaml", "fixtures/tale/base/state.json"),
        ("render fixtures/tale/base fixtures/tale/base/state.json", "check fixtures/tale/base"),
        (_IMPORT, "index build fixtures/tale/base"),
    ),
    "manifest of a system": Scene(
        "manifest",
        _SENTINEL,
        ("packs/sentinel/pack.yaml",),
        ("render packs/sentinel fixtures/sentinel/calm/state.json", "check packs/sentinel"),
        weight=1,
    ),
    "template": Scene(
        "template",
        ("starters/chat",),
        ("starters/chat/templates/rules.md.j2",),
        ("render starters/chat starters/chat/state.json", "check starters/chat"),
    ),
    "template of an item": Scene(
        "template",
        _COMPANION,
        ("packs/companion/templates/**/*.j2",),
        ("render packs/companion fixtures/companion/base/crowded.json", "check packs/companion"),
        weight=1,
    ),
    "template of a mood": Scene(
        "template",
        _TIDEPOOL,
        ("packs/tidepool/templates/**/*.j2",),
        ("render packs/tidepool fixtures/tidepool/base/table.json", "render packs/tidepool fixtures/tidepool/base/long.json"),
        weight=1,
    ),
    "state": Scene(
        "state",
        ("starters/chat",),
        ("starters/chat/state.json",),
        ("render starters/chat {mutant}", "explain starters/chat {mutant} --why recent"),
    ),
    "state of a game": Scene(
        "state",
        _SENTINEL,
        ("fixtures/sentinel/calm/state.json",),
        (
            "render packs/sentinel {mutant}",
            "render packs/sentinel {mutant} --format anthropic",
            "diff --pack packs/sentinel {mutant} {mutant}",
        ),
    ),
    "state with messages": Scene(
        "state",
        _TIDEPOOL,
        ("fixtures/tidepool/base/*.json",),
        (
            "render packs/tidepool {mutant}",
            "render packs/tidepool {mutant} --format anthropic",
            "render packs/tidepool {mutant} --format gemini",
        ),
    ),
    "state with tool calls": Scene(
        "state",
        ("fixtures/gatehouse/base",),
        ("fixtures/gatehouse/base/state.json",),
        tuple(
            f"render fixtures/gatehouse/base {{mutant}} --format {form}" for form in ("openai", "openai-responses", "ollama", "messages")
        ),
    ),
    "schema": Scene(
        "schema",
        ("starters/chat",),
        ("starters/chat/state.schema.json",),
        ("render starters/chat starters/chat/state.json", "check starters/chat"),
    ),
    "schema of a system": Scene(
        "schema",
        _COMPANION,
        ("packs/companion/state.schema.json",),
        ("render packs/companion fixtures/companion/base/crowded.json", "check packs/companion"),
        weight=1,
    ),
    "case": Scene(
        "case",
        (*_SENTINEL, "fixtures/sentinel/strain_1", "fixtures/sentinel/checkpoint", "fixtures/sentinel/session", "fixtures/bad/PC0826"),
        ("fixtures/*/*/case.yaml",),
        ("test --no-cache -j 1 {folder}", "test --no-cache -j 1 --ci {folder}", "check {folder}"),
    ),
    "golden": Scene(
        "golden",
        (*_SENTINEL, "fixtures/sentinel/strain_1", "fixtures/sentinel/checkpoint", "starters/chat"),
        ("fixtures/sentinel/*/golden.*", "starters/chat/cases/first/golden.txt"),
        (
            "test --no-cache -j 1 {folder}",
            "diff {mutant} {mutant}",
            "test --no-cache -j 1 {folder} --format json",
            "pending --dir {folder}",
        ),
        weight=1,
    ),
    "answer": Scene(
        "answer",
        _SENTINEL,
        ("fixtures/sentinel/answers/digest*",),
        ("apply packs/sentinel checkpoint fixtures/sentinel/calm/state.json --answer digest={mutant} --dry-run",),
        weight=1,
    ),
    "answer of a judge": Scene(
        "answer",
        _COMPANION,
        ("fixtures/companion/answers/*.json",),
        ("apply packs/companion learn fixtures/companion/judge/state.json --answer found={mutant} --dry-run",),
        weight=1,
    ),
    "archive": Scene(
        "archive",
        _SENTINEL,
        ("new.json*", "new.json.archive/*"),
        ("apply packs/sentinel --restore new.json --dry-run", "apply packs/sentinel clear new.json --dry-run"),
        (
            "apply packs/sentinel checkpoint fixtures/sentinel/calm/state.json -o new.json --no-model",
            "apply packs/sentinel --restore new.json",
            "apply packs/sentinel checkpoint new.json --no-model",
        ),
        weight=1,
    ),
    "segment": Scene(
        "segment",
        _TALE,
        ("fixtures/tale/base/segments.yaml",),
        (
            "segments import {mutant} --pack fixtures/tale/base",
            "segments import {mutant} --url sqlite:new.db",
            "segments import {mutant} --url sqlite:new.db --prune",
        ),
    ),
    "store": Scene(
        "segment",
        _TALE,
        ("fixtures/tale/base/**/*.db",),
        (
            "render fixtures/tale/base fixtures/tale/base/state.json",
            "segments list --pack fixtures/tale/base",
            "segments check --pack fixtures/tale/base",
        ),
        (_IMPORT, "index build fixtures/tale/base"),
    ),
    "chunk": Scene(
        "chunk",
        _TALE,
        ("fixtures/tale/base/lore/**/*.md",),
        ("index build fixtures/tale/base",),
        (_IMPORT, "index build fixtures/tale/base"),
    ),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """The bytes of one file, bent."""

    path: Path
    content: bytes


def draw_mutant(folder: Path, scene: Scene, rng: Random) -> Mutant:
    """Bends one file of the scene in one to four ways: half of the JSON files by their values, all others by their bytes."""
    paths = sorted(path for pattern in scene.files for path in folder.glob(pattern) if path.is_file())
    path = rng.choice(paths)
    content = path.read_bytes()
    if path.suffix == ".json" and rng.random() < 0.6:
        return Mutant(path, _bend_values(content, rng))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(_BENDS)(content, rng)
    return Mutant(path, content)


def _bend_values(content: bytes, rng: Random) -> bytes:
    document = json.loads(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        document = _bend_one(document, rng)
    return json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))).encode("utf-8", "surrogatepass")


def _bend_one(document: Any, rng: Random) -> Any:
    places = list(_list_places(document))
    if not places:
        return rng.choice(ODD_VALUES)
    holder, key = rng.choice(places)
    turn = rng.randrange(6)
    if turn == 0:
        del holder[key]
    elif turn == 1:
        other_holder, other_key = rng.choice(places)
        holder[key] = json.loads(json.dumps(other_holder[other_key]))
    elif turn == 2 and isinstance(holder, dict):
        holder[rng.choice(("", "x", "id", "type", key.upper(), key + " "))] = holder.pop(key)
    elif turn == 3 and isinstance(holder, list):
        holder.extend([json.loads(json.dumps(holder[key]))] * rng.choice((1, 2, 40)))
    else:
        holder[key] = json.loads(json.dumps(rng.choice(ODD_VALUES)))
    return document


def _list_places(value: Any) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in ((value, key), *_list_places(value[key]))]


def _draw_range(content: bytes, rng: Random, longest: int = 80) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.randrange(1, longest))


def _drop(content: bytes, rng: Random) -> bytes:
    start, end = _draw_range(content, rng)
    return content[:start] + content[end:]


def _repeat(content: bytes, rng: Random) -> bytes:
    start, end = _draw_range(content, rng)
    return content[:end] + content[start:end] * rng.choice((1, 2, 30)) + content[end:]


def _insert(content: bytes, rng: Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + rng.choice(SNIPPETS) + content[start:]


def _replace_word(content: bytes, rng: Random) -> bytes:
    """A word or sign becomes another of the same file, or an odd one."""
    found = list(re.finditer(rb"\w+|[^\w\s]+", content))
    if not found:
        return rng.choice(SNIPPETS)
    one, other = rng.choice(found), rng.choice(found)
    return content[: one.start()] + (other[0] if rng.random() < 0.6 else rng.choice(SNIPPETS)) + content[one.end() :]


def _replace_number(content: bytes, rng: Random) -> bytes:
    found = list(re.finditer(rb"\d+", content))
    if not found:
        return _insert(content, rng)
    one = rng.choice(found)
    number = rng.choice((b"0", b"-1", b"1", b"3.0", b"1e22", b"99999999999999999999", b"true", b"null", b"''"))
    return content[: one.start()] + number + content[one.end() :]


def _swap_lines(content: bytes, rng: Random) -> bytes:
    lines = content.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _flip_byte(content: bytes, rng: Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + bytes([rng.randrange(256)]) + content[start + 1 :]


def _end_early(content: bytes, rng: Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


_BENDS: tuple[Callable[[bytes, Random], bytes], ...] = (
    _drop, _repeat, _insert, _insert, _replace_word, _replace_word, _replace_word, _replace_number, _swap_lines, _flip_byte, _end_early,
)  # fmt: skip
