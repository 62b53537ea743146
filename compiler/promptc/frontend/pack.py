"""Compiles a pack's files to a `PackModel`: read the files, check the shape, merge bases, compile, load the counter (`ReadPack`).

What depends on a choice is compiled when that choice is first requested (`PlanLoader`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from promptc.diag.findings import Collecting, Diagnostic, PromptcError, Span, find_near, offer_names, shorten, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.files.paths import Held
from promptc.frontend.indexes import load_indexes
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.kept_pack import LoadedPack, load_counting
from promptc.frontend.manifest import (
    Tried,
    Try,
    apply_edits,
    apply_variation,
    are_items,
    iter_keys,
    manifest_path,
    read_manifest,
    try_values,
)
from promptc.frontend.operations import AskPacks, OperationLoader
from promptc.frontend.output import OfferedFiles, load_chat, load_offers, load_output, load_shared_fence
from promptc.frontend.sections import list_declared, load_pools, load_section, load_steps, load_tools, read_ratio, read_rules, read_total
from promptc.frontend.shape import check_effective_shape
from promptc.frontend.state import StateSchema, load_state_schema
from promptc.frontend.texts import Made, PackFiles, TextCompiler, list_sources
from promptc.model.budget import ModelTable
from promptc.model.calibration import ENTRY_KEYS, iter_wrong
from promptc.model.pack import (
    Assign,
    Axis,
    Band,
    Calibration,
    CalibrationEntry,
    Choice,
    Counting,
    DueCondition,
    Let,
    PackModel,
    Plan,
    Strain,
    Tier,
)
from promptc.model.section import TOOLS, Evict, Fence, Pool, Recap, Redaction, Replace, Section, Step, Trim, Use, has_each
from promptc.model.sources import TABLE, Store
from promptc.model.state import Node
from promptc.sources.address import names_server
from promptc.template.allow import LIMITS, Limits
from promptc.template.compile import Expression, constant_expression
from promptc.template.define import DEFINED, describe_clash, describe_reserved, load_definitions
from promptc.template.place import Definition

_MAKE_AGAIN = "make it with `promptc calibrate PACK USAGE.jsonl -o FILE`, and do not edit it"
_NAME_HELP = "choose another name: a name can have only one meaning"
_PATTERN_HELP = "write it as JSON Schema does, such as `[A-Z]{2}[0-9]{6}`"
_FULL_PATTERN = "write a pattern that matches at least one character, such as `[0-9]+`"


class ReadPack:
    """The files of a pack as they were when they were first read, and a compiler for them.

    A pack may be compiled any number of times, each time with other values in its manifest. Files and texts that these values do not affect
    are neither read nor compiled again. Thread-safe.
    """

    def __init__(
        self, path: Path, load_table: Callable[[], ModelTable], made: Made | None = None, held: Held = MappingProxyType({})
    ) -> None:
        """Read the manifest at `path`, a file or a folder with `pack.yaml`; findings name it by this path.

        `load_table` returns the models that a budget may name. `made` contains what an earlier load of the pack made of its files; what was
        made of unchanged files is reused. Contents in `held` replace those on the disk.

        Raises `PromptcError` with all findings of the stage that fails, and `DiskError` when the manifest cannot be read.
        """
        self._files = PackFiles(made, held)
        self._load_table = load_table
        self._manifest = read_manifest(manifest_path(path), self._files)

    @property
    def made(self) -> Made:
        """What has been made of the pack's files so far."""
        return self._files.made

    def compile(self, edits: Sequence[str], tries: Sequence[Try]) -> LoadedPack:
        """Return the pack with other values in its manifest: `tries` by their paths, then `edits` as `apply_edits` merges them.

        Raises `PromptcError` with all findings of the stage that fails, `DiskError` when a file cannot be read, and `UsageError` for a try
        whose path leads nowhere.
        """
        tried = try_values(self._manifest, tries)
        return _compile(replace(tried, manifest=apply_edits(tried.manifest, edits)), self._files.branch(), self._load_table)


