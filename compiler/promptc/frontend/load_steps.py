"""Steps out of a manifest: a ladder, the `truncate` list, a tier's `do`."""

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.frontend.read_budget import read_ratio, read_size
from promptc.frontend.texts import TextCompiler
from promptc.model.section import Continue, Drop, Evict, Fail, Lower, Ratio, Recap, Replace, Shorten, Step, Trim, Use
from promptc.model.state import Node

_Fields = dict[str, Any]


def load_ladder(node: Node, section: str, compiler: TextCompiler) -> tuple[Step, ...]:
    """A section's `overflow`."""
    return tuple(_load_step(step, section, f"{section}.overflow[{place}]", compiler) for place, step in enumerate(node.value))


def load_steps(node: Node, label: str, compiler: TextCompiler) -> tuple[Step, ...]:
    """Steps that name their section: `truncate`, or a tier's `do`."""
    return tuple(_load_step(step, "", f"{label}[{place}]", compiler) for place, step in enumerate(node.value))


def _load_step(node: Node, section: str, label: str, compiler: TextCompiler) -> Step:
    if isinstance(node.value, str):
        return Continue(node.value, label, node.span)
    name, body = next(iter(node.value.items()))
    if name == "use":
        return Use(section, label, node.key_span(name), str(body.value))
    where = body.get("section")
    fields = {"section": str(where.value) if where is not None else section, "label": label, "span": node.key_span(name)}
    step: Step = _LOADERS[name](body, fields, compiler)
    return step


def _load_trim(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    to, floor = body.get("to"), body.get("floor")
    return Trim(
        **fields,
        **_ranking(body, compiler),
        at=_text(body, "at", "sentence"),
        side=_text(body, "from", "end"),
        to=read_size(to) if to else None,
        floor=read_size(floor) if floor else None,
        marker=compiler.find_inline(body.get("marker")),
        warn=_flag(body, "warn"),
    )


def _load_evict(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    return Evict(
        **fields,
        **_ranking(body, compiler),
        whole=_text(body, "whole", "item"),
        step=_number(body, "step", 1),
        floor=_number(body, "floor", 0),
        marker=compiler.find_inline(body.get("marker")),
        warn=_flag(body, "warn"),
    )


def _load_shorten(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    return Shorten(**fields, **_ranking(body, compiler))


def _load_lower(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    return Lower(**fields, by=compiler.expression(body.value["by"]), floor=_number(body, "floor", 0))


def _load_recap(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    older = body.get("older")
    return Recap(
        **fields,
        template=compiler.file(body.value["template"]),
        older=read_ratio(older) if older else Ratio(1),
        where=compiler.find_expression(body.get("where")),
    )


def _load_replace(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    return Replace(**fields, template=compiler.file(body.value["template"]))


def _load_drop(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    return Drop(**fields)


def _load_fail(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    return Fail(**fields)


_LOADERS: dict[str, Callable[[Node, _Fields, TextCompiler], Step]] = {
    "trim": _load_trim,
    "evict": _load_evict,
    "shorten": _load_shorten,
    "lower": _load_lower,
    "recap": _load_recap,
    "replace": _load_replace,
    "drop": _load_drop,
    "fail": _load_fail,
}


def _ranking(body: Node, compiler: TextCompiler) -> _Fields:
    order = body.get("order")
    classes = tuple(compiler.expression(one) for one in order.value) if order else ()
    return {"order": classes, "by": compiler.find_expression(body.get("by"))}


def _text(body: Node, key: str, default: str) -> Any:
    node = body.get(key)
    return str(node.value) if node is not None else default


def _number(body: Node, key: str, default: int) -> int:
    node = body.get(key)
    return int(node.value) if node is not None else default


def _flag(body: Node, key: str) -> bool:
    node = body.get(key)
    return bool(node.value) if node is not None else False
