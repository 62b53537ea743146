"""Whether conditions on an item may hold together."""

from promptc.template.types.conditions import Case, Cases, find_clash, join_cases


def can_both(*cases: Cases) -> bool:
    """True where some alternative of all of them excludes nothing, and does not seek the item in what cannot be told."""
    told = tuple(case for case in join_cases(*cases) if not _is_sought(case))
    return bool(told) and find_clash(told) is None


def _is_sought(case: Case) -> bool:
    return any(demand.operator == "outside" and "item" in demand.names for demand in case)
