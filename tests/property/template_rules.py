"""The tables the template strategies draw from: names, and expressions by type."""

from typing import Any

NAMES: dict[str, Any] = {
    "state": {
        "name": "Mara",
        "text": "A long evening.\nThe lamp is out,  nobody\tspeaks. \n",
        "unicode": "Straße ǆ İı 東京 👩\u200d👧 e\u0301\u2028z",
        "html": "<b>&\"q\" 'r'</b>",
        "n": 7,
        "ratio": 2.5,
        "minus": -3,
        "big": 12345678901234567890,
        "on": True,
        "off": False,
        "none": None,
        "tags": ["door", "calm", "Calm", "b", "a"],
        "numbers": [3, 1, 2, 2, 10],
        "floats": [1.5, -0.0, 2.0],
        "matrix": [[1, 2], [3, 4], [5, 6]],
        "people": [
            {"name": "Ana", "age": 30, "tags": ["x"]},
            {"name": "bert", "age": 25, "tags": []},
            {"name": "Cleo", "age": 30, "tags": ["y", "x"]},
        ],
        "map": {"b": 2, "a": 1, "c": 3},
        "words": {"x": "ex", "y": "Why"},
        "empty": [],
        "blank": "",
    },
    "x": 5,
    "word": "lamp-lighter",
}

LEAVES = {
    "N": (
        "state.n", "x", "state.numbers[0]", "state.map.a", "state.people[0].age", "1", "0", "12", "-3", "2.5", "state.ratio",
        "state.minus", "state.big",
    ),
    "T": (
        "state.name", "word", "state.text", "'a b'", "''", "state.people[1]['name']", "state.tags[1]", "'ü\\n'", "'<&>'",
        "state.unicode", "state.html", "state.words.x",
    ),
    "NL": (
        "state.numbers", "[1, 2, 3]", "range(4) | list", "state.matrix[1]", "state.map.values() | list", "[x, state.n]", "state.floats",
        "(1, 2)", "[]",
    ),
    "TL": (
        "state.tags", "['p', 'Q', 'p']", "state.map | list", "state.words.values() | list", "['']", "state.empty", "word.split('-')",
        "('a', 'b')",
    ),
    "P": (
        "state.people", "state.people | list",
    ),
    "D": (
        "state.map", "{'a': x}", "state.words", "dict(state.map, z=9)", "{}", "state.people[0]",
    ),
    "B": (
        "state.on", "state.off", "true", "state.none is none", "zz is defined", "state.zz is undefined", "state.empty", "state.name",
    ),
}  # fmt: skip
"""What an expression of a type may be without parts."""

