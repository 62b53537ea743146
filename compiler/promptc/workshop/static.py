"""The page of `promptc serve` as one file, for a pull request: all views that it can show are rendered in advance.

The file loads nothing, and its policy allows only its own two scripts to run. Equal packs and states make equal bytes.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from promptc.diag.findings import PromptcError
from promptc.diag.typed import Any
from promptc.workshop.page import PAGE, SCRIPTS, STYLE, Bench, read_web
from promptc.workshop.view import Known, View

STEPS = (50, 75, 100, 125, 150)
"""The positions of a slider, in per cent of the number in the manifest."""

MOST_VIEWS = 400
"""The limit for views with a moved slider. States beyond the limit get no such views."""

_RESERVE = "reserve"


def render_static(bench: Bench) -> bytes:
    """Return the whole file. An error in a state or in the pack appears in the view that it concerns."""
    web = {name: content.decode() for name, content in read_web().items()}
    style, scripts = web[STYLE], [web[name] for name in SCRIPTS]
    charset = '<meta charset="utf-8">\n'
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_make_policy(style, scripts)}">\n'
    html = web[PAGE].replace(charset, charset + policy)
    html = html.replace(f'<link rel="stylesheet" href="{STYLE}">\n', f"<style>{style}</style>\n")
    for name in SCRIPTS:
        html = html.replace(f'<script src="{name}" defer></script>\n', "")
    data = f'<script type="application/json" id="made">{_show_inert(_make_answers(bench))}</script>\n'
    return html.replace("</body>", data + "".join(f"<script>{one}</script>\n" for one in scripts) + "</body>").encode()


def _make_policy(style: str, scripts: Sequence[str]) -> str:
    hashes = [f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in (style, *scripts)]
    rules = {
        "default-src": "'none'",
        "style-src": hashes[0],
        "script-src": " ".join(hashes[1:]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _show_inert(value: Any) -> str:
    """Return JSON that is safe inside an HTML element: no text in it can close the element or open another."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _make_answers(bench: Bench) -> View:
    """Return the answers to all requests that the page can make."""
    start, known = bench.describe_start(), Known()
    names = [one["id"] for one in start["shown"]]
    for pack in ("", *start["against"]):
        bench.check({"pack": pack})
    views = [_answer(bench, known, {"shown": name, "pack": pack}) for name in names for pack in ("", *start["against"])]
    own = (one["view"] for one in views if one["asked"]["pack"] == "" and "controls" in one["view"])
    moved: Sequence[View] = next((one["controls"]["sliders"] for one in own), [])
    sliders = [{**one, "steps": _list_steps(one)} for one in moved if one["path"].rpartition(".")[2] != _RESERVE]
    each = max(sum(len(one["steps"]) - 1 for one in sliders), 1)
    for name in names[: MOST_VIEWS // each]:
        for one in sliders:
            tries = ([one["path"], step] for step in one["steps"] if step != one["steps"][_place_own(one)])
            made = (_answer(bench, known, {"shown": name, "pack": "", "tries": [tried]}) for tried in tries)
            views += [one for one in made if "failed" not in one["view"]]
    for one in views:
        one["view"].pop("controls", None)
    return {
        "start": start,
        "controls": {"sliders": sliders, "axes": [], "patches": []},
        "known": known.tell(),
        "views": views,
        "compared": list(_iter_compared(bench, names, start["against"])),
        "sessions": list(_iter_sessions(bench, start["shown"])),
    }


def _answer(bench: Bench, known: Known, asked: Mapping[str, Any]) -> View:
    return {"asked": asked, "view": bench.describe(asked, known)}


def _list_steps(slider: Mapping[str, Any]) -> list[str]:
    """Return the positions of a slider as values of the manifest, in rising order."""
    most = 100 if slider["unit"] else slider["value"] * STEPS[-1] // 100
    found = sorted({min(slider["value"] * step // 100, most) for step in STEPS} | {slider["value"]})
    return [f"{one}{slider['unit']}" for one in found]


def _place_own(slider: Mapping[str, Any]) -> int:
    own: int = slider["steps"].index(f"{slider['value']}{slider['unit']}")
    return own


def _iter_compared(bench: Bench, names: Sequence[str], packs: Sequence[str]) -> Iterator[View]:
    for name in names:
        for pack in packs:
            try:
                found = bench.compare({"shown": name, "pack": pack}, {"shown": name})
            except PromptcError:
                continue  # the view shows the error
            yield {"shown": name, "pack": pack, "found": found}


def _iter_sessions(bench: Bench, shown: Sequence[Mapping[str, Any]]) -> Iterator[View]:
    met = set[str]()
    for one in shown:
        if one["session"] and one["session"] not in met:
            met.add(one["session"])
            try:
                yield {"session": one["session"], "found": bench.measure_session({"shown": one["id"]})}
            except PromptcError:
                continue