def _compile(tried: Tried, files: PackFiles, load_table: Callable[[], ModelTable]) -> LoadedPack:
    """Return the compiled pack of a manifest that is valid in shape. `files` reads the other files of the pack."""
    limits, folder = _read_limits(manifest := tried.manifest), str(Path(tried.manifest.span.file).parent)
    compiler = TextCompiler(files, limits, lambda: load_table().media)
    compiler.definitions = _load_definitions(manifest, compiler, files, limits)
    schema = _load_schema(manifest, compiler, files)
    counting, chat = load_counting(manifest.value["tokenizer"], compiler.findings), load_chat(manifest, compiler, files, limits)
    rules, calibration = _load_rules(manifest, compiler), _load_calibration(manifest, counting, files, compiler.findings)
    stores, indexes = load_stores(manifest, compiler), load_indexes(manifest, compiler, files)
    offered = OfferedFiles(files, compiler.findings)
    plans = PlanLoader(manifest, compiler, offered)
    lets, asserts, axes = _load_lets(manifest, compiler), compiler.asserts(manifest.get("asserts")), _load_axes(manifest, compiler)
    strain, visible = load_strain(manifest, compiler), compiler.find_expression(manifest.get("visible"))
    packs = AskPacks(lambda path: ReadPack(path, load_table, files.made, files.held).compile((), ()).pack)
    loader = OperationLoader(compiler, files, packs)
    operations = loader.load(manifest)
    _compile_files(manifest, compiler)
    offered.read_all(manifest)
    _load_first_plan(plans, compiler)
    if compiler.findings or counting is None:
        raise PromptcError(compiler.findings)
    pack = PackModel(
        name=manifest.text("name"),
        version=manifest.text("version"),
        file=manifest.span.file,
        digest=files.render_digest(folder, tried.tries),
        counting=counting,
        definitions=compiler.definitions,
        lets=lets,
        asserts=asserts,
        axes=axes,
        sections=_list_ids(manifest),
        patch_names=tuple(plans.patches),
        strain=strain,
        stores=stores,
        indexes=indexes,
        schema=schema.schema if schema is not None else None,
        load_plan=plans.load_plan,
        read_manifest=lambda: manifest,
        warnings=(*(schema.warnings if schema is not None else ()), *offered.doubts, *loader.doubts),
        find_schema_place=lambda pointer: _place_in_schema(manifest, files, pointer),
        conditions=tuple(DueCondition(one.name, one.args, one.when) for one in operations if one.when is not None),
        list_operations=lambda: operations,
        load_offers=lambda: load_offers(manifest, folder, offered, [ask.load_pack for one in operations for ask in one.asks]),
        limits=limits,
        visible=visible,
        models=tuple((str(one.value), one.span) for one in manifest.list("models")),
        redact=rules,
        list_named=lambda: frozenset(compiler.named),
        load_models=load_table,
        chat=chat,
        calibration=calibration,
        tries=tried.tries,
        remarks=tried.notes,
    )
    packs.share(pack)
    return LoadedPack(pack, schema, files.inputs, plans.plans)


def _list_ids(manifest: Node) -> tuple[str, ...]:
    """Return the ids of the pack's sections, preceded by that of its tools if the tools are items, even in one case only."""
    has_items = any(key == TOOLS and are_items(node) for _, key, node in iter_keys(manifest))
    return (*([TOOLS] if has_items else []), *manifest.value["sections"].value)


def _read_limits(manifest: Node) -> Limits:
    node = manifest.get("limits")
    return Limits(**{name: int(value.value) for name, value in node.items()}) if node is not None else LIMITS


def _load_first_plan(plans: PlanLoader, compiler: TextCompiler) -> None:
    with Collecting(compiler.findings):
        plans.load_plan(Choice())


def _compile_files(manifest: Node, compiler: TextCompiler) -> None:
    """Compile every file that a manifest names, including those of cases not chosen: digest and findings must not depend on the choice."""
    tools = [node for _, key, node in iter_keys(manifest) if key == TOOLS]
    for holder, key, node in iter_keys(manifest):
        if key == "template" and isinstance(node.value, str):
            compiler.file(node)
        elif key == "forms" and isinstance(node.value, tuple) and holder not in tools:
            for form in node.value:
                compiler.text_or_file(form)


