"""Templates drawn by type: each expression is a number, text, list, mapping or truth, so that most of what is drawn renders.

A draw gives a template and the files it names: statements with white space signs, macros, loops with all of `loop`, scoping of `set`,
namespaces, `include`, `import`, `from ... import` and `extends` over files that are drawn too.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.property.template_rules import LEAVES, RULES

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]

_LOOP_PARTS = (
    "loop.index", "loop.index0", "loop.revindex", "loop.revindex0", "loop.first", "loop.last", "loop.length", "loop.depth", "loop.depth0",
    "loop.cycle('a', 'b')", "loop.cycle(1, 2, 3)", "loop.changed({V})", "loop.previtem | default('-')", "loop.nextitem | default('-')",
    "'' if loop.last else ', '", "loop.index is odd", "loop.index * 2 + loop.length", "(loop.previtem is defined) ~ loop.first",
)  # fmt: skip
_PIECES = ("text", "\n", " ", "  \n  ", "\n\n", "- ", "<a>", "{ x }", "\t", "100%", "é")


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that stand for a value here, by type; macros and files that may be called; whether `loop` is there."""

    values: dict[str, tuple[str, ...]]
    macros: tuple[str, ...] = ()
    loops: bool = False
    files: tuple[str, ...] = ()
    depth: int = 0

    def binding(self, kind: str, *names: str) -> "Scope":
        """With names of a type."""
        return replace(self, values={**self.values, kind: (*self.values.get(kind, ()), *names)})


@dataclass(frozen=True, slots=True)
class Drawn:
    """A template and the files it may name."""

    text: str
    files: dict[str, str] = field(default_factory=dict)


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


class Writer:
    """Writes one file."""

    def __init__(self, draw: Draw[Any]) -> None:
        self.draw = draw
        self.made = 0

    def pick(self, choices: tuple[T, ...]) -> T:
        return choices[self.draw(_below(len(choices)))]

    def chance(self, part: int, of: int) -> bool:
        return self.draw(_below(of)) < part

    def fresh(self, letter: str) -> str:
        """A new name, or now and then one that is used already."""
        self.made += 0 if self.chance(1, 4) else 1
        return f"{letter}{self.made}"

    def write(self, kind: str, scope: Scope, depth: int = 0) -> str:
        """An expression of a type."""
        if depth >= 2 or self.chance(2, 5):
            own = scope.values.get(kind, ())
            return self.pick(own) if own and self.chance(1, 2) else self.pick(LEAVES[kind])
        return f"({self.fill(self.pick(RULES[kind]), scope, depth + 1)})"

    def fill(self, rule: str, scope: Scope, depth: int) -> str:
        """A rule, its places filled."""
        made, rest = "", rule.replace("{{", "\x01").replace("}}}", "}\x02").replace("}}", "\x02")
        while "{" in rest:
            before, _, after = rest.partition("{")
            kind, _, rest = after.partition("}")
            made += before + self.write(kind, scope, depth)
        return (made + rest).replace("\x01", "{").replace("\x02", "}")

    def anything(self, scope: Scope) -> str:
        return self.write(self.pick(("N", "T", "T", "NL", "TL", "B", "D")), scope)

    def tag(self, words: str) -> str:
        """A statement tag, with white space signs now and then."""
        begin = self.pick(("{%", "{%", "{%", "{%", "{%-", "{%+"))
        end = self.pick(("%}", "%}", "%}", "%}\n", "-%}", "+%}\n"))
        return f"{begin} {words} {end}"

    def output(self, expression: str) -> str:
        return self.pick(("{{ %s }}", "{{ %s }}", "{{%s}}", "{{- %s }}", "{{ %s -}}", "{{ %s }}\n")) % (expression,)

    def body(self, scope: Scope) -> str:
        """Some statements and text; what they set stays inside."""
        parts = []
        for _ in range(self.draw(_below(3)) + 1):
            part, scope = self.statement(scope)
            parts.append(part)
        return "".join(parts)

    def statement(self, scope: Scope) -> tuple[str, Scope]:
        """One statement, and the names after it."""
        if self.chance(1, 5):
            return self.pick(_PIECES), scope
        if scope.depth >= 3 or self.chance(1, 3):
            return self.output(self.loop_part(scope) if scope.loops and self.chance(1, 2) else self.anything(scope)), scope
        return self.pick(_STATEMENTS)(self, scope)

    def loop_part(self, scope: Scope) -> str:
        return self.pick(_LOOP_PARTS).replace("{V}", self.write(self.pick(("N", "T")), scope, 2))


