"""Templates nobody would write: valid ones damaged, and expressions of everything with everything."""

import re
from random import Random

from promptc.template import allow

_ATOMS = (
    "state state.name state.text state.tags state.numbers state.people state.map state.nothing state.on state['items'] "
    "zz state.zz 1 0 -1 2.5 10**20 1e300 99999 'a' '' '%s' '%d%(a)s' 'ü' [] {} () [1,'a',none] (1,2) {'a':1} none true "
    "range dict namespace cycler m w loop self ns cy jo caller mac ns.a loop.index range(5) mac.tag [zz] {'k':zz} "
    "(state.name) [range] [loop] 'token' 'name' 'age' 'upper' 'eq' state.now state.people|map(attribute='name') "
    "state.tags|select state.map.items() ''|list '2026-01-01'"
).split(" ")
_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or")
_KEYWORDS = "attribute default reverse by start width first chars tokens boundary indent length end precision method fill_with seed".split()
_BEFORE = (
    "{% import 'macros.j2' as mac %}{% set ns = namespace(a=1) %}{% set cy = cycler('x', 'y') %}{% set jo = joiner() %}"
    "{% macro m(a) %}{{ a }}{% endmacro %}{% macro w() %}{{ varargs | length }}{{ kwargs | length }}{% endmacro %}"
)
_AROUND = (
    "{{ @ }}", "{% for e in [1, 2] %}{{ @ }}{% endfor %}", "{% if @ %}y{% endif %}", "{% for a in @ %}{{ a }}{{ loop.last }}{% endfor %}",
    "{% set q = @ %}{{ q }}", "{% set ns.a = @ %}{{ ns.a }}", "{% call w(@) %}x{% endcall %}", "{% for a, b in @ %}{{ a }}{% endfor %}",
)  # fmt: skip
_PIECES = re.compile(r"\{\{|\}\}|\{%|%\}|\w+|\s+|.", re.S)


class Wild:
    """Everything one seed draws."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def damage(self, texts: list[str]) -> str:
        """One of the texts with some pieces taken out, doubled, or put in from another."""
        pieces = _PIECES.findall(self.random.choice(texts))
        for _ in range(self.random.randint(1, 6)):
            at = self.random.randrange(len(pieces) + 1)
            other = _PIECES.findall(self.random.choice(texts))
            start = self.random.randrange(len(other) + 1)
            action = self.random.random()
            if action < 0.4:
                del pieces[at : at + 1]
            else:
                pieces[at:at] = other[start : start + (1 if action < 0.8 else 8)]
        return "".join(pieces)

    def template(self) -> str:
        """A wild expression somewhere in a template."""
        return _BEFORE + self.random.choice(_AROUND).replace("@", self.expression(0))

    def expression(self, depth: int) -> str:
        draw = self.random.random()
        if depth > 3 or draw < 0.25:
            return self.random.choice(_ATOMS)
        a, b = self.expression(depth + 1), self.expression(depth + 1)
        if draw < 0.5:
            return f"({a} | {self.random.choice(sorted(allow.FILTERS))}{self._arguments(depth)})"
        if draw < 0.58:
            return f"({a} is {self.random.choice(sorted(allow.TESTS))}{self._arguments(depth)})"
        if draw < 0.72:
            return f"({a} {self.random.choice(_OPERATORS)} {b})"
        if draw < 0.82:
            return f"{a}.{self.random.choice(sorted(allow.METHODS))}{self._arguments(depth) or '()'}"
        shapes = (
            f"{a}[{b}]", f"{a}[{b}:]", f"{a}[::{b}]", f"{a}.name", f"{a}.index", f"{a}.grouper", f"[{a}, {b}]",
            f"({a}, {b})", f"{{{a}: {b}}}", f"({a} if {b} else 1)", f"({a} if {b})", f"range({a})", f"dict({a})",
            f"namespace({a})", f"cycler({a})", f"m({a})", f"w({a}, k={b})",
        )  # fmt: skip
        return self.random.choice(shapes)

    def _arguments(self, depth: int) -> str:
        if self.random.random() < 0.45:
            return ""
        values = [self.expression(depth + 1) for _ in range(self.random.randint(0, 2))]
        names = self.random.sample(_KEYWORDS, self.random.choice((0, 0, 0, 1, 1, 2)))
        return "(" + ", ".join(values + [f"{name}={self.expression(depth + 1)}" for name in names]) + ")"