def _load_calibration(manifest: Node, counting: Counting | None, files: PackFiles, findings: list[Diagnostic]) -> Calibration | None:
    """Return the calibration that the `tokenizer` names, or None if there is none or it is wrong. Errors are added to `findings`."""
    named = manifest.value["tokenizer"].get("calibration")
    if named is None or counting is None:
        return None
    document: JsonDocument | None = None
    with Collecting(findings):
        document = load_json(*files.read_named(named))
    if document is None:
        return None
    wrong = next(iter_wrong(document.value), None)
    if wrong is not None:
        pointer, message = wrong
        findings.append(Diagnostic("PC0187", f"the calibration {message}", document.span(pointer), _MAKE_AGAIN))
        return None
    found = _check_counter(document, counting)
    if found is not None:
        findings.append(found)
        return None
    value = document.value
    entries = tuple(CalibrationEntry(**{name: one[name] for name in ENTRY_KEYS}) for one in value["entries"])
    return Calibration(str(named.value), named.span, value["quantile"], entries)


def _check_counter(document: JsonDocument, counting: Counting) -> Diagnostic | None:
    """Return a finding if the calibration was measured with another counter than the pack's, or None.

    Ratios are relative to the estimates of one counter. While a fallback counts, the digest of the first choice is unknown, so only the
    names are compared.
    """
    measured, counter = document.value["counter"], counting.counter
    wanted = counting.wanted or counter.name
    if measured["name"] != wanted:
        message = f"the calibration was measured with `{shorten(measured['name'])}`, and the pack counts with `{wanted}`"
    elif not counting.reason and measured["digest"] != counter.digest:
        message = f"the calibration was measured with another version of `{wanted}`"
    else:
        return None
    help = "remove the calibration, collect reports of renders, and run `promptc calibrate` again"
    return Diagnostic("PC0188", message, document.span("/counter/name"), help)


def _load_rules(manifest: Node, compiler: TextCompiler) -> tuple[tuple[Redaction, ...], ...]:
    """Return the rules of each section, including those of cases not chosen. Invalid patterns are added to the compiler's findings."""
    declared = read_rules(manifest)
    found = {declared: None} if declared else {}
    for holder, key, node in iter_keys(manifest):
        if key == "redact" and isinstance(node.value, tuple):
            found[tuple(dict.fromkeys((*declared, *read_rules(holder))))] = None
            for one in node.value:
                pattern = one.get("pattern")
                if pattern is not None:
                    _check_pattern(pattern, compiler)
    return tuple(found)


def _check_pattern(node: Node, compiler: TextCompiler) -> None:
    from promptc.text.pattern import Pattern, PatternError

    try:
        matches_nothing = Pattern(f"^(?:{node.value})$").matches("")
    except PatternError as wrong:
        compiler.note("PC0268", f"the pattern `{node.value}` cannot be read: {wrong}", node.span, _PATTERN_HELP)
        return
    if matches_nothing:
        compiler.note(
            "PC0268", f"the pattern `{node.value}` matches an empty text, which no placeholder can replace", node.span, _FULL_PATTERN
        )


def _load_schema(manifest: Node, compiler: TextCompiler, files: PackFiles) -> StateSchema | None:
    state = manifest.get("state")
    node = state.get("schema") if state is not None else None
    if node is None:
        return None
    with Collecting(compiler.findings):
        return files.made.make(load_state_schema, *files.read_named(node), node.span)
    return None


def _place_in_schema(manifest: Node, files: PackFiles, pointer: str) -> Span:
    """Return the place of a key in the file of the state's schema."""
    return load_json(*files.read_named(manifest.value["state"].value["schema"])).key_span(pointer)


