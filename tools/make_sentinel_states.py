"""Make the shared states of `fixtures/sentinel/base`, with the same bytes on every machine.

`table.json` is a long log of short blocks, like that of a real table; `loaded.json` is a campaign whose memory is nearly full;
`overfull.json` has a snapshot and a digest beyond their budgets; `joined.json` is three short logs pasted together, including their ids.
`--check` compares instead of writing, and exits with 1 if a file differs.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "sentinel" / "base"
_START = datetime(2025, 3, 6, 19, 0, tzinfo=UTC)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split("|")]


PLACES = _split("""
the pump hall | the lamp stairs | gauge four | the Exchange landing | the ration queue | the outfall ladder | the tally office |
Harrow Lock | the ninth terrace | a kitchen without a number | the Bureau's side door | the wire loft | the dry dock |
the glass store | the shift canteen
""")
PEOPLE = _split("""
Bas Hollow | Orla Finch | Imre Doss | Ansa Verel | Sister Quill | Tam Overby | Ledger Joan | the twin from gauge two |
Mother Brack | Piet Lanning | Corporal Essen | Widow Tarn | Nils of the wire | Gresham the younger | Hanne Voss | Old Perrin |
Dov Achterberg | the woman with the ladder
""")
POWERS = _split("""
Bureau of Witness | Sluice Union | Meridian Combine | Lanternists | The Quiet | Harrow Lock crew | Ration Board | Glaziers' Table |
Upper Terrace Watch | Night kitchens | Wire loft | Pump wardens
""")
PLAYERS = ("MARSH", "IVO", "CALLA", "RUNE")
ACTS = _split("""
folds the receipt twice and keeps the larger half | counts the lamps on the way down and is one short |
turns the key as if it belonged to somebody else | wipes the gauge glass with a sleeve that makes it worse |
says the name once, correctly, and never again | holds the door with a foot and looks at the ceiling |
writes the hour down and the reason not | pours two cups and drinks both | lays the tally on the table, face down |
asks nothing, which costs more
""")
FACTS = _split("""
the inner gate is watched by one clerk, not two | the water stood a finger higher last night than the book says |
nobody has signed for the seventh key | the lamps on this stair belong to a dead man's account | the bell can be rung from below |
statements are weighed before they are read
""")
PLANS = _split("""
go down by the ladder while the shift changes | offer the tally and see who reaches for it |
say the name aloud and watch the clerk | wait until the lamps change | take the blank page and leave the other |
ask for the book of last winter
""")
THREADS = _split("""
The seventh key | The second bell | The cold kitchen | The unsigned hearing | The short ladder | The dead man's account |
The blank page | The eleventh lamp | The borrowed coat | The book of last winter | The night shift's vote | The woman at the grate
""")
ASIDES = _split(
    "Wait, which stair? | Yes. | I would like that written down. | Not again. | Is she still there? | How far down? | Quietly, then."
)
NOTES = ("(a pause)", "(dice)", "(laughs)", "Ten past.", "Break.")


class Draws:
    """A plain linear congruential generator: the same on every machine and version, which `random.choice` does not promise."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % bound

    def pick(self, words: Sequence[str]) -> str:
        return words[self.below(len(words))]


def _sentence(draws: Draws) -> str:
    forms = (
        f"At {draws.pick(PLACES)}, {draws.pick(PEOPLE)} {draws.pick(ACTS)}.",
        f"{draws.pick(PEOPLE)} {draws.pick(ACTS)}; behind the wall the pumps miss a stroke.",
        f"Nobody at {draws.pick(PLACES)} looks up when {draws.pick(PEOPLE)} {draws.pick(ACTS)}.",
        f"Somebody has told {draws.pick(PEOPLE)} that {draws.pick(FACTS)}.",
    )
    text = forms[draws.below(len(forms))]
    return text[0].upper() + text[1:]


def _clause(draws: Draws) -> str:
    """Return a sentence in a form that can be part of another one."""
    text = _sentence(draws)[:-1]
    opens_with_name = text.split()[0] not in ("At", "Nobody", "Somebody", "The")
    return text if opens_with_name else text[0].lower() + text[1:]


def _text(draws: Draws, kind: str, sentences: int) -> str:
    opening = {
        "SYSTEM": draws.pick(NOTES),
        "CHOICE": f"I want to {draws.pick(PLANS)}.",
        "INTEL": f"You learn that {draws.pick(FACTS)}.",
        "NARRATIVE": draws.pick(ASIDES) if sentences == 1 and draws.below(2) else _sentence(draws),
    }[kind]
    return " ".join([opening, *(_sentence(draws) for _ in range(sentences - 1))])


def _kind(draws: Draws) -> str:
    """Return a kind with the frequency that it has in a real table's log: mostly talk, a choice in about twenty blocks."""
    roll = draws.below(100)
    return "CHOICE" if roll < 6 else "INTEL" if roll < 8 else "SYSTEM" if roll < 22 else "NARRATIVE"


