"""The words for a name that is not there, or not yet: what defines it, or where it is."""

from collections.abc import Sequence

from promptc.check.texts import Names, UsedText
from promptc.diag.findings import Diagnostic, Span, suggest
from promptc.model.pack import PackModel

_WHERE = {
    "item": "it is there in the items of a section and in steps",
    "this": "it is there in the items of a section and in steps",
    "group": "it is there in the text of an item, in `group.header` and in steps",
    "section": "it is there in sections",
    "selected": "it is there in sections",
    "strain": "it is there in sections and in a tier's `do`: the tier is found after `let`, `asserts` and `select`",
    "variant": "it is there in sections: variants are chosen after `let` and `asserts`",
    "items": "it is there in the templates of `recap` and `replace`",
    "text": "it is there in the templates of `recap` and `replace`",
    "removed": "it is there in the `marker` of `evict` and in the `say` of an operation",
    "before": "it is there in the texts of `strain.watch`",
    "after": "it is there in the texts of `strain.watch`",
    "caller": "it is there in a macro that `{% call %}` calls",
    "super": "it is there in a block that takes the place of another file's block",
    "each": "it is there in sections whose `from` has `segments.each`",
    "args": "it is there in operations, and in the packs of what they ask",
    "answers": "it is there in operations, and in the packs of what they ask",
}


def describe_name(name: str, text: UsedText, pack: PackModel, span: Span) -> Diagnostic:
    """A text reads a name that is not there where it stands."""
    if name in _WHERE:
        help = "did you mean `item.text`?" if name == "text" and "item" in text.names else _WHERE[name]
        return Diagnostic("PC0631", f"{text.what} reads `{name}`, which is not there", span, help)
    if any(let.name == name for let in pack.lets):
        help = "a `let` sees those above it" if text.what.startswith("`let") else "asserts are checked before `let`: write the value out"
        return Diagnostic("PC0631", f"{text.what} reads `{name}`, which is not there yet", span, help)
    return Diagnostic("PC0630", f"{text.what} reads `{name}`, and nothing has that name", span, _suggest_name(name, text.names, pack))


def _suggest_name(name: str, known: Names, pack: PackModel) -> str:
    properties = pack.schema.get("properties", {}) if pack.schema is not None else {}
    if isinstance(properties, dict) and name in properties:
        return f"did you mean `state.{name}`?"
    near = suggest(name, known)
    return near if near.startswith("did you mean") else f"known here: {', '.join(f'`{one}`' for one in known)}"


def describe_part(name: str, part: str, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
    """A text reads a part that one of the compiler's own names does not have there."""
    parts = text.names.get(name) or frozenset()
    if name == "selected":
        return _describe_selected(part, text, order, span)
    if name == "variant":
        known = suggest(part, parts) if parts else "no axis is chosen before it"
        return Diagnostic("PC0632", f"{text.what} reads `variant.{part}`, and there is no such axis", span, known)
    if name == "this" and part in ("id", "tokens", "chars", "form"):
        help = "ids are given after the list is read" if part == "id" else "it is there in steps"
        return Diagnostic("PC0632", f"{text.what} reads `this.{part}`, which is not there yet", span, help)
    return Diagnostic("PC0632", f"{text.what} reads `{name}.{part}`; `{name}` has no `{part}`", span, suggest(part, parts))


def _describe_selected(part: str, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
    if part not in order:
        return Diagnostic("PC0633", f"{text.what} reads `selected.{part}`, which is no section", span, suggest(part, order))
    where = "fences are made before anything is selected" if "`fence`" in text.what else "move it behind that section"
    own = text.section is not None and text.section.id == part
    why = "its own count" if own else f"and `{part}` is selected later"
    return Diagnostic("PC0633", f"{text.what} reads `selected.{part}`, {why}", span, where)