def _load_definitions(manifest: Node, compiler: TextCompiler, files: PackFiles, limits: Limits) -> tuple[Definition, ...]:
    """Return the definitions in the manifest's order. Errors are added to the compiler's findings."""
    node = manifest.get("define")
    if node is None:
        return ()
    lets = manifest.get("let")
    taken = dict.fromkeys(lets.value if lets is not None else (), "a `let`")
    written: dict[str, Definition] = {}
    for signature, value in node.items():
        name, _, rest = signature.partition("(")
        parameters = tuple(one.strip() for one in rest.rstrip(")").split(",")) if rest else ()
        place = compiler.make_place(value)
        text = value.value if isinstance(value.value, str) else constant_expression(value.value, place).text
        one = Definition(name, parameters, text, place)
        clash = describe_clash(one, taken)
        if clash:
            compiler.note("PC0267", clash, node.key_span(signature), _NAME_HELP)
        written.setdefault(name, one)
        taken[name] = DEFINED
    found = tuple(written.values())
    definitions, findings = files.made.make(load_definitions, found, limits, behind=list_sources(found))
    compiler.findings.extend(findings)
    return definitions


def _load_lets(manifest: Node, compiler: TextCompiler) -> tuple[Let, ...]:
    """Return the values in the manifest's order. Errors are added to the compiler's findings."""
    node = manifest.get("let")
    if node is None:
        return ()
    for name in node.value:
        clash = describe_reserved(name)
        if clash:
            compiler.note("PC0267", clash, node.key_span(name), _NAME_HELP)
    return tuple(Let(name, node.key_span(name), _load_let(value, compiler)) for name, value in node.items())


def _load_let(node: Node, compiler: TextCompiler) -> Any:
    band, assign = node.get("band"), node.get("assign")
    if band is not None:
        bounds = [(read_ratio(bound), label) for label, bound in node.value["of"].items()]
        if bounds != sorted(bounds, key=lambda pair: pair[0]):
            compiler.note(
                "PC0261",
                "the lower bounds of a band must be in rising order",
                node.value["of"].span,
                "write the lowest first, such as `of: {calm: 0, tense: 10}`",
            )
        return Band(compiler.expression(band), tuple(bounds))
    if assign is not None:
        weights = tuple((label, int(weight.value)) for label, weight in node.value["of"].items())
        total = sum(weight for _, weight in weights)
        if not 0 < total <= 1000:
            compiler.note(
                "PC0262",
                f"the weights of an assignment add up to {total}",
                node.value["of"].span,
                "write whole numbers with a sum from 1 to 1000, such as `of: {a: 1, b: 1}`",
            )
        return Assign(compiler.expression(assign), weights)
    return compiler.expression(node)


def _load_axes(manifest: Node, compiler: TextCompiler) -> tuple[Axis, ...]:
    node = manifest.get("variants")
    if node is None:
        return ()
    axes = []
    for name, axis in node.items():
        default, chosen, cases = axis.get("default"), axis.find_text("default"), tuple(axis.value["cases"].value)
        if default is not None and chosen is not None and chosen not in cases:
            near = find_near(chosen, cases)
            compiler.note(
                "PC0263",
                f"the default of `{name}` is `{chosen}`, which is not one of its cases",
                default.span,
                f"did you mean `{near}`?" if near is not None else f"{offer_names(cases)}; or add the case `{chosen}: {{}}`",
            )
        axes.append(Axis(name, compiler.expression(axis.value["select"]), chosen, cases, node.key_span(name)))
    return tuple(axes)


def load_stores(manifest: Node, compiler: TextCompiler) -> tuple[Store, ...]:
    """Return the stores of a manifest that is valid in shape, in its order. Errors are added to the compiler's findings."""
    node = manifest.get("stores")
    return tuple(_load_store(name, store, compiler) for name, store in node.items()) if node is not None else ()


def _load_store(name: str, node: Node, compiler: TextCompiler) -> Store:
    url = node.get("url")
    if url is not None and names_server(str(url.value)):
        message = f"the manifest names a server for the store `{name}`, which is not allowed, since a pack may come from anyone"
        help = f"write `url_env: PROMPTC_{name.upper()}`, and set that variable to the URL; or give `--store {name}=URL`"
        compiler.note("PC0948", message, url.span, help)
    return Store(
        name=name,
        span=url.span if url is not None else node.span,
        folder=url.folder if url is not None else node.folder,
        url=node.text("url"),
        url_env=node.text("url_env"),
        table=node.text("table", TABLE),
        locale=compiler.find_expression(node.get("locale")),
        version=compiler.find_expression(node.get("version")),
    )


