"""Loads sections from a manifest (`load_section`): content, items, budget, and the steps that shrink them (`load_steps`).

Manifests must be valid in shape. Other errors, such as a store that is not declared, are added to the compiler's findings. `read_ratio`,
`read_size` and `read_total` read numbers exactly, from their decimal text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path

from promptc.diag.findings import Span, join_names, show_value, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.frontend.texts import TextCompiler
from promptc.model.budget import TotalBudget
from promptc.model.media import MediaForm, MediaTable, make_rule
from promptc.model.section import (
    DEFAULT,
    DEFERRED,
    MICRO,
    SYSTEM_ROLES,
    TOOL_FORMS,
    TOOL_NAME,
    TOOLS,
    Boosting,
    Budget,
    Continue,
    Dedupe,
    Drop,
    Evict,
    Fail,
    Fence,
    Freeze,
    Grouping,
    Items,
    Limit,
    LimitPer,
    Lower,
    Matches,
    MessageForm,
    Pool,
    Ratio,
    Recap,
    Redaction,
    Replace,
    Retrieve,
    Section,
    Segments,
    Shorten,
    Size,
    SortKey,
    Step,
    Tool,
    ToolForms,
    Trim,
    TrimEach,
    Use,
    Window,
    iter_expressions,
)
from promptc.model.state import Node
from promptc.template.compile import Expression, Template, constant_list
from promptc.text.cutting import BOUNDARIES, Boundary, list_boundaries

_LADDERS = ("do", "truncate")
_ALL_PARTS = ("text",)
_ALL_ROLES = ("user", "assistant")
_Fields = dict[str, Any]


def load_section(name: str, node: Node, shared_fence: Fence | None, declared: Declared, compiler: TextCompiler) -> Section:
    """Return the compiled section `name`. `shared_fence` is the output's fence, used if the section has no fence of its own."""
    if name in _LADDERS:
        message = f"a section cannot be called `{name}`: reports use that name for a list of steps"
        compiler.note("PC0246", message, node.span, "give it another id")
    text, items = _load_content(node, declared, compiler)
    own_fence, own_role = node.get("fence"), node.get("role")
    budget, pinned = node.get("budget"), node.flag("pinned")
    as_messages = items is not None and items.message is not None
    fence = load_fence(own_fence, compiler) if own_fence is not None else shared_fence
    section = Section(
        id=name,
        title=node.text("title") or name,
        role=node.text("role", "user" if name == "input" else "system"),
        span=node.span,
        when=compiler.find_expression(node.get("when")),
        pinned=pinned,
        required=node.flag("required"),
        cache=node.flag("cache"),
        header=None if as_messages else compiler.find_inline(node.get("header")),
        budget=_load_budget(name, budget, compiler) if budget is not None else None,
        fence=None if as_messages else fence,
        separator=node.find_text("separator"),
        text=text,
        items=items,
        overflow=_load_overflow(name, node, pinned, items, compiler),
        note=node.text("note"),
        role_span=own_role.span if own_role is not None else None,
        redact=tuple(dict.fromkeys((*declared.redact, *read_rules(node)))),
    )
    return _with_reads(section)


