"""The rules of selection of companion, written a second time in plain Python: what the pack must agree with."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

Row = Mapping[str, Any]

TYPES = ("PROFILE", "PEOPLE", "PROJECT")
TYPE_CAPS = {"PROFILE": 2, "PEOPLE": 3, "PROJECT": 3}
LOOP_CAPS = {"commitments": ("COMMITMENT", 5), "threads": ("THREAD", 3), "frictions": ("FRICTION", 3)}


def fold(text: str) -> str:
    """The text as it is compared: no case, no width, no punctuation, single spaces."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "").replace("\xad", "")
    return " ".join(re.sub(r"[\W_]+", " ", plain).split())


def select(state: Mapping[str, Any]) -> dict[str, list[str]]:
    """The ids of every list of the prompt, in order."""
    foundation = _select_foundation(state)
    chosen = {
        "foundation": _list_ids(foundation),
        "relevant": _list_ids(_select_relevant(state, {fold(row["content"]) for row in foundation})),
    }
    for section, (kind, cap) in LOOP_CAPS.items():
        rows = [row for row in _by_time(state["todos"], "at") if row["kind"] == kind and row["status"] == "PENDING"]
        chosen[section] = _list_ids(_drop_repeats(reversed(rows))[:cap][::-1])
    wins = [row for row in _by_time(state["todos"], "completed_at") if _is_win(row, state["now"])]
    talk = [row for row in _by_time(state["messages"], "at") if row["persona"] == state["persona"]]
    return {**chosen, "wins": _list_ids(wins[-3:]), "recent": _list_ids(talk[-6:])}


def select_said(state: Mapping[str, Any]) -> list[str]:
    """The ids of what the judge reads; `now` is what was just said."""
    spoken = [row for row in _by_time(state["messages"], "at") if row["role"] == "user"][-6:]
    fresh = [row for row in spoken if _age(row["at"], state["now"]) <= timedelta(minutes=60)]
    said = [{"id": "now", "content": state["transcript"]}, *reversed(fresh)]
    return _list_ids(_drop_repeats(row for row in said if row["content"].strip())[:4][::-1])


def _select_foundation(state: Mapping[str, Any]) -> list[Row]:
    pinned = [row for row in state["memories"] if row["pinned"] and _is_mine(row, state["persona"])]
    return sorted(pinned, key=lambda row: (row["at"], row["id"]))[:20]


def _select_relevant(state: Mapping[str, Any], known: set[str]) -> list[Row]:
    mine = [row for row in state["candidates"] if _is_mine(row, state["persona"])]
    nearest = sorted(mine, key=lambda row: (-row["score"], row["id"]))[:12]
    free = dict(TYPE_CAPS)
    chosen = []
    for row in _drop_repeats(row for row in nearest if fold(row["content"]) not in known):
        if free[row["type"]]:
            free[row["type"]] -= 1
            chosen.append(row)
    return chosen[:8]


def _is_mine(row: Row, persona: str) -> bool:
    return row["type"] in TYPES and row["persona"] in (None, persona)


def _is_win(row: Row, now: str) -> bool:
    return row["kind"] == "COMMITMENT" and row["status"] == "COMPLETED" and _age(row["completed_at"], now) <= timedelta(hours=48)


def _drop_repeats(rows: Iterable[Row]) -> list[Row]:
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(fold(row["content"]), row)
    return list(first.values())


def _by_time(rows: Iterable[Row], key: str) -> list[Row]:
    return sorted(rows, key=lambda row: str(row[key]))


def _age(then: str, now: str) -> timedelta:
    return datetime.fromisoformat(now) - datetime.fromisoformat(then)


def _list_ids(rows: Iterable[Row]) -> list[str]:
    return [str(row["id"]) for row in rows]