class PlanLoader:
    """Loads the plan of a choice, and caches plans and sections.

    Equal choices share one plan. A section that no variation touches is the same object in all plans. `plans` contains the plans loaded so
    far.
    """

    def __init__(self, manifest: Node, compiler: TextCompiler, offered: OfferedFiles) -> None:
        self._manifest = manifest
        self._offered = offered
        self._compiler = compiler
        self._declared = list_declared(manifest)
        patches = manifest.get("patches")
        self.patches: Mapping[str, Node] = dict(patches.items()) if patches is not None else {}
        self._lock = Lock()
        self.plans: dict[Choice, Plan] = {}
        self._sections: dict[tuple[Node, Fence | None], Section] = {}

    def load_plan(self, choice: Choice) -> Plan:
        """Return the compiled plan of a choice. Raises `PromptcError` with every finding of the merge and the compilation."""
        plan = self.plans.get(choice)
        if plan is not None:
            return plan
        with self._lock:
            return self._load_checked(choice)

    def _load_checked(self, choice: Choice) -> Plan:
        if choice not in self.plans:
            found = self._compiler.findings
            mark = len(found)
            plan = self._load(choice, mark)
            raised = found[mark:]
            del found[mark:]
            if plan is None or raised:
                raise PromptcError(raised)
            self.plans[choice] = plan
        return self.plans[choice]

    def _load(self, choice: Choice, mark: int) -> Plan | None:
        manifest = self._manifest
        for variation in self._iter_variations(choice):
            manifest = apply_variation(manifest, variation, self.patches, self._compiler.findings)
        if choice != Choice() and len(self._compiler.findings) == mark:
            self._compiler.findings.extend(check_effective_shape(manifest))
        if len(self._compiler.findings) > mark:
            return None
        fence = load_shared_fence(manifest, self._compiler)
        sections = tuple(self._load_section(name, node, fence) for name, node in manifest.value["sections"].items())
        output = load_output(manifest, sections, fence, self._compiler)
        tools = manifest.get(TOOLS)
        if tools is not None and are_items(tools):
            sections = (self._load_tools(tools, manifest), *sections)
        truncate, pools = self._load_truncate(manifest, sections), self._load_pools(manifest, sections)
        if are_items(tools):
            _check_tool_steps([*sections[0].overflow, *(step for pool in pools for step in pool.overflow), *truncate], self._compiler)
        self._check_frozen(choice, sections, [step for pool in pools for step in pool.overflow] + list(truncate))
        return Plan(
            sections=sections,
            truncate=truncate,
            output=output,
            budget=read_total(manifest.value["budget"]),
            tools=self._offered.load_tools(tools) if not are_items(tools) else (),
            response=self._offered.find_response(manifest.get("response")),
            pools=pools,
        )

    def _iter_variations(self, choice: Choice) -> list[Node]:
        found: list[Node] = []
        for axis, case in choice.cases:
            if case is not None:
                found.append(self._manifest.value["variants"].value[axis].value["cases"].value[case])
        found += [self.patches[name] for name in choice.patches]
        if choice.tiers:
            found += self._manifest.value["strain"].value["tiers"].value[: choice.tiers]
        found += [self.patches[name] for name in choice.uses]
        return found

    def _check_frozen(self, choice: Choice, sections: Sequence[Section], shared: Sequence[Step]) -> None:
        """Report what cannot work with `freeze`: nothing may be inserted before frozen items or replace them."""
        frozen = {section.id: section for section in sections if section.items is not None and section.items.freeze is not None}
        if not frozen:
            return
        for section in frozen.values():
            _check_freeze(section, self._compiler)
        made = [step for section in frozen.values() for step in section.overflow] + list(shared)
        found = [(step.rule, step.section, step.span) for step in made if isinstance(step, Recap | Replace)]
        tiers = self._manifest.value["strain"].value["tiers"].value[: choice.tiers] if choice.tiers else ()
        found += [(rule, one.text("section"), one.span) for tier in tiers for step in tier.list("do") for rule, one in step.items()]
        for rule, name, span in found:
            if rule in ("recap", "replace") and name in frozen:
                message = f"`{rule}` cannot work on `{name}`, which has `freeze`: its result is not an item that can be shown again"
                self._compiler.note("PC0292", message, span, "shorten its items with `trim` or `shorten`, or remove them with `evict`")

    def _load_section(self, name: str, node: Node, fence: Fence | None) -> Section:
        key = (node, fence)
        if key not in self._sections:
            self._sections[key] = load_section(name, node, fence, self._declared, self._compiler)
        return self._sections[key]

    def _load_tools(self, node: Node, manifest: Node) -> Section:
        """Return the section that the tools form. No other section may have its id."""
        if TOOLS in manifest.value["sections"].value:
            message = f"a section cannot be called `{TOOLS}` where the tools of the pack are items: they have that name"
            self._compiler.note("PC0246", message, manifest.value["sections"].key_span(TOOLS), "give the section another id")
        key = (node, None)
        if key not in self._sections:
            self._sections[key] = load_tools(node, self._offered.load_tools(node), self._declared, self._compiler)
        return self._sections[key]

    def _load_truncate(self, manifest: Node, sections: tuple[Section, ...]) -> tuple[Step, ...]:
        node = manifest.get("truncate")
        if node is None:
            return ()
        steps = load_steps(node, "truncate", self._compiler)
        known = [section.id for section in sections]
        for step in steps:
            for name in step.sections:
                if name not in known:
                    self._compiler.note("PC0251", f"`truncate` names `{name}`, which is not a section", step.span, suggest(name, known))
        return steps

    def _load_pools(self, manifest: Node, sections: tuple[Section, ...]) -> tuple[Pool, ...]:
        node = manifest.get("pools")
        if node is None:
            return ()
        pools = load_pools(manifest, self._compiler)
        _check_pools(pools, node, sections, self._compiler)
        return pools


