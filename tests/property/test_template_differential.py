"""Templates drawn by type print what Jinja prints; where they do not, a rule of the closed list says why."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings

from tests.property.template_rules import NAMES
from tests.property.template_strategies import Drawn, templates
from tests.unit.template.deviations import compare_both

ALLOWED = {
    "equal", "both fail", "what is no data is not printed", "numbers stay finite", "escaped text is plain",
    "an include without context in a capture", "keys are strings and numbers",
}  # fmt: skip
"""What a drawn template may end in: of the closed list, what the strategies can draw."""


# contract 3.7
@pytest.mark.dear
def test_drawn_templates_print_what_jinja_prints(draws):
    count = draws(20_000)
    outcomes: Counter[str] = Counter()

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(templates())
    def compare(drawn: Drawn) -> None:
        outcome, jinja, ours = compare_both(drawn.text, NAMES, drawn.files)
        assert outcome in ALLOWED, f"{drawn.text!r} with {drawn.files!r}: Jinja {jinja}, promptc {ours}"
        outcomes[outcome] += 1

    compare()
    assert outcomes.total() >= count * 0.9, outcomes
    assert outcomes["equal"] >= outcomes.total() * 0.75, outcomes
    assert outcomes.total() - outcomes["equal"] - outcomes["both fail"] <= outcomes.total() * 0.1, outcomes
