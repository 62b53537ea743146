"""What a trace tells of a drawn template is what it prints, with places that hold what they are said to, and keys that have the value."""

import re
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings

from promptc.diag.findings import PromptcError, Span
from promptc.model.state import Pointers
from promptc.template.compile import Program, Template
from promptc.template.lower.module import load_template
from promptc.template.place import OutputSpan, Place, TraceContext
from promptc.template.tracing import trace_program
from tests.property.template_rules import NAMES
from tests.property.template_strategies import Drawn, templates

_PLAIN = re.compile(r"\{\{[-+]?\s*state(?:\.\w+)+\s*[-+]?\}\}")


def test_a_trace_is_what_is_printed(draws):
    count = draws(4_000)
    met: Counter[str] = Counter()

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(templates())
    def trace(drawn: Drawn) -> None:
        try:
            template = load_template(drawn.text, Place(Span("t.j2", 1, 1), inline=False), load_file=drawn.files.__getitem__)
            text = template.render(NAMES)
        except PromptcError:
            return
        hold(template, text, NAMES, met)

    trace()
    assert met["constant"] > count and met["keys"] > count / 4 and met["plain"] > count / 20, met


def hold(template: Template, text: str, names: dict[str, Any], met: Counter[str]) -> None:
    """Holds a trace against the render."""
    state = {name: value for name, value in names.items() if not name.startswith("__")}
    known = TraceContext(Pointers(state).find, {name: (f"/{name}",) for name in state}, {})
    assert isinstance(template.program, Program)
    made = trace_program(template.program, names, known)
    assert "".join(one.text for one in made) == text
    for one in made:
        met["keys"] += len(one.pointers)
        if not one.code:
            met["constant"] += 1
            assert one.file.startswith(one.text, one.at) and not one.pointers, one
        elif _PLAIN.fullmatch(one.code) and len(one.pointers) == 1:
            _hold_plain(one, state, met)


def _hold_plain(one: OutputSpan, state: dict[str, Any], met: Counter[str]) -> None:
    """What names a key and nothing more prints its value."""
    value = follow(state, one.pointers[0])
    if isinstance(value, str):
        met["plain"] += 1
        assert one.text == value, (one.code, one.text, one.pointers)


def follow(value: Any, pointer: str) -> Any:
    """What a pointer leads to."""
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step.replace("~1", "/").replace("~0", "~")]
    return value