def _blocks(draws: Draws, count: int, *, longest: int, hinge_every: int) -> Iterator[dict[str, Any]]:
    choices = 0
    for number in range(count):
        kind, speaker = _kind(draws), draws.pick(PLAYERS)
        tags = [f"npc:{speaker.lower()}"]
        choices += kind == "CHOICE"
        if kind == "CHOICE" and choices % hinge_every == 0:
            tags.append(f"hinge:{choices // hinge_every}")
        length = 1 if kind == "SYSTEM" else 1 + draws.below(longest)
        at = (_START + timedelta(seconds=7 * number)).isoformat().replace("+00:00", "Z")
        yield {"at": at, "id": number, "speaker": speaker, "tags": tags, "text": _text(draws, kind, length), "type": kind}


def _digest(draws: Draws, counts: tuple[int, int, int, int]) -> dict[str, Any]:
    hinges, reasons, anchors, threads = counts
    return {
        "hinge_index": [{"choice": f"{draws.pick(PLAYERS)} chose to {draws.pick(PLANS)}", "consequence": _clause(draws),
                         "situation": _clause(draws)} for _ in range(hinges)],
        "npc_memory_anchors": [{"memory": _clause(draws), "npc": PEOPLE[i % len(PEOPLE)]} for i in range(anchors)],
        "open_threads": [{"name": THREADS[i % len(THREADS)], "trigger": f"it is known that {draws.pick(FACTS)}"} for i in range(threads)],
        "standing_reasons": [{"faction": POWERS[i % len(POWERS)], "reason": _clause(draws)} for i in range(reasons)],
    }  # fmt: skip


def _people(draws: Draws, count: int) -> list[dict[str, Any]]:
    names = [name if turn == 0 else f"{name}, {turn + 1}" for turn in range(-(-count // len(PEOPLE))) for name in PEOPLE]
    return [{"disposition": draws.pick(("warm", "wary", "owed", "afraid")), "memories": [_clause(draws) for _ in range(1 + draws.below(3))],
             "name": name} for name in names[:count]]  # fmt: skip


def _notes(draws: Draws, kind: str, best: float, count: int) -> Iterator[dict[str, Any]]:
    for i in range(count):
        yield {"id": f"{kind[:4]}-{i}", "kind": kind, "score": round(best - i / 10, 2), "text": _sentence(draws)}


def _state(
    draws: Draws, transcript: list[dict[str, Any]], *, factions: int, npcs: int, threads: int, digest: tuple[int, int, int, int]
) -> dict[str, Any]:
    return {
        "campaign": {"id": "made", "title": "Made for measuring"},
        "digest": _digest(draws, digest),
        "factions": [{"last_delta": draws.below(5) - 2, "name": name, "reason": _clause(draws), "standing": draws.below(11) - 5}
                     for name in POWERS[:factions]],
        "history": [],
        "input": f"I want to {draws.pick(PLANS)}.",
        "mission": {"name": "Find who signed for the seventh key", "phase": "descent"},
        "now": transcript[-1]["at"],
        "npcs": _people(draws, npcs),
        "player": {"gear": ["lamp", "forty feet of wire", "a tally that is not theirs"], "name": "The crew of the dry dock",
                   "social_energy": 62},
        "retrieval": {"requested": False, "results": [
            *_notes(draws, "lore", 0.9, 4), *_notes(draws, "campaign", 0.85, 6)]},
        "strain": "normal",
        "threads": [{"consequence": _clause(draws), "name": THREADS[i % len(THREADS)], "trigger": f"it is known that {draws.pick(FACTS)}"}
                    for i in range(threads)],
        "transcript": transcript,
    }  # fmt: skip


def _make(name: str) -> dict[str, Any]:
    if name == "table":
        draws = Draws(7)
        return _state(draws, list(_blocks(draws, 600, longest=3, hinge_every=6)), factions=3, npcs=2, threads=2, digest=(4, 1, 1, 1))
    if name == "loaded":
        draws = Draws(11)
        return _state(draws, list(_blocks(draws, 60, longest=24, hinge_every=2)), factions=9, npcs=14, threads=8, digest=(22, 11, 22, 9))
    if name == "cleared":
        state, later = _make("loaded"), list(_blocks(Draws(19), 68, longest=24, hinge_every=2))[60:]
        note = {"at": state["now"], "blocks": 60, "cleared_without_checkpoint": True, "did": "clear"}
        return {**state, "cleared_without_checkpoint": True, "history": [note], "transcript": [*state["transcript"][-4:], *later]}
    if name == "joined":
        draws = Draws(17)
        log = [block for _ in range(3) for block in _blocks(draws, 9, longest=2, hinge_every=1)]
        return _state(draws, log, factions=3, npcs=2, threads=2, digest=(3, 1, 1, 1))
    draws = Draws(13)
    return _state(draws, list(_blocks(draws, 40, longest=2, hinge_every=6)), factions=12, npcs=60, threads=12, digest=(40, 12, 50, 12))


def render_state(name: str) -> str:
    """Return the JSON text of a shared state, with sorted keys and an indentation of one space."""
    return json.dumps(_make(name), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def main() -> int:
    """Run the tool; return 0 if all files are (now) what it makes, 1 if `--check` found a different file."""
    parser = argparse.ArgumentParser(description="Make the shared states of fixtures/sentinel/base.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    stale = []
    for name in ("table", "loaded", "overfull", "joined", "cleared"):
        path, text = FOLDER / f"{name}.json", render_state(name)
        if not check:
            path.write_text(text, encoding="utf-8", newline="\n")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
    if stale:
        sys.stderr.write(f"not what tools/make_sentinel_states.py makes: {', '.join(stale)}\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
