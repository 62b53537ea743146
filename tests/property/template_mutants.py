"""Templates with a few of their tokens put elsewhere, doubled, left out or taken from another: near what authors write."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

import yaml

from tests.contract.sources import ROOT

_TOKEN = re.compile(r"\{%[-+]?|[-+]?%\}|\{\{[-+]?|[-+]?\}\}|'[^'\n]*'|\"[^\"\n]*\"|\d+\.?\d*|[^\W\d]\w*|[ \t]+|\n|.", re.S)
_ODD = (
    ": , [ ] ( ) { } | ~ * ** // - + = == != < in is not and or if else . .x [1:2] [:,1] [1:2,3] (1,2) {'a':1} [] '' none true loop "
    "caller() super() self varargs kwargs namespace() ns.x range(3) joiner() cycler(1) {% endif %} {% else %} {% endfor %} {{ }} {% set %} "
    "{% raw %} {% endraw %} {# #} | map('upper') | list | first is defined recursive ignore missing with context import as "
    "{% block b %}{% endblock %} {% macro m(a,b=1) %}{% endmacro %} {% call m() %}{% endcall %} {% filter upper %}{% endfilter %} "
    "{% with a=1 %}{% endwith %} {% include 'a.j2' %} {% extends 'a.j2' %} {% from 'a.j2' import m %}"
).split(" ")


@cache
def list_templates() -> tuple[str, ...]:
    """Every template of the packs and the fixtures, and every text of their manifests that holds one."""
    folders = (ROOT / "packs", ROOT / "fixtures")
    found = {path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.j2") if path.is_file()}
    for path in (one for folder in folders for one in folder.rglob("*.yaml") if one.is_file()):
        try:
            found.update(text for text in _iter_texts(yaml.safe_load(path.read_bytes())) if "{{" in text or "{%" in text)
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
    return tuple(sorted(text for text in found if len(text) < 20_000))


def _iter_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _iter_texts(part)


def mutate(random: Random, templates: Sequence[str]) -> str:
    """One of the templates, or a part of it, changed in one or two places."""
    tokens = _TOKEN.findall(random.choice(templates))
    if len(tokens) > 120:
        start = random.randrange(len(tokens) - 100)
        tokens = tokens[start : start + 100]
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(tokens) + 1)
        match random.randrange(6):
            case 0:
                del tokens[at : at + random.randint(1, 3)]
            case 1:
                tokens[at:at] = tokens[at : at + random.randint(1, 6)]
            case 2:
                tokens[at : at + 1] = [random.choice(_ODD)]
            case 3:
                tokens.insert(at, random.choice(_ODD))
            case 4:
                other = _TOKEN.findall(random.choice(templates))
                begin = random.randrange(len(other) + 1)
                tokens[at:at] = other[begin : begin + random.randint(1, 12)]
            case _:
                there = random.randrange(len(tokens) + 1)
                moved = tokens[at : at + 2]
                del tokens[at : at + 2]
                tokens[there:there] = moved
    return "".join(tokens)