def _inner(scope: Scope) -> Scope:
    return replace(scope, depth=scope.depth + 1)


def _if(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    inner = _inner(scope)
    parts = [writer.tag(f"if {writer.write('B', scope)}"), writer.body(inner)]
    if writer.chance(1, 3):
        parts += [writer.tag(f"elif {writer.write('B', scope)}"), writer.body(inner)]
    if writer.chance(1, 2):
        parts += [writer.tag("else"), writer.body(inner)]
    return "".join([*parts, writer.tag("endif")]), scope


def _for(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    target, kind, bound, over = writer.pick(_LOOPS)
    names = [writer.fresh("e") for _ in bound]
    inner = replace(_inner(scope), loops=True)
    for name, one in zip(names, bound, strict=True):
        inner = inner.binding(one, f"{name}.age" if target == "person" else name)
    where = f" if {writer.write('B', replace(inner, loops=False), 1)}" if writer.chance(1, 4) else ""
    source = over.replace("@", writer.write(kind, scope, 1))
    parts = [writer.tag(f"for {', '.join(names)} in {source}{where}"), writer.output(writer.loop_part(inner)), writer.body(inner)]
    if writer.chance(1, 4):
        parts += [writer.tag("else"), writer.body(_inner(scope))]
    return "".join([*parts, writer.tag("endfor")]), scope


_LOOPS = (
    ("one", "NL", ("N",), "@"), ("one", "NL", ("N",), "@"), ("one", "TL", ("T",), "@"), ("one", "T", ("T",), "@ | string"),
    ("person", "P", ("N",), "@"), ("two", "D", ("T", "A"), "@.items()"), ("two", "D", ("T", "A"), "@ | dictsort"),
    ("one", "D", ("T",), "@"), ("one", "NL", ("N",), "@ | select('odd')"), ("one", "TL", ("T",), "@ | map('upper')"),
    ("two", "NL", ("N", "N"), "@ | batch(2, 0)"), ("one", "N", ("N",), "range(@ | int % 4)"),
    ("two", "P", ("N", "P"), "@ | groupby('age')"),
)  # fmt: skip


def _set(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    kind = writer.pick(("N", "T", "NL", "TL", "B", "D", "P"))
    own = tuple(name for name in scope.values.get(kind, ()) if name.isidentifier())
    name = (
        writer.pick(own)
        if own and writer.chance(1, 3)
        else writer.fresh({"N": "n", "T": "t", "NL": "ns", "TL": "ts", "B": "b", "D": "d", "P": "p"}[kind])
    )
    return writer.tag(f"set {name} = {writer.write(kind, scope)}"), scope.binding(kind, name)


def _set_two(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    first, second = writer.fresh("n"), writer.fresh("n") + "_"
    return writer.tag(f"set {first}, {second} = {writer.write('N', scope)}, {writer.write('N', scope)}"), scope.binding("N", first, second)


def _capture(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    name = writer.fresh("t")
    through = writer.pick(("", "", " | upper", " | trim | replace('a', 'A')"))
    return writer.tag(f"set {name}{through}") + writer.body(_inner(scope)) + writer.tag("endset"), scope.binding("T", name)


def _namespace(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    name = writer.fresh("space")
    begin = writer.tag(f"set {name} = namespace(n={writer.write('N', scope)}, t={writer.write('T', scope)}, l=[])")
    inner = scope.binding("N", f"{name}.n").binding("T", f"{name}.t").binding("TL", f"{name}.l")
    loop = writer.tag(f"for step in {writer.write('NL', scope)}")
    change = writer.pick(("n = {N}", "n = @.n + step", "t = @.t ~ step", "l = @.l + [{T}]", "t = {T}")).replace("@", name)
    change = writer.tag(f"set {name}.{writer.fill(change, inner, 1)}")
    if scope.files and writer.chance(1, 3):
        change = writer.tag(f"with shared = {name}") + writer.tag("include 'gives.j2'") + writer.tag("endwith")
    return begin + loop + change + writer.body(_inner(inner)) + writer.tag("endfor") + writer.output(
        f"{name}.{writer.pick(('n', 't', 'l'))}"
    ), inner


def _macro(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    name = writer.fresh("m")
    default = writer.write("T", scope, 1)
    inner = replace(_inner(scope), loops=False).binding("N", "a").binding("T", "b")
    begin = writer.tag(f"macro {name}(a, b={default})")
    extra = writer.pick(("", "", "{{ varargs | length }}", "{{ kwargs | list }}", "{{ caller() if caller is defined else '-' }}"))
    recur = writer.pick(("", "", f"{{% if a | int is gt 0 and a | int is lt 9 %}}{{{{ {name}(a | int - 3) }}}}{{% endif %}}"))
    after = replace(scope, macros=(*scope.macros, name))
    return begin + "{{ a }}{{ b }}" + extra + recur + writer.body(inner) + writer.tag("endmacro") + writer.output(
        _write_call(writer, name, after)
    ), after


def _write_call(writer: Writer, name: str, scope: Scope) -> str:
    a, b = writer.write("N", scope, 1), writer.write("T", scope, 1)
    return writer.pick(
        (
            f"{name}({a})",
            f"{name}({a}, {b})",
            f"{name}(b={b}, a={a})",
            f"{name}(*[{a}], **{{'b': {b}}})",
            f"{name}({a}, b={b})",
            f"{name}({a}) | upper",
        )
    )


def _call(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    if scope.macros and writer.chance(1, 2):
        return writer.output(_write_call(writer, writer.pick(scope.macros), scope)), scope
    name = writer.fresh("w")
    inside = _inner(scope)
    macro = (
        writer.tag(f"macro {name}(k)")
        + "("
        + writer.output("caller(k)")
        + writer.pick(("", "{{ caller(2) }}"))
        + ")"
        + writer.tag("endmacro")
    )
    block = (
        writer.tag(f"call(v) {name}({writer.write('N', scope)})")
        + "{{ v }}"
        + writer.body(inside.binding("N", "v"))
        + writer.tag("endcall")
    )
    return macro + block, scope


def _with(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    number, text = writer.fresh("n"), writer.fresh("t")
    begin = writer.tag(f"with {number} = {writer.write('N', scope)}, {text} = {writer.write('T', scope)}")
    return begin + writer.body(_inner(scope).binding("N", number).binding("T", text)) + writer.tag("endwith"), scope


def _filter(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    through = writer.pick(("upper", "trim", "indent(2)", "replace('a', 'o') | title", "e", "center(9)", "wordwrap(12)", "truncate(12)"))
    return writer.tag(f"filter {through}") + writer.body(_inner(scope)) + writer.tag("endfilter"), scope


def _raw(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    return writer.pick(
        ("{% raw %}{{ raw }}{% endraw %}", "{# comment #}", "{#- c -#}\n", "{% raw -%}\n {% x %}\n{%- endraw %}", "{# a\nb #}\n")
    ), scope


def _include(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    if not scope.files:
        return writer.output(writer.anything(scope)), scope
    choice = f"'part.j2' if {writer.write('B', scope, 1)} else 'other.j2'"
    return writer.tag(
        "include " + writer.pick(("'part.j2'", "'part.j2'", "'other.j2'", choice, "'alone.j2' without context", "'part.j2' with context"))
    ), scope


def _import(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    if not scope.files:
        return writer.output(writer.anything(scope)), scope
    context = writer.pick(("", "", " with context", " without context"))
    if writer.chance(1, 2):
        name = writer.fresh("mod")
        return writer.tag(f"import 'macros.j2' as {name}{context}") + writer.output(
            f"{name}.known ~ {_write_call(writer, name + '.tag', scope)}"
        ), scope.binding("T", f"{name}.known")
    return writer.tag(f"from 'macros.j2' import tag as label, known{context}") + writer.output(
        _write_call(writer, "label", scope)
    ), scope.binding("T", "known")


def _cycle(writer: Writer, scope: Scope) -> tuple[str, Scope]:
    name = writer.fresh("c")
    if writer.chance(1, 2):
        return writer.tag(
            f"set {name} = cycler({writer.write('N', scope, 1)}, {writer.write('T', scope, 1)})"
        ) + f"{{{{ {name}.next() }}}}{{{{ {name}.next() }}}}{{{{ {name}.current }}}}", scope
    return writer.tag(f"set {name} = joiner('; ')") + f"{{{{ {name}() }}}}a{{{{ {name}() }}}}b", scope


_Statement = Callable[[Writer, Scope], tuple[str, Scope]]
_STATEMENTS: tuple[_Statement, ...] = (
    _if,
    _if,
    _for,
    _for,
    _for,
    _set,
    _set,
    _set_two,
    _capture,
    _namespace,
    _macro,
    _macro,
    _call,
    _with,
    _filter,
    _raw,
    _include,
    _import,
    _cycle,
)


@st.composite
def templates(draw: Draw[Any]) -> Drawn:
    """A template that mostly renders with `NAMES`, and its files."""
    writer = Writer(draw)
    plain = Scope({}, depth=1)
    files = {
        "part.j2": writer.body(plain),
        "other.j2": writer.body(replace(plain, depth=2)) + "{{ n1 | default('-') }}{{ e1 | default('-') }}",
        "alone.j2": "{% set own = 3 %}{{ own * 2 }}{% for i in [1, 2] %}{{ i }}{% endfor %}",
        "gives.j2": "{% set shared.n = shared.n * 2 %}{% set shared.t %}{{ shared.t }}{{ step }}{% endset %}",
        "macros.j2": "{% macro tag(a, b='tag') %}[{{ a }}{{ b }}]{% endmacro %}{% set known = 'known' %}{% set _own = 1 %}",
    }
    scope = Scope({}, files=tuple(files))
    if writer.chance(1, 6):
        return _draw_child(writer, scope, files)
    return Drawn("".join(_draw_top(writer, scope)), files)


def _draw_top(writer: Writer, scope: Scope) -> list[str]:
    parts = []
    for number in range(writer.draw(_below(4)) + 1):
        part, scope = writer.statement(scope)
        parts.append(part)
        if writer.chance(1, 12):
            parts.append(f"{{% block own{number} %}}{writer.body(Scope({}, depth=2))}{{% endblock %}}{{{{ self.own{number}() }}}}")
    return parts


def _draw_child(writer: Writer, scope: Scope, files: dict[str, str]) -> Drawn:
    """A child of `base.j2`, now and then by way of `middle.j2`."""
    alone = Scope({}, depth=2)
    inner_b = "{% for i in [1, 2] %}{% block b scoped %}b{{ i }}{% endblock %}{% endfor %}"
    files["base.j2"] = f"head\n{{% block a %}}{writer.body(alone)}{{% endblock %}}|{inner_b}\nfoot{writer.body(alone)}"
    files["middle.j2"] = f"{{% extends 'base.j2' %}}{{% block a %}}middle {{{{ super() }}}}{writer.body(alone)}{{% endblock %}}"
    above = writer.pick(("'base.j2'", "'middle.j2'", f"'base.j2' if {writer.write('B', alone, 1)} else 'middle.j2'"))
    setting, inner = _set(writer, scope)
    tail = writer.pick(("{{ super() }}", "", "{{ super() | upper }}", "{{ self.b is defined }}"))
    block_a = f"{{% block a %}}{writer.body(replace(inner, depth=1))}{tail}{{% endblock %}}"
    block_b = f"{{% block b %}}<{{{{ i }}}}{writer.body(alone)}{{{{ super() }}}}>{{% endblock %}}" if writer.chance(1, 2) else ""
    lost = writer.pick(("", "lost", "{{ x }}", "{% for i in [1] %}lost{% endfor %}"))
    return Drawn(f"{{% extends {above} %}}{setting}{lost}{block_a}{block_b}", files)