RULES = {
    "N": (
        "{N} + {N}", "{N} - {N}", "{N} * {N}", "{N} // 3", "{N} % 7", "{N} / 2", "-{N}", "{N} if {B} else {N}", "{T} | length", "2 ** 3",
        "{NL} | length", "{TL} | count", "{N} | abs", "{N} | int", "{N} | round(1)", "{N} | round(0, 'floor')", "{NL} | sum",
        "{NL} | max", "{NL} | min", "{P} | sum(attribute='age')", "{T} | wordcount", "'12' | int", "{T} | int(3)", "({T}).find('a')",
        "{NL} | sort | first", "{N} | float", "({T}).count('l')", "zz | default({N})", "{D} | length", "{NL} | last | default(7)",
        "{P} | map(attribute='age') | max", "({NL}).count(2)", "({NL})[1:] | sum", "({D}).get('a', {N}) | int",
        "{NL} | select('odd') | sum",
        "{NL} | sum(start={N})", "{T} | float", "({N}, {N}) | max",
    ),
    "T": (
        "{T} ~ {N}", "{T} ~ {T} ~ {NL}", "{T} + {T}", "{T} * 2", "{T} if {B} else {T}", "{T} if {B}", "{T} | upper", "{T} | title",
        "{T} | trim", "{TL} | join('-')", "{NL} | join(', ')", "{T} | replace('a', {T})", "{T} | replace('l', 'L', 1)",
        "{T} | truncate(9)", "{T} | truncate(8, true, '')", "{T} | indent(2)", "{T} | indent(3, true, true)", "{T} | center(12)",
        "{N} | string", "{T} | capitalize", "({T})[1:4]", "({T})[::-1]", "({T}).upper()", "({T}).strip()", "({T}).replace('l', 'L', 1)",
        "{T} | striptags", "{T} | wordwrap(8)", "{T} | urlencode", "{T} | e", "{NL} | tojson", "{D} | tojson", "'%s-%s' % ({T}, {N})",
        "'%s' | format({T})", "{T} | lower", "{T} | reverse", "{TL} | first | default('none')", "{N} | filesizeformat",
        "{P} | map(attribute='name') | join('/')", "({T}).title()", "({T}).center(9, '.')", "({T}).ljust(6) ~ '|'",
        "{T} | default('d', true)",
        "({T}).swapcase()", "({T}).split() | join('_')", "({T}).partition('a')[0]", "{TL} | map('upper') | join", "{D} | join",
        "{T} | trim('aA ')", "({T}).zfill(8)", "({T}).removeprefix('a')", "{P} | join(';', attribute='name')", "({T}).casefold()",
        "({T}).expandtabs(4)", "{N} ~ ''", "({T}).splitlines() | join('|')", "{TL} | last | default({T})",
    ),
    "NL": (
        "{NL} | sort", "{NL} | sort(reverse=true)", "{NL} | unique | list", "{NL} | reverse | list", "{NL} | select('odd') | list",
        "{NL} | reject('gt', 2) | list", "{NL} | map('abs') | list", "({NL})[1:]", "({NL})[::-1]", "[{N}, {N}]", "{NL} | list + [{N}]",
        "{P} | map(attribute='age') | list", "range({N} | int % 5) | list", "{TL} | map('length') | list",
        "{NL} | batch(2) | map('sum') | list", "{NL} | slice(2) | map('length') | list", "state.matrix | sum(start=[])",
        "{NL} | map('int') | select('in', {NL}) | list", "{NL} if {B} else {NL}", "state.matrix | map(attribute=1) | list",
        "{NL} | map('round') | list",
    ),
    "TL": (
        "{TL} | sort", "{TL} | sort(case_sensitive=true)", "{TL} | unique | list", "{TL} | unique(true) | list",
        "{TL} | map('upper') | list", "{TL} | map('replace', 'a', 'o') | list", "({TL})[:2]", "({T}).split()", "{T} | list",
        "{NL} | map('string') | list", "{TL} | reject('in', ['b']) | list", "{P} | map(attribute='name') | list",
        "{P} | selectattr('age', 'gt', 26) | map(attribute='name') | list", "[{T}, {T}]", "{TL} | reverse | list",
        "{TL} | select('lower') | list", "{TL} | batch(2, '-') | map('join', '+') | list", "{D} | list",
        "{D} | dictsort | map('first') | list", "{TL} | map('truncate', 4, true, '') | list",
        "{P} | map(attribute='tags') | sum(start=[])", "({T}).splitlines()", "{TL} | list + {TL} | list",
        "{P} | groupby('age') | map('last') | map('length') | map('string') | list",
    ),
    "P": (
        "{P} | selectattr('age', 'eq', 30) | list", "{P} | rejectattr('tags') | list", "{P} | sort(attribute='name')",
        "{P} | sort(attribute='age,name', reverse=true)", "({P})[1:]", "{P} | unique(attribute='age') | list", "{P} | reverse | list",
        "({P} | groupby('age'))[0].list", "{P} | selectattr('tags') | list",
    ),
    "D": (
        "dict({D}, k={N})", "{{'k': {T}, 'n': {N}}}", "{D} if {B} else {D}", "dict({D} | items)", "dict(k={NL})", "{{{T}: {N}}}",
        "dict({D} | dictsort)",
    ),
    "B": (
        "{N} < {N}", "{N} == {N}", "{T} == {T}", "{T} in {TL}", "{N} not in {NL}", "not {B}", "{B} and {B}", "{B} or {B}",
        "{N} | int is odd", "{T} is string", "{NL} == {NL}", "{N} is divisibleby 3", "{T} is lower", "1 <= {N} < 9", "{T} != {T}",
        "{N} is in {NL} | list", "{TL} is sequence", "'a' in {T}", "({T}).startswith('a')", "{N} is ge(3)", "{D} is mapping", "'a' in {D}",
        "{T} < {T}", "{NL} < {NL}", "{N} is number", "{T} is defined", "({T}).isalpha()", "{N} is float", "{N} == {T}", "{D} == {D}",
        "{T} > 'b' > 'a'", "{N} != {N} == {B}", "{NL} is iterable", "({T} if {B}) is defined",
    ),
}  # fmt: skip
"""What it may be made of: `{N}` a number, `{T}` a text, `{NL}` and `{TL}` lists of them, `{P}` people, `{D}` a mapping, `{B}` a truth."""
