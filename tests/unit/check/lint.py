"""Tiny packs, written to a folder and looked at by every lint."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import promptc
from promptc.check.registry import check_pack
from promptc.diag.findings import Diagnostic

_LEFT_OUT = ("PC0642", "PC0654", "PC0655", "PC0656")
"""That there is no schema, what nothing reads, and how much is pinned: tiny packs read little and bound nothing."""


def lint(
    folder: Path,
    body: str,
    *,
    budget: str = "1000",
    tokenizer: str = "chars/4",
    schema: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
) -> tuple[Diagnostic, ...]:
    """What `check` says of a pack with the keys of `body`; notes about its schema as a whole are left out."""
    head = f"promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: {tokenizer}\nbudget: {budget}\n"
    if schema is not None:
        (folder / "state.schema.json").write_text(json.dumps(schema), encoding="utf-8")
        head += "state: {schema: state.schema.json}\n"
    (folder / "pack.yaml").write_text(head + dedent(body).lstrip("\n"), encoding="utf-8")
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(found for found in check_pack(promptc.load(folder).model) if found.code not in _LEFT_OUT)


def codes(found: tuple[Diagnostic, ...]) -> list[str]:
    """Their codes, in order."""
    return [one.code for one in found]


def messages(found: tuple[Diagnostic, ...], code: str) -> list[str]:
    """The messages of one code."""
    return [one.message for one in found if one.code == code]


def excerpts(found: tuple[Diagnostic, ...], code: str) -> list[str]:
    """What stands at the places of one code: the rest of the line from the column on."""
    return [one.span.excerpt[one.span.column - 1 :] for one in found if one.code == code and one.span is not None]