def _check_tool_steps(steps: Sequence[Step], compiler: TextCompiler) -> None:
    """Report steps that cannot work on tools: a tool is removed whole or takes a shorter form, and no text replaces it."""
    for step in steps:
        if TOOLS in step.sections:
            key = step.rule if isinstance(step, Trim | Recap | Replace) else ""
            if isinstance(step, Evict):
                given = {"marker": step.marker is not None, "whole": step.whole != "item", "step": step.step > 1}
                key = next((name for name, is_given in given.items() if is_given), "")
            if key:
                message = f"`{key}` of `{step.label}` cannot work on tools: a step can only remove a tool or give it a shorter form"
                compiler.note("PC0290", message, step.span, "write `shorten: {}`, `evict: {}`, or `drop: {}`")


def _check_freeze(section: Section, compiler: TextCompiler) -> None:
    """Report keys of a section's `items` that cannot be combined with `freeze`."""
    items, name = section.items, section.id
    assert items is not None
    if items.freeze is None:
        return
    why = help = ""
    if items.group is not None:
        why = "`group` puts a new item next to similar ones, before what was already shown"
        help = "remove `group`, and write its key into the text of each item"
    elif has_each(items.source):
        why = "a segment that is no longer asked for belongs to no element of `each`"
        help = "ask with `ref` alone, such as `ref: state.npcs | map(attribute='id')`"
    elif not isinstance(items.source, Expression) and items.id is not None and items.id.text.strip() != "item.id":
        why = "an item that is no longer asked for is found by the id that its source gives it"
        help = "remove `id`"
    if why:
        compiler.note("PC0292", f"`freeze` of `{name}` cannot be combined with the rest of `items`: {why}", items.freeze.span, help)


