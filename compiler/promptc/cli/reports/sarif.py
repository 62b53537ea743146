"""Findings as SARIF 2.1.0 (OASIS), which code scanning reads."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from urllib.parse import quote

from promptc.cli.findings import hide_secrets
from promptc.diag.codes import find_code
from promptc.diag.findings import Diagnostic, Level
from promptc.diag.typed import Any
from promptc.version import VERSION

_LEVELS: dict[Level, str] = {"error": "error", "warn": "warning", "note": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"


def render_sarif(found: Iterable[Diagnostic]) -> str:
    """One run with a result for each finding, in the given order, and a rule for each code that occurs. Files are relative to the folder
    that promptc was run in, columns are counted in code points.
    """
    results = [hide_secrets(one) for one in found]
    codes = sorted({one.code for one in results})
    run = {
        "tool": {"driver": {"name": "promptc", "version": VERSION, "rules": [_describe_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": [_describe_result(one, codes) for one in results],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2) + "\n"


def _describe_rule(name: str) -> dict[str, Any]:
    code = find_code(name)
    if code is None:
        return {"id": name}
    return {
        "id": name,
        "shortDescription": {"text": code.summary},
        "fullDescription": {"text": code.why},
        "help": {"text": code.fix},
        "defaultConfiguration": {"level": _LEVELS[code.level]},
    }


def _describe_result(one: Diagnostic, codes: Sequence[str]) -> dict[str, Any]:
    text = one.message + (f"\nhelp: {one.help}" if one.help else "")
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": codes.index(one.code),
        "level": _LEVELS[one.level],
        "message": {"text": text},
        "partialFingerprints": {"promptc/v1": _digest(one)},
    }
    if one.span is not None and one.span.file:
        place = {"artifactLocation": {"uri": quote(one.span.file.replace("\\", "/").encode("utf-8", "surrogatepass")), "uriBaseId": _ROOT}}
        region = {"startLine": max(one.span.line, 1), "startColumn": max(one.span.column, 1)}
        result["locations"] = [{"physicalLocation": {**place, "region": region}}]
    return result


def _digest(one: Diagnostic) -> str:
    """The same finding in the same file is the same alert, on whatever line it stands."""
    file = one.span.file if one.span is not None else ""
    excerpt = one.span.excerpt.strip() if one.span is not None else ""
    return sha256("\0".join((one.code, file, one.message, excerpt)).encode("utf-8", "replace")).hexdigest()[:32]