def load_tools(node: Node, files: tuple[Tool, ...], declared: Declared, compiler: TextCompiler) -> Section:
    """Return the section of tools that are items. The items are those of a source, or `files` if the manifest lists tool files."""
    listed = node.value["from"]
    is_listed = isinstance(listed.value, tuple)
    source = replace(listed, value="[]", raw="") if is_listed else listed
    inner = {key: one for key, one in node.items() if key not in ("forms", "when")}
    items = load_items(replace(node, value={**inner, "from": source}), declared, compiler)
    forms = node.texts("forms") or TOOL_FORMS[:1]
    if DEFERRED in forms[:-1]:
        message = f"`deferred` must be the last form: `{forms[-1]}` after it would never be shorter"
        compiler.note(
            "PC0291",
            message,
            node.value["forms"].span,
            f"write `forms: [{', '.join((*(one for one in forms if one != DEFERRED), DEFERRED))}]`",
        )
    whole = compiler.inline(replace(listed, value="{{ item | json }}", raw="", keys={}))
    items = replace(
        items,
        id=items.id if node.get("id") is not None else load_default(listed, TOOL_NAME, compiler),
        source=constant_list([tool.definition for tool in files], compiler.make_place(listed)) if is_listed else items.source,
        forms=(whole,) * len(forms),
        tool=ToolForms(forms, node.span, files if is_listed else None),
    )
    budget, pinned = node.get("budget"), node.flag("pinned")
    section = Section(
        id=TOOLS,
        title=TOOLS,
        role="system",
        span=node.span,
        when=compiler.find_expression(node.get("when")),
        pinned=pinned,
        required=node.flag("required"),
        budget=_load_budget(TOOLS, budget, compiler) if budget is not None else None,
        items=items,
        overflow=_load_overflow(TOOLS, node, pinned, items, compiler),
        note=node.text("note"),
        redact=tuple(dict.fromkeys((*declared.redact, *read_rules(node)))),
    )
    return _with_reads(section)


def _load_content(node: Node, declared: Declared, compiler: TextCompiler) -> tuple[Template | None, Items | None]:
    if node.get("template") is not None:
        return compiler.file(node.value["template"]), None
    if node.get("text") is not None:
        return compiler.inline(node.value["text"]), None
    return None, load_items(node.value["items"], declared, compiler)


def _load_overflow(name: str, node: Node, pinned: bool, items: Items | None, compiler: TextCompiler) -> tuple[Step, ...]:
    overflow = node.get("overflow")
    if overflow is not None:
        return load_ladder(overflow, name, compiler)
    if pinned:
        return ()
    label = f"{name}{DEFAULT}"
    if items is None:
        return (Trim(section=name, label=label, span=node.span, warn=True),)
    source = node.value["items"].value["from"] if node.get("items") is not None else node.value["from"]
    by = load_default(source, "item.score", compiler) if isinstance(items.source, Retrieve) else None
    return (Evict(section=name, label=label, span=node.span, by=by, warn=True),)


def _with_reads(section: Section) -> Section:
    paths = frozenset(path for one in _iter_selecting(section) for path in one.reads)
    return replace(section, reads=paths)


def _iter_selecting(section: Section) -> Iterator[Expression | Template]:
    fence = section.fence
    for one in (section.when, section.header, section.text, fence.open if fence else None, fence.close if fence else None):
        if one is not None:
            yield one
    if section.items is not None:
        yield from _iter_items(section.items)


def _iter_items(items: Items) -> Iterator[Expression | Template]:
    yield from (one for _, one in iter_expressions(items.source))
    yield from items.forms
    yield from (key.by for key in items.sort)
    for matches in (items.anchors, *items.keep):
        if matches is not None:
            yield matches.where
            if matches.last is not None:
                yield matches.last
    optional = (
        items.id, items.number, items.where, items.tally,
        items.freeze.shown if items.freeze else None,
        items.freeze.late if items.freeze else None,
        items.window.last if items.window and not isinstance(items.window.last, int) else None,
        items.dedupe.by if items.dedupe else None,
        items.limit_per.by if items.limit_per else None,
        items.group.by if items.group else None,
        items.group.header if items.group else None,
        items.message.role if items.message else None,
        items.message.content if items.message else None,
        items.message.name if items.message else None,
        items.message.media.tokens if items.message and items.message.media and items.message.passes_media else None,
        items.trim_each.marker if items.trim_each else None,
        items.fence.open if items.fence else None,
        items.fence.close if items.fence else None,
    )  # fmt: skip
    yield from (one for one in optional if one is not None)


