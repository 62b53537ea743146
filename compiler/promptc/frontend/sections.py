"""The `items` of a section out of a manifest."""

from promptc.diag.findings import Diagnostic
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.frontend.load_source import Declared, load_field, load_source
from promptc.frontend.read_budget import read_size
from promptc.frontend.texts import TextCompiler
from promptc.model.section import Dedupe, Fence, Grouping, Items, Limit, LimitPer, Matches, MessageForm, SortKey, TrimEach, Window
from promptc.model.state import Node
from promptc.template.compile import Expression, Template

_ALL_PARTS = ("text",)
_ALL_ROLES = ("user", "assistant")


def load_items(node: Node, declared: Declared, compiler: TextCompiler) -> Items:
    """The compiled pipeline of items that have the shape of the schema. Segments and chunks are called by their own ids unless told."""
    group, limit_per, window = node.get("group"), node.get("limit_per"), node.get("window")
    source, id = load_source(node.value["from"], declared, compiler), node.get("id")
    has_ids = not isinstance(source, Expression)
    return Items(
        span=node.span,
        source=source,
        forms=_load_forms(node, compiler),
        message=_load_message(node.get("message"), compiler),
        id=load_field(node.value["from"], "id", compiler) if id is None and has_ids else compiler.find_expression(id),
        number=compiler.find_expression(node.get("number")),
        where=compiler.find_expression(node.get("where")),
        window=_load_window(window, compiler) if window else None,
        anchors=_load_matches(node.value["anchors"], compiler) if node.get("anchors") else None,
        keep=tuple(_load_matches(one, compiler) for one in _listed(node.get("keep"))),
        dedupe=_load_dedupe(node.get("dedupe"), compiler),
        sort=tuple(_load_sort_key(one, compiler) for one in _listed(node.get("sort"))),
        limit_per=_load_limit_per(limit_per, compiler) if limit_per else None,
        limit=_load_limit(node.get("limit")),
        group=Grouping(compiler.expression(group.value["by"]), compiler.find_inline(group.get("header"))) if group else None,
        tally=compiler.find_expression(node.get("tally")),
        trim_each=_load_trim_each(node.get("trim_each"), compiler),
        fence=_load_item_fence(node.get("fence"), compiler),
    )


def load_fence(node: Node | None, compiler: TextCompiler) -> Fence | None:
    """`{open, close}`, or None for `none`."""
    if node is None or not isinstance(node.value, dict):
        return None
    return Fence(compiler.inline(node.value["open"]), compiler.inline(node.value["close"]), node.span)


def _load_item_fence(node: Node | None, compiler: TextCompiler) -> Fence | None:
    """The fence of each item, which is known by the text it begins with: one that begins with a tag is a finding."""
    fence = load_fence(node, compiler)
    if fence is not None and node is not None:
        for side in ("open", "close"):
            given = node.value[side]
            if str(given.value).lstrip().startswith(("{{", "{%", "{#")):
                what = f"the fence of an item begins with a tag, so that no line of an item can be told from it: {show_value(given.value)}"
                help = "begin it with text of your own: `<note {{ item.id }}>`, not `{{ item.id }}>`"
                compiler.findings.append(Diagnostic("PC0593", what, given.span, help))
    return fence


def _load_forms(node: Node, compiler: TextCompiler) -> tuple[Template, ...]:
    text, template, forms = node.get("text"), node.get("template"), node.get("forms")
    if text is not None:
        return (compiler.inline(text),)
    if template is not None:
        return (compiler.file(template),)
    return tuple(compiler.text_or_file(form) for form in forms.value) if forms is not None else ()


def _load_message(node: Node | None, compiler: TextCompiler) -> MessageForm | None:
    if node is None:
        return None
    parts, roles = node.get("parts"), node.get("roles")
    return MessageForm(
        role=compiler.expression(node.value["role"]),
        content=compiler.expression(node.value["content"]),
        parts=tuple(str(part.value) for part in parts.value) if parts else _ALL_PARTS,
        roles=tuple(str(role.value) for role in roles.value) if roles else _ALL_ROLES,
        span=parts.span if parts else node.span,
    )


def _load_window(node: Node, compiler: TextCompiler) -> Window:
    most, last = node.get("max"), node.value["last"]
    return Window(
        span=node.span,
        last=last.value if type(last.value) is int and last.value >= 0 else compiler.expression(last),
        min=_number(node, "min", 0),
        max=int(most.value) if most else None,
        step=_number(node, "step", 1),
        whole=_text(node, "whole", "item"),
    )


def _load_matches(node: Node, compiler: TextCompiler) -> Matches:
    return Matches(compiler.expression(node.value["where"]), compiler.find_expression(node.get("last")), _number(node, "within", 1000))


def _load_dedupe(node: Node | None, compiler: TextCompiler) -> Dedupe | None:
    if node is None:
        return None
    against, exact = node.get("against"), node.get("exact")
    named: tuple[Node, ...] = against.value if against else ()
    return Dedupe(
        span=node.span,
        by=compiler.expression(node.value["by"]),
        against=tuple(str(one.value) for one in named),
        places=tuple(one.span for one in named),
        keep=_text(node, "keep", "first"),
        exact=bool(exact.value) if exact else False,
    )


def _load_sort_key(node: Node, compiler: TextCompiler) -> SortKey:
    if isinstance(node.value, dict):
        desc = node.get("desc")
        return SortKey(compiler.expression(node.value["by"]), bool(desc.value) if desc else False)
    return SortKey(compiler.expression(node))


def _load_limit_per(node: Node, compiler: TextCompiler) -> LimitPer:
    caps = node.value["caps"]
    places = tuple(caps.key_span(name) for name, _ in caps.items())
    return LimitPer(compiler.expression(node.value["by"]), tuple((name, int(cap.value)) for name, cap in caps.items()), places)


def _load_limit(node: Node | None) -> Limit | None:
    if node is None:
        return None
    last = node.get("last")
    return Limit(last.span, int(last.value), "last") if last is not None else Limit(node.span, int(node.value))


def _load_trim_each(node: Node | None, compiler: TextCompiler) -> TrimEach | None:
    if node is None:
        return None
    to = node.value["to"]
    return TrimEach(to.span, read_size(to), _text(node, "at", "word"), compiler.find_inline(node.get("marker")))


def _listed(node: Node | None) -> tuple[Node, ...]:
    if node is None:
        return ()
    return node.value if isinstance(node.value, tuple) else (node,)


def _text(node: Node, key: str, default: str) -> Any:
    found = node.get(key)
    return str(found.value) if found is not None else default


def _number(node: Node, key: str, default: int) -> int:
    found = node.get(key)
    return int(found.value) if found is not None else default
