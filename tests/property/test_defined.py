"""Definitions add no power: what names them is what it would be with each of them written out, in brackets."""

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from promptc.diag.findings import PromptcError, Span
from promptc.template.allow import LIMITS
from promptc.template.define import load_definitions
from promptc.template.lower.module import load_template
from promptc.template.place import Definition, Place
from promptc.template.runtime.run import RUN, Run
from tests.property.drawing.draws import draw_any
from tests.property.load_drawn import Loaded
from tests.property.proof import Proof, Tally
from tests.property.template_rules import LEAVES, NAMES, RULES

HERE = Place(Span("pack.yaml", 1, 1), inline=True)
KINDS = ("N", "T", "NL", "TL", "P", "D", "B")
_PLACES = re.compile(r"(pack\.yaml):\d+:\d+")
_OUTPUT = re.compile(r"\{\{ ?([^{}%]+?) ?\}\}")
_EXPRESSIONS = frozenset(("where", "when", "by", "id", "number", "tally", "previous"))


@dataclass(frozen=True)
class Drawing:
    """A definition, and what it stands for once nothing in it is a name any more. `\\x01a0\\x02` stands where its argument `a0` did."""

    definition: Definition
    kind: str
    takes: tuple[str, ...]
    written: str


class Draw:
    """Draws expressions by type, each twice: as it names definitions, and written out by hand."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.known: list[Drawing] = []

    def define(self) -> None:
        """One more definition, which may use those before it."""
        kind, takes = self.rng.choice(KINDS), tuple(self.rng.choices(KINDS, k=self.rng.choice((0, 0, 1, 1, 2))))
        own = [(f"a{place}", one) for place, one in enumerate(takes)]
        named, written = self.write(kind, own, 0)
        definition = Definition(f"d{len(self.known)}", tuple(name for name, _ in own), named, HERE)
        self.known.append(Drawing(definition, kind, takes, written))

    def write(self, kind: str, own: list[tuple[str, str]], depth: int) -> tuple[str, str]:
        """An expression, as it names definitions and as it is without them."""
        parameters = [name for name, one in own if one == kind]
        fitting = [one for one in self.known if one.kind == kind]
        chance = self.rng.random()
        if parameters and chance < 0.4:
            name = self.rng.choice(parameters)
            return name, f"\x01{name}\x02"
        if fitting and chance < 0.7 and depth < 3:
            return self._use(self.rng.choice(fitting), own, depth)
        if depth >= 2 or chance > 0.9:
            leaf = self.rng.choice(LEAVES[kind])
            return f"({leaf})", f"({leaf})"
        named = written = ""
        rest = self.rng.choice(RULES[kind]).replace("{{", "\x03").replace("}}}", "}\x04").replace("}}", "\x04")
        for place, part in enumerate(re.split(r"\{(\w+)\}", rest)):
            one, other = self.write(part, own, depth + 1) if place % 2 else (part, part)
            named, written = named + one, written + other
        return tuple(f"({one})".replace("\x03", "{").replace("\x04", "}") for one in (named, written))  # type: ignore[return-value]

    def _use(self, used: Drawing, own: list[tuple[str, str]], depth: int) -> tuple[str, str]:
        args = [self.write(kind, own, depth + 1) for kind in used.takes]
        named = used.definition.name + (f"({', '.join(one for one, _ in args)})" if args else "")
        written = used.written
        for (_, arg), name in zip(args, used.definition.parameters, strict=True):
            written = written.replace(f"\x01{name}\x02", f"({arg.replace(chr(1), chr(5)).replace(chr(2), chr(6))})")
        return named, f"({written.replace(chr(5), chr(1)).replace(chr(6), chr(2))})"


def run(text: str, definitions: tuple[Definition, ...]) -> tuple[Any, ...]:
    """What a template prints or fails with, the steps it takes, and what it reads."""
    account = Run(None, LIMITS)
    try:
        template = load_template(text, replace_place(definitions))
    except PromptcError as error:
        return ("load", [(one.code, cut_place(one.message)) for one in error.diagnostics])
    try:
        shown = template.render({**NAMES, RUN: account})
    except PromptcError as error:
        return ("run", [(one.code, cut_place(one.message), one.help) for one in error.diagnostics], account.left)
    return ("shown", shown, account.left, account.memory, template.reads)


def replace_place(definitions: tuple[Definition, ...]) -> Place:
    return Place(HERE.span, inline=True, definitions=definitions)


def cut_place(message: str) -> str:
    return re.sub(r", in `d\d+`.*", "", message)


# contract 3.21
def test_a_template_is_what_it_is_written_out(draws: Any) -> None:
    ends: Counter[str] = Counter()
    for seed in range(draws(6000)):
        draw = Draw(Random(f"definitions {seed}"))
        for _ in range(draw.rng.randint(1, 5)):
            draw.define()
        named, written = draw.write(draw.rng.choice(("N", "T", "NL", "B")), [], 0)
        definitions, findings = load_definitions([one.definition for one in draw.known])
        if findings:
            ends[findings[0].code] += 1
            continue
        told = f"{[(one.signature, one.text) for one in definitions]}\n{named}\n{written}"
        pattern = "a{{ %s }}b{%% if %s %%}c{%% endif %%}"
        one, other = run(pattern % (named, named), definitions), run(pattern % (written, written), ())
        assert one == other, told
        ends[one[0]] += 1
    assert ends["shown"] > 0.6 * ends.total(), ends
    assert set(ends) <= {"shown", "run", "load"}, ends


class Namer:
    """Gives names to expressions of a manifest."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.defined: dict[str, str] = {}

    def name(self, expression: str) -> str:
        """A name that stands for it; with `item` as its argument, or with a definition inside a definition, now and then."""
        name, kind = f"d{len(self.defined)}", self.rng.randrange(4)
        if kind == 0 and "item" in expression:
            self.defined[f"{name}(one)"] = re.sub(r"(?<![.\w'])item\b", "one", expression)
            return f"{name}(item)"
        self.defined[name] = expression
        if kind == 1:
            self.defined[f"{name}_too(x, y)"] = f"y if y == x else {name}"
            return f"{name}_too({name}, {name})"
        return name

    def walk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: self.walk(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [self.walk(one, key) for one in value]
        if not isinstance(value, str) or self.rng.random() < 0.3:
            return value
        if key in _EXPRESSIONS and not re.fullmatch(r"[a-z_]+", value):
            return self.name(value)
        if key in ("text", "header", "marker"):
            return _OUTPUT.sub(lambda found: f"{{{{ {self.name(found[1])} }}}}", value)
        return value


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tests.property.load_drawn import Library

    return Library(tmp_path_factory.mktemp("named"))


# contract 3.21
def test_a_pack_is_what_it_is_written_out(proof: Proof, other: Any) -> None:
    def judge(loaded: Loaded, tally: Tally) -> str | None:
        namer = Namer(Random(repr(loaded.drawn.manifest)))
        manifest = {key: namer.walk(value, key) if key == "sections" else value for key, value in loaded.drawn.manifest.items()}
        if not namer.defined:
            return None
        named = other.load(replace(loaded.drawn, manifest={**manifest, "define": namer.defined}))
        tally["packs with definitions"] += 1
        tally["definitions"] += len(namer.defined)
        for total in (4000, 90, 30):
            here, there = show(loaded, total), show(named, total)
            if here != there:
                return f"at {total}, {namer.defined}: {there} in place of {here}"
        return None

    tally = proof.hold("definitions", judge, draw_any, 2000)
    assert tally["definitions"] > 3 * tally["packs with definitions"] > 0


def show(loaded: Loaded, total: int) -> str:
    """A prompt and its report, but for the digest of the pack, places in its manifest, and why it says an item went: that names the
    expression as it is written."""
    outcome = loaded.compile(total)
    report = {**outcome.report, "digests": {**outcome.report["digests"], "pack": ""}}
    report["cuts"] = [{**cut, "why": ""} for cut in report["cuts"]]
    emitted = outcome.emitted
    shown = [report, [emitted.text, list(emitted.messages)] if emitted is not None else None]
    return _PLACES.sub(r"\1", json.dumps(shown, default=str))
