"""Random templates of the subset print what Jinja prints; where they do not, they are refused, for a closed list of reasons."""

import copy
import warnings
from collections import Counter

from jinja2 import DictLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from promptc.diag.errors import PromptcError
from promptc.diag.span import Span
from promptc.template.load_template import load_template
from promptc.template.place import Place
from tests.property.template_drawing import FILES, NAMES, Drawing

PLACE = Place(Span("t.j2", 1, 1), inline=False)
STRICTER = {"PC0413", "PC0416"}
"""What Jinja prints and we refuse: addresses, and numbers no JSON holds."""


def test_random_templates_print_what_jinja_prints(draws, prove_seed):
    count = draws(10_000)
    outcomes = Counter(_compare(Drawing(prove_seed * 1_000_003 + seed).template()) for seed in range(count))
    assert outcomes["equal"] >= count * 0.5, outcomes
    assert set(outcomes) <= {"equal", "both refuse", *STRICTER}, outcomes


def _compare(text: str) -> str:
    names = copy.deepcopy(NAMES)
    expected = _ask_jinja(text)
    try:
        shown = load_template(text, PLACE, load_file=FILES.__getitem__).render(names)
    except PromptcError as error:
        return error.diagnostics[0].code if expected is not None else "both refuse"
    assert expected is not None, f"printed, where Jinja fails: {text!r}"
    assert shown == expected, text
    assert names == NAMES, text
    return "equal"


def _ask_jinja(text: str) -> str | None:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, loader=DictLoader(FILES)
    )
    try:
        with warnings.catch_warnings():
            # Jinja writes `1[...]`, and Python says what it thinks of it; ours does not write that.
            warnings.simplefilter("ignore", SyntaxWarning)
            return environment.from_string(text).render(copy.deepcopy(NAMES))
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        return None