def _check_pools(pools: tuple[Pool, ...], node: Node, sections: tuple[Section, ...], compiler: TextCompiler) -> None:
    """Report errors of the pools.

    A pool must name existing sections that no other pool names. None of them may have a share of the total as its budget unless it is
    pinned. The steps of a pool work on its own sections only.
    """
    by_id, holders = {section.id: section for section in sections}, dict[str, str]()
    for pool in pools:
        for named in node.value[pool.name].value["sections"].value:
            name, budget = str(named.value), by_id[named.value].budget if named.value in by_id else None
            if name not in by_id:
                message = f"the pool `{pool.name}` names `{name}`, which is not a section"
                compiler.note("PC0295", message, named.span, suggest(name, by_id))
            elif name in holders:
                message = f"the pool `{pool.name}` lists `{name}`, which is already in the pool `{holders[name]}`"
                compiler.note("PC0296", message, named.span, f"remove `{name}` from one of them: a section can be in only one pool")
            elif budget is not None and budget.is_share and not by_id[name].pinned:
                message = (
                    f"`{name}` has a share of the total, and the pool `{pool.name}` caps it too: a larger total budget would remove content"
                )
                help = f"give `{name}` a number, such as `budget: 800`, or no budget, and let the pool cap it"
                compiler.note("PC0298", message, named.span, help)
            holders.setdefault(name, pool.name)
        for step in pool.overflow:
            for name in step.sections:
                if name not in pool.sections:
                    message = f"`{step.label}` works on `{name}`, which is not in the pool `{pool.name}`"
                    near = suggest(name, pool.sections)
                    help = near if near.startswith("did") else f"name a section of the pool, or add `{name}` to its `sections`"
                    compiler.note("PC0297", message, step.span, help)


def load_strain(manifest: Node, compiler: TextCompiler) -> Strain | None:
    """Return the strain of a pack, or None if it has none. Errors are added to the compiler's findings.

    Thresholds must rise from 0, and a tier's `leave` must not exceed its `at`.
    """
    node = manifest.get("strain")
    if node is None:
        return None
    count, watch = node.get("count"), node.get("watch")
    tiers = tuple(_load_tier(tier, compiler) for tier in node.value["tiers"].value)
    _check_tiers(tiers, compiler)
    _check_uses(tiers, manifest, compiler)
    if TOOLS not in manifest.value["sections"].value:
        _check_tool_steps([step for tier in tiers for step in tier.do or ()], compiler)
    for tier in node.value["tiers"].value:
        _check_cases(tier, manifest, compiler)
        _check_early(tier, manifest, compiler)
    strain = Strain(
        tiers=tiers,
        span=node.span,
        previous=compiler.find_expression(node.get("previous")),
        count=tuple(str(one.value) for one in count.value) if count is not None else None,
        watch=tuple((name, compiler.inline(text)) for name, text in watch.items()) if watch is not None else (),
    )
    _check_sections(strain, manifest, node, compiler)
    return strain


def _load_tier(node: Node, compiler: TextCompiler) -> Tier:
    name, at, leave, do = str(node.value["name"].value), read_ratio(node.value["at"]), node.get("leave"), node.get("do")
    cases = node.get("variants")
    return Tier(
        name=name,
        at=at,
        leave=read_ratio(leave) if leave is not None else at,
        do=load_steps(do, f"strain.{name}.do", compiler) if do is not None else None,
        span=node.span,
        cases=tuple((axis, str(case.value)) for axis, case in cases.items()) if cases is not None else (),
    )


def _check_tiers(tiers: tuple[Tier, ...], compiler: TextCompiler) -> None:
    if tiers[0].at != 0:
        compiler.note(
            "PC0252", f"the first tier, `{tiers[0].name}`, begins at {float(tiers[0].at):g}, not at 0", tiers[0].span, "give it `at: 0`"
        )
    for lower, upper in pairwise(tiers):
        if upper.at <= lower.at:
            message = f"tier `{upper.name}` begins at {float(upper.at):g}, not above `{lower.name}` at {float(lower.at):g}"
            compiler.note("PC0253", message, upper.span, "sort the tiers by `at`, the lowest first")
        if upper.name in [tier.name for tier in tiers[: tiers.index(upper)]]:
            compiler.note("PC0254", f"two tiers have the name `{upper.name}`", upper.span, "rename one of them")
    for tier in tiers:
        if tier.leave > tier.at:
            message = f"tier `{tier.name}` has `leave: {float(tier.leave):g}`, which is above its `at: {float(tier.at):g}`"
            compiler.note("PC0255", message, tier.span, f"write `leave: {float(tier.at):g}`, or less")