def load_items(node: Node, declared: Declared, compiler: TextCompiler) -> Items:
    """Return the compiled pipeline of items, which must have the schema's shape. The default `id` of segments and chunks is their own."""
    group, limit_per, window = node.get("group"), node.get("limit_per"), node.get("window")
    source, id = load_source(node.value["from"], declared, compiler), node.get("id")
    has_ids = not isinstance(source, Expression)
    return Items(
        span=node.span,
        source=source,
        forms=_load_forms(node, compiler),
        message=_load_message(node.get("message"), compiler),
        id=load_default(node.value["from"], "item.id", compiler) if id is None and has_ids else compiler.find_expression(id),
        number=compiler.find_expression(node.get("number")),
        where=compiler.find_expression(node.get("where")),
        window=_load_window(window, compiler) if window else None,
        anchors=_load_matches(node.value["anchors"], compiler) if node.get("anchors") else None,
        keep=tuple(_load_matches(one, compiler) for one in node.list("keep")),
        freeze=_load_freeze(node.get("freeze"), compiler),
        dedupe=_load_dedupe(node.get("dedupe"), compiler),
        sort=tuple(_load_sort_key(one, compiler) for one in node.list("sort")),
        limit_per=_load_limit_per(limit_per, compiler) if limit_per else None,
        limit=_load_limit(node.get("limit")),
        group=Grouping(compiler.expression(group.value["by"]), compiler.find_inline(group.get("header"))) if group else None,
        tally=compiler.find_expression(node.get("tally")),
        trim_each=_load_trim_each(node.get("trim_each"), compiler),
        fence=_load_item_fence(node.get("fence"), compiler),
    )


def load_fence(node: Node | None, compiler: TextCompiler) -> Fence | None:
    """Return the fence `{open, close}`, or None for `none` or an absent key."""
    if node is None or not isinstance(node.value, dict):
        return None
    return Fence(compiler.inline(node.value["open"]), compiler.inline(node.value["close"]), node.span)


def _load_item_fence(node: Node | None, compiler: TextCompiler) -> Fence | None:
    """Return the fence of each item. A fence that begins with a tag is a finding, because any line of an item could pose as it."""
    fence = load_fence(node, compiler)
    if fence is not None and node is not None:
        for side in ("open", "close"):
            given = node.value[side]
            if str(given.value).lstrip().startswith(("{{", "{%", "{#")):
                what = f"the fence of an item begins with a tag, so any line of an item could pose as the fence: {show_value(given.value)}"
                help = "begin it with text of your own: `<note {{ item.id }}>`, not `{{ item.id }}>`"
                compiler.note("PC0593", what, given.span, help)
    return fence


def _load_forms(node: Node, compiler: TextCompiler) -> tuple[Template, ...]:
    text, template = node.get("text"), node.get("template")
    if text is not None:
        return (compiler.inline(text),)
    if template is not None:
        return (compiler.file(template),)
    return tuple(map(compiler.text_or_file, node.list("forms")))


def _load_message(node: Node | None, compiler: TextCompiler) -> MessageForm | None:
    if node is None:
        return None
    parts, media = node.get("parts"), node.get("media")
    written = compiler.list_marked(node.value["role"], SYSTEM_ROLES)
    message = MessageForm(
        role=compiler.expression(node.value["role"]),
        content=compiler.expression(node.value["content"]),
        parts=node.texts("parts") if parts else _ALL_PARTS,
        roles=(*(node.texts("roles") or _ALL_ROLES), *(name for name, _ in written)),
        span=parts.span if parts else node.span,
        written=written,
        name=compiler.find_expression(node.get("name")),
    )
    if media is None and not message.passes_media:
        return message
    return replace(message, media=_load_media(media, message.span, compiler))


