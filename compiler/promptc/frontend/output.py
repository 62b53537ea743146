"""The `output` of an effective manifest: fences, guard, and which sections share a message."""

from collections.abc import Sequence
from itertools import groupby

from promptc.diag.findings import Diagnostic, suggest
from promptc.diag.typed import Any
from promptc.frontend.sections import load_fence
from promptc.frontend.texts import TextCompiler
from promptc.model.pack import Guarding, MessagePlan, Output
from promptc.model.section import Fence, Section
from promptc.model.state import Node


def load_shared_fence(manifest: Node, compiler: TextCompiler) -> Fence | None:
    """`output.fence`, which every section without its own takes."""
    output = manifest.get("output")
    return load_fence(output.get("fence"), compiler) if output is not None else None


def load_output(manifest: Node, sections: Sequence[Section], shared_fence: Fence | None, compiler: TextCompiler) -> Output:
    """The output's settings with every section placed in exactly one message plan."""
    node = manifest.get("output")
    if node is None:
        return Output(span=manifest.span, messages=_split_each(_merge_roles(sections), sections))
    separator, warn = node.get("separator"), node.get("warn")
    chars = warn.get("chars") if warn is not None else None
    return Output(
        span=node.span,
        format=_value(node, "format", "text"),
        messages=_split_each(_load_messages(node, sections, compiler), sections),
        fence=shared_fence,
        separator=str(separator.value) if separator is not None else "\n",
        guarding=_load_guarding(node.get("guard")),
        warn_chars=int(chars.value) if chars is not None else None,
        warn_span=chars.span if chars is not None else None,
    )


def _load_guarding(node: Node | None) -> Guarding:
    if node is None:
        return Guarding()
    return Guarding(_value(node, "fences", "escape"), _value(node, "special_tokens", "escape"), _value(node, "invisible", "replace_hidden"))


def _load_messages(node: Node, sections: Sequence[Section], compiler: TextCompiler) -> tuple[MessagePlan, ...]:
    messages = node.get("messages")
    if messages is not None and messages.value == "each":
        return tuple(MessagePlan(section.role, (section.id,)) for section in sections)
    if messages is None or not isinstance(messages.value, tuple):
        return _merge_roles(sections)
    _check_listed(messages, sections, compiler)
    order = {section.id: place for place, section in enumerate(sections)}
    plans = []
    for entry in messages.value:
        named = [str(one.value) for one in entry.value["sections"].value]
        held = sorted((name for name in dict.fromkeys(named) if name in order), key=order.__getitem__)
        plans.append(MessagePlan(entry.value["role"].value, tuple(held)))
    return tuple(plans)


def _check_listed(messages: Node, sections: Sequence[Section], compiler: TextCompiler) -> None:
    known = [section.id for section in sections]
    met: dict[str, Node] = {}
    for entry in messages.value:
        for node in entry.value["sections"].value:
            name = str(node.value)
            if name not in known:
                compiler.findings.append(
                    Diagnostic("PC0248", f"`output.messages` names `{name}`, which is no section", node.span, suggest(name, known))
                )
            elif name in met:
                compiler.findings.append(
                    Diagnostic("PC0249", f"`{name}` stands in two messages; the first is at line {met[name].span.line}", node.span)
                )
            met.setdefault(name, node)
    for name in known:
        if name not in met:
            compiler.findings.append(
                Diagnostic(
                    "PC0250", f"`output.messages` misses the section `{name}`", messages.span, "name every section in exactly one message"
                )
            )


def _merge_roles(sections: Sequence[Section]) -> tuple[MessagePlan, ...]:
    runs = groupby(sections, key=lambda section: section.role)
    return tuple(MessagePlan(role, tuple(section.id for section in run)) for role, run in runs)


def _split_each(plans: Sequence[MessagePlan], sections: Sequence[Section]) -> tuple[MessagePlan, ...]:
    """Sections whose items are messages stand alone; what stood around them in one message becomes two."""
    alone = {section.id for section in sections if section.items is not None and section.items.message is not None}
    split: list[MessagePlan] = []
    for plan in plans:
        for is_alone, run in groupby(plan.sections, key=lambda name: name if name in alone else ""):
            split.append(MessagePlan(plan.role, tuple(run), each=bool(is_alone)))
    return tuple(split)


def _value(node: Node, key: str, default: str) -> Any:
    found = node.get(key)
    return found.value if found is not None else default
