"""Labels of a band that no valid state gives."""

from collections.abc import Iterator, Sequence

from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic
from promptc.model.pack import Band, Let, PackModel
from promptc.model.state import Node
from promptc.template.types.types import NumberType, Type, list_members


def check_bands(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Labels that begin over the greatest value which the schema lets the band's number have, or end below the least."""
    bands = {id(let.value.value): (let, let.value) for let in pack.lets if isinstance(let.value, Band)}
    if not bands or not looks or pack.schema is None:
        return
    scopes = Scopes(pack)
    for text in iter_texts(pack, looks[0].plan, 1):
        let, band = bands.pop(id(text.code), (None, None))
        kind = scopes.find(text).kind if let is not None else None
        if let is not None and band is not None and kind is not None:
            yield from _iter_idle(pack, let, band, kind)


def _iter_idle(pack: PackModel, let: Let, band: Band, kind: Type) -> Iterator[Diagnostic]:
    numbers = [member for member in list_members(kind) if isinstance(member, NumberType)]
    if not numbers or len(numbers) < len(list_members(kind)):
        return
    of = pack.manifest.value["let"].value[let.name].value["of"]
    leasts, mosts = [one.least for one in numbers], [one.most for one in numbers]
    least = None if None in leasts else min(one for one in leasts if one is not None)
    most = None if None in mosts else max(one for one in mosts if one is not None)
    for place, (bound, label) in enumerate(band.bounds):
        ends, after = band.bounds[place + 1] if place + 1 < len(band.bounds) else (None, "")
        if place and most is not None and bound > most:
            yield _describe(let, label, of, f"begins at {of.value[label].raw}, and by the schema the value is at most {most}")
        elif ends is not None and least is not None and ends <= least:
            yield _describe(let, label, of, f"ends below {of.value[after].raw}, and by the schema the value is at least {least}")


def _describe(let: Let, label: str, of: Node, why: str) -> Diagnostic:
    help = "correct the bound, or take the label out with what it selects"
    return Diagnostic("PC0678", f"`{let.name}` is never `{label}`: it {why}", of.key_span(label), help, "warn")