def _load_media(node: Node | None, span: Span, compiler: TextCompiler) -> MediaForm:
    """Return what a section says of its media; if it says nothing, the default form with the place `span`.

    A model that the table does not have is a finding.
    """
    table = replace(load_media_table(), own=compiler.load_rules())
    if node is None:
        return MediaForm(span, table)
    model = node.get("model")
    if model is not None and table.find(str(model.value)) is None:
        what = f"the table of {table.as_of} does not say how the model `{model.value}` counts pictures, documents and sounds"
        near = suggest(str(model.value), list(table.iter_models()))
        compiler.note(
            "PC0586",
            what,
            model.span,
            f"name one that counts alike, or give the number of tokens of a part with `tokens`; {near}".rstrip("; "),
        )
    return MediaForm(
        span=node.span,
        table=table,
        model=node.find_text("model"),
        detail=node.find_text("detail"),
        tokens=compiler.find_expression(node.get("tokens")),
    )


@cache
def load_media_table() -> MediaTable:
    """Return the shipped table of how models count pictures, documents and sounds."""
    import tomllib

    read = tomllib.loads(Path(__file__).with_name("media.toml").read_text(encoding="utf-8"))
    as_of = read["as_of"]
    return MediaTable(as_of, tuple(make_rule(one, as_of) for one in read["rule"]))


def _load_window(node: Node, compiler: TextCompiler) -> Window:
    last = node.value["last"]
    return Window(
        span=node.span,
        last=last.value if type(last.value) is int and last.value >= 0 else compiler.expression(last),
        min=node.number("min", 0),
        max=node.find_number("max"),
        step=node.number("step", 1),
        whole=node.text("whole", "item"),
    )


def _load_matches(node: Node, compiler: TextCompiler) -> Matches:
    return Matches(compiler.expression(node.value["where"]), compiler.find_expression(node.get("last")), node.number("within", 1000))


def _load_freeze(node: Node | None, compiler: TextCompiler) -> Freeze | None:
    if node is None:
        return None
    return Freeze(node.span, compiler.expression(node.value["shown"]), compiler.find_expression(node.get("late")))


def _load_dedupe(node: Node | None, compiler: TextCompiler) -> Dedupe | None:
    if node is None:
        return None
    return Dedupe(
        span=node.span,
        by=compiler.expression(node.value["by"]),
        against=node.texts("against"),
        places=tuple(one.span for one in node.list("against")),
        keep=node.text("keep", "first"),
        exact=node.flag("exact"),
    )


def _load_sort_key(node: Node, compiler: TextCompiler) -> SortKey:
    if isinstance(node.value, dict):
        return SortKey(compiler.expression(node.value["by"]), node.flag("desc"))
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
    return TrimEach(to.span, read_size(to), _load_at(node, "word", "trim_each", compiler), compiler.find_inline(node.get("marker")))


def _load_at(body: Node, default: Boundary, label: str, compiler: TextCompiler) -> tuple[Boundary, ...]:
    """Return the boundaries at which a trim cuts, in this order; all finer boundaries follow, down to `finest`.

    A boundary or a `finest` that can have no effect is a finding.
    """
    at: tuple[Any, ...] = body.texts("at") or (default,)
    finest: Any = body.text("finest", "token")
    order = list_boundaries(at)
    behind = next((pair for pair in combinations(at, 2) if not _lies_inside(pair[1], pair[0])), None)
    if behind is not None:
        message = f"`at` of `{label}` names `{behind[1]}` after `{behind[0]}`, but no {behind[1]} ends inside a {behind[0]}"
        compiler.note("PC0293", message, body.list("at")[at.index(behind[1])].span, f"put `{behind[1]}` before `{behind[0]}`, or remove it")
    elif finest not in order:
        message = f"`finest: {finest}` of `{label}` names a boundary that it never cuts at: it cuts at {join_names(order)}, in this order"
        help = f"name one of these, or let it cut at a {finest}: name `{finest}` in `at`, too"
        compiler.note("PC0294", message, body.value["finest"].span, help)
    elif finest in at[:-1]:
        left_out = at[at.index(finest) + 1]
        message = f"`finest: {finest}` of `{label}` leaves out `{left_out}`, which its `at` names after `{finest}`"
        compiler.note("PC0294", message, body.value["finest"].span, f"write `finest: {at[-1]}`, or remove `{left_out}` from `at`")
    return at


