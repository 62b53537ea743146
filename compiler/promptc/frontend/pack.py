"""The way from a pack's files to a `Pack`: read, check the shape, merge bases, compile, load the counter."""

from pathlib import Path

from promptc.diag.findings import Diagnostic, PromptcError, Span
from promptc.diag.typed import Any
from promptc.diag.value import join_names
from promptc.files.paths import show_path
from promptc.frontend.find_offers import find_offers
from promptc.frontend.indexes import load_indexes
from promptc.frontend.iter_keys import iter_keys
from promptc.frontend.json import load_json
from promptc.frontend.load_ask_pack import AskPacks
from promptc.frontend.load_counting import load_counting
from promptc.frontend.load_plan import PlanLoader
from promptc.frontend.load_state_schema import load_state_schema
from promptc.frontend.load_stores import load_stores
from promptc.frontend.load_strain import load_strain
from promptc.frontend.loaded_pack import LoadedPack
from promptc.frontend.offered_files import OfferedFiles
from promptc.frontend.operations import OperationLoader
from promptc.frontend.pack_files import PackFiles
from promptc.frontend.read_budget import read_ratio
from promptc.frontend.read_manifest import find_manifest, read_manifest
from promptc.frontend.state import StateSchema
from promptc.frontend.texts import TextCompiler
from promptc.model.pack import Assign, Axis, Band, Choice, DueCondition, Let, PackModel
from promptc.model.state import Node
from promptc.template.place import LIMITS, Limits


def load_pack(path: Path) -> LoadedPack:
    """The pack at `path` (a file, or a folder with `pack.yaml`). Findings call its files as `path` does.

    Raises `PromptcError` with all findings of the stage that fails; `DiskError` when the manifest cannot be read.
    """
    file = find_manifest(path)
    files = PackFiles()
    manifest = read_manifest(file, files)
    limits = _read_limits(manifest)
    compiler = TextCompiler(files, limits)
    schema = _load_schema(manifest, compiler, files)
    counting = load_counting(manifest.value["tokenizer"], compiler.findings)
    stores, indexes = load_stores(manifest, compiler), load_indexes(manifest, compiler, files)
    offered = OfferedFiles(files, compiler.findings)
    plans = PlanLoader(manifest, compiler, offered)
    lets, asserts, axes = _load_lets(manifest, compiler), compiler.asserts(manifest.get("asserts")), _load_axes(manifest, compiler)
    strain = load_strain(manifest, compiler)
    packs = AskPacks(lambda path: load_pack(path).pack)
    loader = OperationLoader(compiler, files, packs)
    operations = loader.load(manifest)
    _compile_files(manifest, compiler)
    offered.read_all(manifest)
    _load_first_plan(plans, compiler)
    if compiler.findings or counting is None:
        raise PromptcError(compiler.findings)
    pack = PackModel(
        name=str(manifest.value["name"].value),
        version=str(manifest.value["version"].value),
        file=manifest.span.file,
        digest=files.render_digest(str(file.parent)),
        counting=counting,
        lets=lets,
        asserts=asserts,
        axes=axes,
        sections=tuple(manifest.value["sections"].value),
        patch_names=tuple(plans.patches),
        strain=strain,
        stores=stores,
        indexes=indexes,
        schema=schema.schema if schema is not None else None,
        find_plan=plans.find_plan,
        read_manifest=lambda: manifest,
        warnings=(*(schema.warnings if schema is not None else ()), *offered.doubts, *loader.doubts),
        find_schema_place=lambda pointer: _find_schema_place(manifest, files, pointer),
        conditions=tuple(DueCondition(one.name, one.args, one.when) for one in operations if one.when is not None),
        list_operations=lambda: operations,
        find_offers=lambda: find_offers(manifest, str(file.parent), offered, [ask.find_pack for one in operations for ask in one.asks]),
        limits=limits,
    )
    packs.share(pack)
    return LoadedPack(pack, schema, files.inputs, plans.plans)


def _read_limits(manifest: Node) -> Limits:
    node = manifest.get("limits")
    return Limits(**{name: int(value.value) for name, value in node.items()}) if node is not None else LIMITS


def _load_first_plan(plans: PlanLoader, compiler: TextCompiler) -> None:
    try:
        plans.find_plan(Choice())
    except PromptcError as error:
        compiler.findings.extend(error.diagnostics)


def _compile_files(manifest: Node, compiler: TextCompiler) -> None:
    """Every file a manifest names is read, also of cases not chosen: digest and findings do not depend on the choice."""
    for _, key, node in iter_keys(manifest):
        if key == "template" and isinstance(node.value, str):
            compiler.file(node)
        elif key == "forms" and isinstance(node.value, tuple):
            for form in node.value:
                compiler.text_or_file(form)


def _load_schema(manifest: Node, compiler: TextCompiler, files: PackFiles) -> StateSchema | None:
    state = manifest.get("state")
    node = state.get("schema") if state is not None else None
    if node is None:
        return None
    try:
        raw = files.read_raw(node.folder, str(node.value), node.span)
        return load_state_schema(raw, show_path(node.span, str(node.value)), node.span)
    except PromptcError as error:
        compiler.findings.extend(error.diagnostics)
        return None


def _find_schema_place(manifest: Node, files: PackFiles, pointer: str) -> Span:
    """Where a key of the state's schema stands."""
    node = manifest.value["state"].value["schema"]
    return load_json(files.read_raw(node.folder, str(node.value), node.span), show_path(node.span, str(node.value))).key_span(pointer)


def _load_lets(manifest: Node, compiler: TextCompiler) -> tuple[Let, ...]:
    node = manifest.get("let")
    if node is None:
        return ()
    return tuple(Let(name, node.key_span(name), _load_let(value, compiler)) for name, value in node.items())


def _load_let(node: Node, compiler: TextCompiler) -> Any:
    band, assign = node.get("band"), node.get("assign")
    if band is not None:
        bounds = [(read_ratio(bound), label) for label, bound in node.value["of"].items()]
        if bounds != sorted(bounds, key=lambda pair: pair[0]):
            compiler.findings.append(
                Diagnostic(
                    "PC0261", "the lower bounds of a band must rise", node.value["of"].span, "write them from the lowest to the highest"
                )
            )
        return Band(compiler.expression(band), tuple(bounds))
    if assign is not None:
        weights = tuple((label, int(weight.value)) for label, weight in node.value["of"].items())
        total = sum(weight for _, weight in weights)
        if not 0 < total <= 1000:
            compiler.findings.append(
                Diagnostic(
                    "PC0262",
                    f"the weights of an assignment sum to {total}",
                    node.value["of"].span,
                    "they are whole numbers with a sum from 1 to 1000",
                )
            )
        return Assign(compiler.expression(assign), weights)
    return compiler.expression(node)


def _load_axes(manifest: Node, compiler: TextCompiler) -> tuple[Axis, ...]:
    node = manifest.get("variants")
    if node is None:
        return ()
    axes = []
    for name, axis in node.items():
        default, cases = axis.get("default"), tuple(case for case, _ in axis.value["cases"].items())
        chosen = str(default.value) if default is not None and default.value is not None else None
        if default is not None and chosen is not None and chosen not in cases:
            compiler.findings.append(
                Diagnostic(
                    "PC0263", f"the default of `{name}`, `{chosen}`, is none of its cases", default.span, f"known: {join_names(cases)}"
                )
            )
        axes.append(Axis(name, compiler.expression(axis.value["select"]), chosen, cases, node.key_span(name)))
    return tuple(axes)
