"""Paths against the state's schema: what a text reads of the state, or of an item, must be something a valid state can have."""

import re
from collections.abc import Iterator, Sequence

from promptc.check.fold import fold_looks
from promptc.check.looks import Look
from promptc.check.sources import find_source
from promptc.check.state_shape import Missing, StateShape
from promptc.check.texts import Text, find_place, is_included, is_tested, iter_texts
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.suggest import suggest
from promptc.model.pack import Pack


def check_state_paths(pack: Pack, looks: Sequence[Look]) -> Iterator[Diagnostic]:
    """An error for a path that no state has which the schema allows; a warning for one that is allowed and looks like a slip of the pen."""
    if pack.schema is None:
        return iter(())
    shape = StateShape(pack.schema)
    return fold_looks(looks, lambda look: _iter_look(pack, look, shape))


def _iter_look(pack: Pack, look: Look, shape: StateShape) -> Iterator[Diagnostic]:
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        for path in sorted(text.code.reads):
            if path[0] not in text.names or len(path) < 2:
                continue
            if path[0] == "state":
                yield from _judge(text, path, shape, None)
            elif path[0] == "item" and text.section is not None:
                source = find_source(text.section)
                element = shape.find_element(source) if source is not None else None
                if element is not None:
                    yield from _judge(text, path, shape, element)


def _judge(text: Text, path: tuple[str, ...], shape: StateShape, within: object) -> Iterator[Diagnostic]:
    missing = shape.find_missing(path[1:], within)
    if missing is not None:
        yield _report(text, path, missing)
        return
    undeclared = shape.find_undeclared(path[1:], within)
    if undeclared is None:
        return
    near, read = suggest(path[undeclared.place + 1], undeclared.known), path[: undeclared.place + 2]
    if near.startswith("did you mean") and not is_tested(text, read):
        message = f"{text.what} reads `{_spell(read)}`, which the schema allows but does not declare"
        yield Diagnostic("PC0636", message, find_place(text, read), near, "warn")


def _report(text: Text, path: tuple[str, ...], missing: Missing) -> Diagnostic:
    read = path[: missing.place + 2]
    where = " in a file that it includes" if is_included(text, read) else ""
    span = find_place(text, read)
    owner = _spell(read[:-1])
    if missing.kind:
        message = f"{text.what} reads `{_spell(read)}`{where}, and by the schema `{owner}` is {missing.kind}"
        return Diagnostic("PC0635", message, span, "correct the path, or the schema")
    message = f"{text.what} reads `{_spell(read)}`{where}, which the schema does not allow"
    return Diagnostic("PC0635", message, span, suggest(read[-1], missing.known) or f"declare it under `{owner}` in the schema")


def _spell(path: Sequence[str]) -> str:
    first, *rest = path
    return first + "".join(f".{part}" if re.fullmatch(r"\w+", part) else f"[{part!r}]" for part in rest)