def _lies_inside(inner: Boundary, outer: Boundary) -> bool:
    """Return whether an `inner` unit may end inside an `outer` one. A sentence may span lines, and in Chinese may end inside a word."""
    return outer != "token" and ("sentence" in (inner, outer) or BOUNDARIES.index(inner) > BOUNDARIES.index(outer))


@frozen
class Declared:
    """What all sections of a manifest share: the stores and indexes that sources may name, and the rules of redaction."""

    stores: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    redact: tuple[Redaction, ...] = ()


def list_declared(manifest: Node) -> Declared:
    """Return the stores and indexes that a manifest declares, and the rules by which all its sections redact."""
    stores, indexes = manifest.get("stores"), manifest.get("indexes")
    return Declared(
        tuple(stores.value) if stores is not None else (), tuple(indexes.value) if indexes is not None else (), read_rules(manifest)
    )


def read_rules(node: Node) -> tuple[Redaction, ...]:
    """Return the rules in the `redact` of a section or of a manifest."""
    return tuple(
        Redaction(str(one.value).upper(), kind=str(one.value))
        if isinstance(one.value, str)
        else Redaction(one.text("as").upper(), pattern=one.text("pattern"))
        for one in node.list("redact")
    )


def load_source(node: Node, declared: Declared, compiler: TextCompiler) -> Expression | Segments | Retrieve:
    """Return the compiled source, which must be valid in shape. An undeclared store or index is added to the compiler's findings."""
    segments, retrieve = node.get("segments"), node.get("retrieve")
    if segments is not None:
        return _load_segments(segments, declared.stores, compiler)
    return _load_retrieve(retrieve, declared.indexes, compiler) if retrieve is not None else compiler.expression(node)


def load_default(node: Node, text: str, compiler: TextCompiler) -> Expression:
    """Return an expression compiled as if written at the place of the source `node`: the default that an author would expect."""
    return compiler.expression(replace(node, value=text, raw="", keys={}))


def _load_segments(node: Node, stores: Sequence[str], compiler: TextCompiler) -> Segments:
    missing = node.get("missing")
    return Segments(
        span=node.span,
        store=_read_store(node, stores, compiler),
        scope=str(node.value["scope"].value),
        ref=compiler.find_expression(node.get("ref")),
        each=compiler.find_expression(node.get("each")),
        where=compiler.find_expression(node.get("where")),
        locale=compiler.find_expression(node.get("locale")),
        version=compiler.find_expression(node.get("version")),
        missing=node.text("missing", "warn"),
        missing_span=missing.span if missing is not None else None,
    )


def _read_store(node: Node, stores: Sequence[str], compiler: TextCompiler) -> str:
    """Return the name of the store that `node` names, or of the only store. A missing or unknown name is a finding."""
    named = node.get("store")
    if named is None and len(stores) != 1:
        wrong = f"the pack has {len(stores)} stores" if stores else "the pack declares no store"
        help = f"name one: `store: {stores[0]}`" if stores else "declare one: `stores: {main: {url: 'sqlite:segments.db'}}`"
        compiler.note("PC0281", f"`segments` does not name a `store`, and {wrong}", node.span, help)
        return ""
    name = str(named.value) if named is not None else stores[0]
    if named is not None and name not in stores:
        help = suggest(name, stores) or "declare it under `stores`"
        compiler.note("PC0280", f"the pack has no store `{name}`", named.span, help)
    return name


