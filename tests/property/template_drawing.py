"""Random templates of the documented subset, drawn by type so that most of them render."""

from random import Random

NAMES = {
    "state": {
        "name": "Mara",
        "text": "A long evening.\nThe lamp is out,  nobody\tspeaks. \n",
        "n": 7,
        "ratio": 2.5,
        "on": True,
        "off": False,
        "none": None,
        "tags": ["door", "calm", "Calm", "b", "a"],
        "numbers": [3, 1, 2, 2, 10],
        "people": [{"name": "Ana", "age": 30}, {"name": "bert", "age": 25}, {"name": "Cleo", "age": 30}],
        "map": {"a": 1, "b": 2, "c": 3},
        "empty": [],
    },
    "x": 5,
    "word": "lamp-lighter",
}

FILES = {
    "part.j2": "<{{ state.name }}{% if extra is defined %}{{ extra }}{% endif %}>",
    "macros.j2": "{% macro tag(t, n=1) %}[{{ t }}{{ n }}]{% endmacro %}{% set known = 'known' %}",
    "base.j2": "head\n{% block a %}base a{% endblock %}|{% block b %}base b{% endblock %}\nfoot",
}

_NUMBERS = ("state.n", "x", "state.numbers[0]", "state.map.a", "state.people[0].age", "1", "0", "12", "-3", "2.5", "state.ratio", "i")
_TEXTS = ("state.name", "word", "state.text", "'a b'", "''", "state.people[1]['name']", "state.tags[1]", "'ü\\n'", "'<&>'", "t")
_LISTS = ("state.tags", "state.numbers", "[]", "[1, 'a', none]", "range(4) | list", "state.empty", "(1, 2)", "state.map | list", "xs")
_BOOLS = ("state.on", "state.off", "true", "state.none is none", "zz is defined", "state.zz is undefined")


