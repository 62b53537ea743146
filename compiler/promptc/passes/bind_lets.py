"""The values of `let`."""

from collections.abc import Mapping

from promptc.diag.findings import fail
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.pack import Assign, Band, Let, PackModel
from promptc.passes.scope import find_whole


def bind_lets(pack: PackModel, names: Mapping[str, Any]) -> dict[str, Any]:
    """`names`, which hold the state, and those of `let`, each of which sees the earlier ones. Raises `PromptcError` for what cannot be
    evaluated.
    """
    bound = dict(names)
    for let in pack.lets:
        bound[let.name] = _evaluate_let(let, bound)
    return bound


def _evaluate_let(let: Let, names: Mapping[str, Any]) -> Any:
    if isinstance(let.value, Band):
        return _find_band(let, let.value, names)
    if isinstance(let.value, Assign):
        return _draw(let, let.value, names)
    return let.value.evaluate(names)


def _find_band(let: Let, band: Band, names: Mapping[str, Any]) -> str:
    number = band.value.evaluate(names)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise fail("PC0504", f"the band `{let.name}` needs a number, not {show_value(number)}", band.value.span)
    label = band.bounds[0][1]
    for bound, name in band.bounds:
        if number >= bound:
            label = name
    return label


def _draw(let: Let, assign: Assign, names: Mapping[str, Any]) -> str:
    given = assign.value.evaluate(names)
    key = given if isinstance(given, str) else find_whole(given)
    if key is None:
        what = f"the assignment `{let.name}` needs a text or a whole number as its id, not {show_value(given)}"
        raise fail("PC0505", what, assign.value.span)
    from hashlib import sha256

    draws = [
        (sha256(f"{let.name}\0{key}\0{label}\0{turn}\0".encode()).digest(), label)
        for label, weight in assign.weights
        for turn in range(1, weight + 1)
    ]
    return max(draws)[1]