def _check_uses(tiers: tuple[Tier, ...], manifest: Node, compiler: TextCompiler) -> None:
    node = manifest.get("patches")
    known = [name for name, _ in node.items()] if node is not None else []
    for step in (step for tier in tiers for step in tier.do or ()):
        if isinstance(step, Use) and step.patch not in known:
            compiler.note("PC0241", f"there is no patch `{step.patch}`", step.span, suggest(step.patch, known))


def _check_cases(tier: Node, manifest: Node, compiler: TextCompiler) -> None:
    """Report axes and cases that a tier selects and that do not exist, and axes whose cases set what must be known before the tier is."""
    chosen, axes = tier.get("variants"), manifest.get("variants")
    known = dict(axes.items()) if axes is not None else {}
    for name, case in chosen.items() if chosen is not None else ():
        where, span = f"`strain.{tier.value['name'].value}.variants`", chosen.key_span(name) if chosen is not None else case.span
        if name not in known:
            compiler.note("PC0264", f"{where} names `{name}`, which is not in `variants`", span, suggest(name, known))
            continue
        cases = dict(known[name].value["cases"].items())
        if case.value not in cases:
            message = f"{where} names `{case.value}`, which is not a case of `{name}`"
            compiler.note("PC0264", message, case.span, suggest(str(case.value), cases) or offer_names(cases))
        key = next(filter(None, (_name_early(one, manifest) for one in cases.values())), "")
        if key:
            message = f"{where} switches `{name}`, and a case of `{name}` sets {key}, which the tier depends on"
            compiler.note("PC0265", message, span, f"{_SETTLED[key]}, or let the state alone select `{name}`")


_SETTLED = {
    "the total `budget`": "change the budgets of sections instead",
    "`output.format`": "set the format in the `output` of the pack, or give `--format`",
}
"""What must be known before the tier is, and what to do instead of setting it in a tier."""


def _check_early(tier: Node, manifest: Node, compiler: TextCompiler) -> None:
    """Report a tier that sets what must be known before the tier is, itself or by a patch: it would stay as it is."""
    name, patches = tier.value["name"].value, manifest.get("patches")
    brought = [("sets", _name_own(tier), tier.span)]
    for one in (*tier.list("use"), *(step.value["use"] for step in tier.list("do") if "use" in step.value)):
        patch = patches.get(str(one.value)) if patches is not None else None
        if patch is not None:
            brought.append((f"uses `{one.value}`, and that patch sets", _name_early(patch, manifest), one.span))
    for how, key, span in brought:
        if key:
            compiler.note("PC0265", f"`strain.{name}` {how} {key}, which the tier depends on", span, _SETTLED[key])


def _name_early(variation: Node, manifest: Node) -> str:
    """Return what of `_SETTLED` a variation sets, itself or by the patches that it uses; empty if nothing."""
    patches = dict(manifest.value["patches"].items()) if "patches" in manifest.value else {}
    left, seen = [variation], set[str]()
    while left:
        one = left.pop()
        key = _name_own(one)
        if key:
            return key
        used = [name for name in one.texts("use") if name in patches and name not in seen]
        seen.update(used)
        left += [patches[name] for name in used]
    return ""


def _name_own(variation: Node) -> str:
    output = variation.get("output")
    own = variation.get("budget"), output.get("format") if output is not None else None
    return next((key for key, node in zip(_SETTLED, own, strict=True) if node is not None), "")


def _check_sections(strain: Strain, manifest: Node, node: Node, compiler: TextCompiler) -> None:
    known = _list_ids(manifest)
    count = node.get("count")
    for name in count.value if count is not None else ():
        if name.value not in known:
            compiler.note(
                "PC0256", f"`strain.count` names `{name.value}`, which is not a section", name.span, suggest(str(name.value), known)
            )
    watch = node.get("watch")
    for watched, _ in strain.watch:
        span = watch.key_span(watched) if watch is not None else strain.span
        if watched not in known:
            compiler.note("PC0256", f"`strain.watch` names `{watched}`, which is not a section", span, suggest(watched, known))
        if watched in (strain.count or ()):
            compiler.note(
                "PC0257",
                f"section `{watched}` is under both `count` and `watch` of `strain`",
                span,
                "remove it from `count` or from `watch`",
            )