class Drawing:
    """One template a seed. Names `i`, `t`, `xs` are set at its beginning."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.depth = 0

    def template(self) -> str:
        """A whole template; now and then a child of `base.j2`."""
        start = "{% set i = 4 %}{% set t = 'tee' %}{% set xs = ['p', 'q'] %}"
        if self.random.random() < 0.08:
            return f"{{% extends 'base.j2' %}}{start}{{% block a %}}{self.inner()}{{{{ super() }}}}{{% endblock %}}"
        return start + "".join(self.statement() for _ in range(self.random.randint(1, 4)))

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def deeper(self, kind: str, leaves: tuple[str, ...], rules: tuple[str, ...]) -> str:
        """A leaf, or a rule whose `N`, `T`, `L`, `B`, `P` are drawn in turn (number, text, list, truth, people)."""
        if self.depth >= 3 or self.random.random() < 0.35:
            return self.pick(*leaves)
        self.depth += 1
        drawn = "".join(self._fill(part) for part in self.pick(*rules).split("@"))
        self.depth -= 1
        return f"({drawn})" if kind in "NBT" else drawn

    def _fill(self, part: str) -> str:
        kinds = {"N": self.number, "T": self.text, "L": self.list, "B": self.truth, "P": self.people}
        return kinds[part]() if part in kinds else part

    def number(self) -> str:
        rules = (
            "@N@ + @N@", "@N@ - @N@", "@N@ * @N@", "@N@ // 3", "@N@ % 7", "@N@ / 2", "-@N@", "@N@ if @B@ else @N@", "@T@ | length",
            "@L@ | length", "@N@ | abs", "@N@ | int", "@N@ | round(1)", "state.numbers | sum", "state.numbers | max",
            "@P@ | sum(attribute='age')", "@T@ | wordcount", "'12' | int", "@T@ | int(3)", "@T@.find('a')",
            "state.numbers | sort | first", "@N@ | float", "@T@.count('l')", "zz | default(@N@)",
        )  # fmt: skip
        return self.deeper("N", _NUMBERS, rules)

    def text(self) -> str:
        rules = (
            "@T@ ~ @N@", "@T@ ~ @T@ ~ @L@", "@T@ + @T@", "@T@ * 2", "@T@ if @B@ else @T@", "@T@ | upper", "@T@ | title",
            "@T@ | trim", "@L@ | join('-')", "@T@ | replace('a', @T@)", "@T@ | truncate(9)", "@T@ | truncate(8, true, '')",
            "@T@ | indent(2)", "@T@ | center(12)", "@N@ | string", "@T@ | capitalize", "@T@[1:4]", "@T@[::-1]", "@T@.upper()",
            "@T@.strip()", "@T@.replace('l', 'L', 1)", "@T@ | striptags", "@T@ | wordwrap(8)", "@T@ | urlencode",
            "'%s|%s' | format(@N@, @T@)", "'%05d' % i", "@T@ | default('x', true)", "@T@ | reverse", "@L@ | first | string",
            "@P@ | map(attribute='name') | join(', ')", "@T@.split() | join('+')", "{'k': @T@, 'n': @N@} | dictsort | string",
        )  # fmt: skip
        return self.deeper("T", _TEXTS, rules)

    def list(self) -> str:
        rules = (
            "@L@ | reverse | list", "@L@ + @L@", "@L@[1:]", "@L@[::2]", "state.tags | sort", "state.tags | unique | list",
            "@L@ | map('string') | list", "state.numbers | select('odd') | list", "state.numbers | reject('gt', 2) | list",
            "@P@ | map(attribute='name') | list", "[@N@, @T@]", "@L@ | batch(2) | list", "@L@ | slice(2) | list",
            "state.map.items() | list", "state.map | dictsort", "@T@ | list", "@L@ * 2", "(@L@ if @B@ else @L@)",
            "state.numbers | sort(reverse=true)", "@P@ | groupby('age') | map(attribute='grouper') | list",
        )  # fmt: skip
        return self.deeper("L", _LISTS, rules)

    def people(self) -> str:
        rules = (
            "@P@ | selectattr('age', 'gt', 26) | list", "@P@ | rejectattr('name', 'eq', 'Ana') | list",
            "@P@ | sort(attribute='name')", "@P@ | sort(attribute='age,name', reverse=true)", "@P@[:2]",
            "@P@ | unique(attribute='age') | list",
        )  # fmt: skip
        return self.deeper("P", ("state.people", "state.people | list"), rules)

    def truth(self) -> str:
        rules = (
            "@N@ < @N@", "@N@ == @N@", "@T@ == @T@", "@T@ in state.tags", "@N@ not in state.numbers", "not @B@", "@B@ and @B@",
            "@B@ or @B@", "@N@ is odd", "@T@ is string", "@L@ == @L@", "@N@ is divisibleby 3", "@T@ is lower", "1 <= @N@ < 9",
            "@T@ != @T@", "@N@ is in state.numbers", "@L@ is sequence", "'a' in @T@", "@T@.startswith('a')", "@N@ is ge(3)",
        )  # fmt: skip
        return self.deeper("B", _BOOLS, rules)

    def expression(self) -> str:
        return self.pick(self.number(), self.text(), self.list(), self.truth())

    def inner(self) -> str:
        """What stands inside a statement."""
        return self.pick("text", "\n", f"{{{{ {self.expression()} }}}}", self.statement() if self.depth < 2 else "x")

    def statement(self) -> str:
        self.depth += 1
        body, other, truth, items = self.inner(), self.inner(), self.truth(), self.list()
        text, number = self.text(), self.number()
        self.depth -= 1
        return self.pick(
            f"{{{{ {self.expression()} }}}}",
            f"{{% if {truth} %}}{body}{{% else %}}{other}{{% endif %}}\n",
            f"  {{% if {truth} %}}\n  {body}\n  {{% elif {number} > 3 %}}{other}\n{{% endif %}}",
            f"{{% for e in {items} %}}{{{{ e }}}}{{{{ loop.index }}}}{{{{ '-' if not loop.last }}}}{body}{{% else %}}{other}{{% endfor %}}",
            f"{{% for p in {self.people()} if p.age > 26 %}}{{{{ p.name }}}}{{% set i = loop.revindex %}}{{{{ i }}}}{{% endfor %}}",
            f"{{% for k, v in state.map.items() %}}{{{{ k }}}}{{{{ v }}}}{{{{ loop.cycle('-', '+') }}}}{body}{{% endfor %}}",
            f"{{% set i = {number} %}}{{{{ i }}}}",
            f"{{{{ {text} | e }}}}{{{{ {items} | tojson }}}}",
            f"{{% set t %}}{body}{{% endset %}}{{{{ t | upper }}}}",
            f"{{% set ns = namespace(n={number}) %}}{{% for e in {items} %}}{{% set ns.n = ns.n + 1 %}}{{% endfor %}}{{{{ ns.n }}}}",
            f"{{% macro m(a, b={text}) %}}{{{{ a }}}}{{{{ b }}}}{body}{{% endmacro %}}{{{{ m({number}) }}}}{{{{ m({text}, b=1) }}}}",
            f"{{% macro w() %}}({{{{ caller() }}}}){{% endmacro %}}{{% call w() %}}{body}{{% endcall %}}",
            f"{{% with i = {number}, q = {text} %}}{{{{ i }}}}{{{{ q }}}}{body}{{% endwith %}}",
            f"{{% filter trim | upper %}} {body} {{% endfilter %}}",
            "{% set extra = i %}{% include 'part.j2' %}",
            "{% include 'part.j2' without context %}" if self.depth < 0 else "{% include 'part.j2' %}",
            f"{{% import 'macros.j2' as mac %}}{{{{ mac.tag({text}) }}}}{{{{ mac.known }}}}",
            f"{{% from 'macros.j2' import tag with context %}}{{{{ tag({number}, n={number}) }}}}",
            "{% raw %}{{ raw }}{% endraw %}{# comment #}",
            f"{{%- if {truth} -%}} {body} {{%- endif %}} z",
        )