def _load_retrieve(node: Node, indexes: Sequence[str], compiler: TextCompiler) -> Retrieve:
    return Retrieve(
        span=node.span,
        indexes=_read_indexes(node, indexes, compiler),
        queries=tuple(compiler.expression(query) for query in _list_queries(node.value["query"])),
        version=compiler.find_expression(node.get("version")),
        where=compiler.find_expression(node.get("where")),
        boosts=tuple(Boosting(read_micro(boost.value["add"]), compiler.expression(boost.value["where"])) for boost in node.list("boost")),
        **{key: int(node.value[key].value) for key in ("window", "candidates", "top", "sparse_below") if node.get(key) is not None},
        **({"floor": read_micro(node.value["floor"])} if node.get("floor") is not None else {}),
    )


def _list_queries(node: Node) -> tuple[Node, ...]:
    return node.value if isinstance(node.value, tuple) else (node,)


def _read_indexes(node: Node, indexes: Sequence[str], compiler: TextCompiler) -> tuple[str, ...]:
    for one in node.list("index"):
        if one.value not in indexes:
            help = suggest(str(one.value), indexes) or "declare it under `indexes`"
            compiler.note("PC0282", f"the pack has no index `{one.value}`", one.span, help)
    return tuple(dict.fromkeys(node.texts("index")))


def read_micro(node: Node) -> int:
    """Return a score in millionths. A finer fraction is cut off."""
    return int(read_ratio(node) * MICRO)


def load_ladder(node: Node, section: str, compiler: TextCompiler) -> tuple[Step, ...]:
    """Return the steps of a section's `overflow`."""
    return tuple(_load_step(step, section, f"{section}.overflow[{place}]", compiler) for place, step in enumerate(node.value))


def load_steps(node: Node, label: str, compiler: TextCompiler) -> tuple[Step, ...]:
    """Return steps that name their sections: those of `truncate`, of a pool's `overflow` or of a tier's `do`."""
    return tuple(_load_step(step, "", f"{label}[{place}]", compiler) for place, step in enumerate(node.value))


def load_pools(manifest: Node, compiler: TextCompiler) -> tuple[Pool, ...]:
    """Return the pools, which are caps that sections share, in the manifest's order."""
    node = manifest.get("pools")
    return tuple(_load_pool(name, pool, compiler) for name, pool in node.items()) if node is not None else ()


def _load_pool(name: str, node: Node, compiler: TextCompiler) -> Pool:
    steps = load_steps(node.value["overflow"], f"pools.{name}.overflow", compiler)
    return Pool(name, node.texts("sections"), read_size(node.value["max"]), steps, node.span)


def _load_step(node: Node, section: str, label: str, compiler: TextCompiler) -> Step:
    if isinstance(node.value, str):
        return Continue(node.value, label, node.span)
    name, body = next(iter(node.value.items()))
    if name == "use":
        return Use(section, label, node.key_span(name), str(body.value))
    fields = {"section": body.text("section", section), "label": label, "span": node.key_span(name)}
    step: Step = _LOADERS[name](body, fields, compiler)
    return step


