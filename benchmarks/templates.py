"""Running templates: promptc compared to Jinja's ImmutableSandboxedEnvironment, over one state of 50 KB."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from statistics import median
from typing import Any

from benchmarks.blocks import make_transcript
from benchmarks.measure import Scale, begin, show, time_turns
from benchmarks.template_texts import FILES, TEMPLATES
from promptc.diag.findings import Span
from promptc.template.lower.module import load_template
from promptc.template.place import Place

_REPEATS = 10
_ROUNDS = (15, 1)


def bench_templates(scale: Scale) -> None:
    """Print the time of a run of each template and its ratio to Jinja's; assert that both print the same."""
    state = make_world(scale.choose(50_000, 5_000))
    size = len(json.dumps(state, ensure_ascii=False).encode())
    begin(f"Templates: a run over a state of {size / 1000:.0f} KB, as a part of the time Jinja's ImmutableSandboxedEnvironment takes")
    ratios = []
    for title, text in TEMPLATES.items():
        ours, jinja = _build_promptc(text, state), _build_jinja(text, state)
        made = ours()
        assert made == jinja(), f"{title}: the outputs differ"
        taken = time_turns({"ours": partial(_repeat, ours), "jinja": partial(_repeat, jinja)}, scale.choose(*_ROUNDS))
        ratio = taken.ratio("ours", "jinja")
        ratios.append(ratio.middle)
        mine, theirs = (f"{taken[name].middle / _REPEATS * 1e3:.2f} ms" for name in ("ours", "jinja"))
        told = f"{mine} against {theirs}, {len(made) / 1000:.0f} kB out"
        show(title, ratio, ".2f x", peer="Jinja2's sandbox", way="ours / theirs", note=told)
    show("the worst", max(ratios), ".2f x", at_most=0.6)
    show("the median", median(ratios), ".2f x", at_most=0.45)


def make_world(size: int) -> dict[str, Any]:
    """Return a state of about `size` bytes: people, places, a transcript and flags. It is the same each time."""
    draw = Random(11)
    blocks = make_transcript(400, 24)
    kinds = ("guard", "merchant", "Scholar", "thief", "Sailor")
    people = [
        {
            "name": f"{draw.choice('ABCDEFGHKLMNRST')}{draw.choice(('ana', 'ero', 'ild', 'osk', 'una'))} {number}",
            "kind": draw.choice(kinds),
            "age": draw.randint(15, 80),
            "mood": draw.randint(-5, 5),
            "at": {"town": draw.choice(("Ost", "West", "Harbour", "Mill")), "since": draw.randint(1, 400)},
            "skills": draw.sample(("lie", "sail", "read", "fight", "hide", "cook"), draw.randint(0, 4)),
            "alive": draw.random() < 0.9,
        }
        for number in range(120)
    ]
    world: dict[str, Any] = {
        "title": "The Lantern Inn",
        "day": 41,
        "people": people,
        "flags": {f"flag_{n}": n % 3 == 0 for n in range(60)},
        "log": [],
    }
    for block in blocks:
        if len(json.dumps(world)) >= size:
            break
        world["log"].append(block)
    return world


def _build_promptc(text: str, state: Mapping[str, Any]) -> Callable[[], str]:
    place = Place(Span("template.j2", 1, 1), inline=False)
    template = load_template(text, place, load_file=FILES.__getitem__)
    names = {"state": state}
    return lambda: template.render(names)


def _build_jinja(text: str, state: Mapping[str, Any]) -> Callable[[], str]:
    from jinja2 import DictLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, loader=DictLoader(FILES)
    )
    template = environment.from_string(text)
    return lambda: template.render(state=state)


def _repeat(work: Callable[[], str]) -> None:
    for _ in range(_REPEATS):
        work()
