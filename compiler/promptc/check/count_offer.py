"""What a plan's tools and response schema take of the total."""

from promptc.model.pack import PackModel, Plan
from promptc.text.json import render_canonical_json


def count_offer(pack: PackModel, plan: Plan) -> tuple[str, int]:
    """What they are called in a finding (nothing where there are none), and their tokens without any provider's overhead."""
    counter = pack.counting.counter
    values = [tool.counted for tool in plan.tools]
    names = ["tools"] if values else []
    if plan.response is not None:
        values.append(dict(plan.response.schema))
        names.append("response")
    return " and ".join(names), sum(-(-counter.measure(render_canonical_json(value)) // counter.unit) for value in values)