def _load_trim(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    to, floor = body.get("to"), body.get("floor")
    finest: Any = body.find_text("finest")
    return Trim(
        **fields,
        **_ranking(body, compiler),
        at=_load_at(body, "sentence", fields["label"], compiler),
        finest=finest,
        side=body.text("from", "end"),
        to=read_size(to) if to else None,
        floor=read_size(floor) if floor else None,
        marker=compiler.find_inline(body.get("marker")),
        warn=body.flag("warn"),
    )


def _load_evict(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    sections = body.texts("sections")
    if sections and body.get("order") is None and body.get("by") is None:
        message = f"`{fields['label']}` takes items of several `sections`, but does not say which go first"
        compiler.note("PC0299", message, fields["span"], "give it `by: item.priority` or an `order`, or write one step for each section")
    return Evict(
        **{**fields, "section": fields["section"] or sections[0]},
        **_ranking(body, compiler),
        beside=sections[1:],
        whole=body.text("whole", "item"),
        step=body.number("step", 1),
        floor=body.number("floor", 0),
        marker=compiler.find_inline(body.get("marker")),
        marker_at=body.text("marker_at", "above"),
        warn=body.flag("warn"),
    )


def _load_recap(body: Node, fields: _Fields, compiler: TextCompiler) -> Step:
    older = body.get("older")
    return Recap(
        **fields,
        template=compiler.file(body.value["template"]),
        older=read_ratio(older) if older else Ratio(1),
        where=compiler.find_expression(body.get("where")),
    )


_LOADERS: dict[str, Callable[[Node, _Fields, TextCompiler], Step]] = {
    "trim": _load_trim,
    "evict": _load_evict,
    "shorten": lambda body, fields, compiler: Shorten(**fields, **_ranking(body, compiler)),
    "lower": lambda body, fields, compiler: Lower(**fields, by=compiler.expression(body.value["by"]), floor=body.number("floor", 0)),
    "recap": _load_recap,
    "replace": lambda body, fields, compiler: Replace(**fields, template=compiler.file(body.value["template"])),
    "drop": lambda _, fields, __: Drop(**fields),
    "fail": lambda _, fields, __: Fail(**fields),
}


def _ranking(body: Node, compiler: TextCompiler) -> _Fields:
    return {"order": tuple(map(compiler.expression, body.list("order"))), "by": compiler.find_expression(body.get("by"))}


def read_ratio(node: Node) -> Ratio:
    """Return the exact value of a number, from its decimal text."""
    return Ratio(node.value) if isinstance(node.value, int) else _make_ratio(Fraction(node.raw))


def read_size(node: Node) -> Size:
    """Return the size that is written as `n`, `{tokens: n}`, `{chars: n}` or `"15%"`."""
    if isinstance(node.value, str):
        return Size(_make_ratio(Fraction(node.value.removesuffix("%").strip()) / 100), "share")
    if isinstance(node.value, dict):
        unit, amount = next(iter(node.value.items()))
        return Size(read_ratio(amount), "chars" if unit == "chars" else "tokens")
    return Size(read_ratio(node), "tokens")


def _load_budget(name: str, node: Node, compiler: TextCompiler) -> Budget:
    """Return a section's budget: a size, `{from, max, over}` or `{min, max, grow, over}`.

    `{tokens: n}` and `{chars: n}` may also have `over`.
    """
    if not isinstance(node.value, dict):
        return Budget(node.span, cap=read_size(node))
    over = node.text("over", "error")
    for unit in ("tokens", "chars"):
        if unit in node.value:
            return Budget(node.span, cap=Size(read_ratio(node.value[unit]), "chars" if unit == "chars" else "tokens"), over=over)
    least, most, grow, source = node.get("min"), node.get("max"), node.get("grow"), node.get("from")
    cap = read_size(most) if most else None
    if source is not None and (cap is None or cap.unit == "share"):
        wrong = "without `max`" if cap is None else "with a percentage as `max`"
        message = f"`budget` of section `{name}` has `from` {wrong}: nothing says how much a state may ask for"
        compiler.note("PC0202", message, node.span, "write, for example, `{from: state.npc_budget, max: 1200}`")
    return Budget(
        node.span,
        cap=cap,
        source=compiler.find_expression(source),
        min=read_size(least) if least else None,
        grow=read_ratio(grow) if grow else Ratio(0),
        over=over,
    )


def read_total(node: Node) -> TotalBudget:
    """Return the total budget: a number, `{context, reserve}` or `{model, reserve}`."""
    if isinstance(node.value, dict):
        return TotalBudget(node.number("context", 0), node.find_number("reserve"), node.span, node.text("model", ""))
    return TotalBudget(int(node.value), None, node.span)


def _make_ratio(exact: Fraction) -> Ratio:
    return Ratio(exact.numerator, exact.denominator)
