"""Packs and states as nobody means them: parts dropped, doubled, swapped for other kinds of values, bytes flipped."""

import json
from copy import deepcopy
from random import Random
from typing import Any

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 10**6, 10**30, 0.5, -0.5, 1e308, "", " ", "x", "alpha", "none", "1", "50%", "101%", "-5%", "0%",
    [], {}, [[]], [{}], [None], {"x": 1}, {"tokens": 5}, {"chars": 5}, {"min": 9, "max": 3}, {"evict": {}}, {"drop": {"section": "alpha"}},
    [{"trim": {"to": 1, "floor": 1}}],
    "\u0000", "\ud800", "é" * 50, "/" * 40, "../x", "a" * 3000,
)  # fmt: skip
_EXPRESSIONS = (
    "item", "item.", "item.nothing", "state", "state.first", "state.nothing.at.all", "1/0", "1 // 0", "'a' * 10", "'a' * 10 ** 10",
    "range(10 ** 9)", "[1, 2", "{{ state }}", "{% for x in state.first %}", "{{ 1/0 }}", "{{ item.text[0:3] }}",
    "{{ state.first | map(attribute='n') | sum }}", "{{ strain.tier ~ variant }}", "this.tokens", "this.number / 0", "this.id",
    "selected.alpha", "selected.nothing", "item.text | tokens", "-1", "0.5", "{{ 'x' * 100000 }}", "{{ items }}", "none", "true",
    "[item.n, item.text]", "item.n > item.text", "state.first | sort", "'\\n'", "{% raw %}", "{{ '=== ALPHA_END ===' }}", "\n",
    "{{ '\n' }}", "{{ section.id }}\n{{ section.id }}",
)  # fmt: skip


def mutate(value: Any, rng: Random) -> Any:
    """The value with one to three changes somewhere inside."""
    changed = deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        places = list(_iter_places(changed))
        if places:
            _change(*rng.choice(places), rng)
    return changed


def _iter_places(value: Any) -> Any:
    """Every (container, key) inside a value."""
    entries = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in entries:
        yield value, key
        yield from _iter_places(inner)


def _change(container: Any, key: Any, rng: Random) -> None:
    kind = rng.randint(0, 5)
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = rng.choice(_VALUES)
    elif kind in (2, 3):
        container[key] = rng.choice(_EXPRESSIONS)
    elif kind == 4 and isinstance(container, list):
        container.insert(key, deepcopy(container[rng.randrange(len(container))]))
    elif isinstance(container, dict):
        other = rng.choice(list(container))
        container[rng.choice((other, "unknown", "", other.upper() if isinstance(other, str) else "x"))] = container[key]


def mutate_bytes(raw: bytes, rng: Random) -> bytes:
    """The bytes with a few flipped, cut out, doubled or put in."""
    changed = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed) + 1)
        kind = rng.randint(0, 4)
        if kind == 0 and place < len(changed):
            changed[place] ^= 1 << rng.randint(0, 7)
        elif kind == 1:
            del changed[place : place + rng.randint(1, 30)]
        elif kind == 2:
            changed[place:place] = changed[place : place + rng.randint(1, 40)]
        elif kind == 3:
            changed[place:place] = rng.choice(
                (b"\x00", b"\xff\xfe", b"{", b"]", b'"', b"&a *a", b"!!python/object:x", b"\xef\xbb\xbf", b"---\n", b"1e999", b"\\ud800")
            )
        else:
            del changed[place:]
    return bytes(changed)


def render_json(value: Any) -> bytes:
    """JSON, also of texts no UTF-8 file can hold."""
    return json.dumps(value).encode()
