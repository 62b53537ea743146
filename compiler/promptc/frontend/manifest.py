"""Manifests (contract.md §6): read them, merge them with their bases, try other values in them, and apply variations.

`read_manifest` reads a manifest and merges what it extends, `try_values` replaces values, `apply_variation` merges a variant, patch or
tier, and `iter_keys` iterates over every key. Source places survive all of these.

Here the `sections` of a manifest are a mapping by id, in output order (`index_sections`). A section that no variation touches stays the
same Node, so compiled sections can be cached by identity.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from shlex import quote

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, UsageError, fail, offer_names, shorten, suggest
from promptc.diag.frozen import frozen, replace
from promptc.files.paths import resolve_path
from promptc.files.reading import TooLongError, follow_link, read_mode
from promptc.frontend.shape import check_effective_shape, check_pack_shape, list_sections
from promptc.frontend.texts import PackFiles
from promptc.frontend.yaml import MAX_BYTES, load_yaml
from promptc.model.pack import MANIFEST, MOST_APPLIED
from promptc.model.section import TOOLS
from promptc.model.state import Node

_ENDINGS = (".yaml", ".yml")
_NAME = "name a pack's folder, or a file that ends in `.yaml` or `.yml`, relative to this manifest"
_MARK = "promptc"
"""The key that every manifest has."""

SOURCES = ("template", "text", "items")
RENDERINGS = ("text", "template", "forms", "message")
_ELSEWHERE = ("segments", "retrieve")
_LOCKED = ("pinned", "required")
_REDACT = "redact"
_HIDING = ("visible", _REDACT)
"""Keys that an extending pack may change but not clear."""

_PLACING = ("before", "after")

_BY_NAME = frozenset(
    (
        "define",
        "let",
        "of",
        "sections",
        "patches",
        "variants",
        "cases",
        "watch",
        "caps",
        "models",
        "stores",
        "indexes",
        "pools",
        "defaults",
        "operations",
        "args",
        "asks",
    )
)
"""Keys whose mapping has names chosen by the author as its keys: a section may be called `tools`, a `let` `template`."""

_NAMING = ("id", "name")
"""Keys that name an entry of a list in a path."""

_EXTENDS = "extends"
_NULLS = ("null", "Null", "NULL", "~")
_EXCERPT = 400
_FIRST_KEY = re.compile(r"\[[0-9]{1,6}\]|[^.\[]+|\[")

Try = tuple[str, str]
"""The path of a value in a manifest, and its replacement as YAML."""


def manifest_path(path: Path) -> Path:
    """Return the manifest file of a pack that is given as a file or a folder."""
    return path / MANIFEST if stat.S_ISDIR(read_mode(Path(follow_link(str(path))))) else path


def load_manifest(path: Path) -> Node:
    """Return the manifest of the pack at a path, as `read_manifest` does, for callers that need nothing else of the pack."""
    return read_manifest(manifest_path(path), PackFiles())


def read_manifest(file: Path, files: PackFiles, below: tuple[Path, ...] = ()) -> Node:
    """Return the manifest at `file`: valid in shape, merged with the packs it extends, its sections by id.

    `files` reads the files. Raises `PromptcError` with all findings of the stage that fails (reading, shape or merge), and `DiskError` when
    a file cannot be read.
    """
    return _merge(_parse(file, files), file, files, below)


def _parse(file: Path, files: PackFiles) -> Node:
    try:
        raw = files.read_manifest(file)
    except TooLongError:
        raise fail("PC0102", f"the file has more than {MAX_BYTES} bytes, and promptc reads no more", Span(str(file), 1, 1)) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        other = file.with_suffix(".yml")
        is_other = file.name == "pack.yaml" and other.is_file()
        help = f"rename `{other}` to `pack.yaml`, or name that file" if is_other else "name a pack's file, or a folder with a `pack.yaml`"
        raise DiskError([Diagnostic("PC0154", f"cannot read the pack `{file}`: {reason}", help=help)]) from error
    return load_yaml(raw, str(file), str(file.parent))


def _merge(node: Node, file: Path, files: PackFiles, below: tuple[Path, ...]) -> Node:
    found = check_pack_shape(node)
    if found:
        raise PromptcError(found)
    findings: list[Diagnostic] = []
    node = index_sections(node, findings)
    extends = node.get("extends")
    if extends is not None:
        node = _extend(node, extends, files, (*below, resolve_path(file)), findings)
    if findings:
        raise PromptcError(findings)
    return node


def _extend(node: Node, extends: Node, files: PackFiles, below: tuple[Path, ...], findings: list[Diagnostic]) -> Node:
    name = str(extends.value)
    parent = manifest_path(_resolve(Path(extends.folder), name, extends.span, files))
    if resolve_path(parent) in below:
        raise fail(
            "PC0259", f"packs extend each other in a circle: `{name}` is extended already", extends.span, help="remove one `extends`"
        )
    if not read_mode(parent):
        raise fail("PC0258", f"`extends: {name}` names no pack", extends.span, help=_NAME)
    merged = apply_extension(_merge(_parse_base(parent, extends, files), parent, files, below), node, findings)
    findings.extend(check_effective_shape(merged) if not findings else ())
    return merged


def _parse_base(file: Path, extends: Node, files: PackFiles) -> Node:
    """Parse a base manifest.

    A file outside the pack may belong to anybody, so no finding reveals its content until it is known to be a manifest.
    """
    if resolve_path(file).is_relative_to(resolve_path(extends.folder)):
        return _parse(file, files)
    try:
        node = _parse(file, files)
    except DiskError:
        raise
    except PromptcError:
        node = None
    if node is None or node.get(_MARK) is None:
        message = f"`extends: {extends.value}` names no pack: the file there cannot be read as a manifest"
        raise fail("PC0258", message, extends.span, help=f"`promptc check {quote(str(file))}` says what is wrong with it")
    return node


def _resolve(folder: Path, name: str, span: Span, files: PackFiles) -> Path:
    if "\\" in name or "\0" in name or PurePosixPath(name).is_absolute() or name.startswith("~"):
        raise fail(
            "PC0260",
            f"`extends: {name}` is not a relative path",
            span,
            help="write a path relative to this manifest, with `/` between the names",
        )
    repository = _find_repository(folder)
    place = folder
    for part in PurePosixPath(name).parts:
        place = place.parent if part == ".." and place.name not in ("", "..") else place / part
        if stat.S_ISLNK(read_mode(place)):
            raise fail("PC0260", f"`extends: {name}` leads through a symbolic link", span, help="name the folder itself")
        files.note_unlinked(place)
    if repository is not None and not resolve_path(place).is_relative_to(repository):
        raise fail("PC0260", f"`extends: {name}` leaves the repository of this pack", span, help="copy that pack into this repository")
    if not stat.S_ISDIR(read_mode(place)) and place.suffix not in _ENDINGS:
        raise fail("PC0258", f"`extends: {name}` names no pack", span, help=_NAME)
    return place


def _find_repository(folder: Path) -> Path | None:
    """Return the nearest git repository that contains the folder, or None if there is none."""
    inner = resolve_path(folder)
    return next((one for one in (inner, *inner.parents) if read_mode(one / ".git")), None)


def apply_variation(manifest: Node, variation: Node, patches: Mapping[str, Node], findings: list[Diagnostic]) -> Node:
    """Return `manifest` with `variation` merged into it, after the patches that its `use` names. Errors are added to `findings`."""
    return _apply(manifest, variation, patches, findings, (), [])


@frozen(eq=False)
class Tried:
    """A manifest with replaced values, the replacements as `PATH=YAML`, and notes about them."""

    manifest: Node
    tries: tuple[str, ...]
    notes: tuple[Diagnostic, ...]


def try_values(manifest: Node, changes: Sequence[Try]) -> Tried:
    """Return the manifest as if its own files had these values.

    The values override those of base packs; variants, patches and tiers are still merged over them. A path is keys joined by dots. An entry
    of a list is named by its `id` or `name`, or else by `[n]`, counted from 0. The value `null` removes a key.

    Raises `UsageError` (PC0718) for a path that leads nowhere, and `PromptcError` with the errors of a value, whose place is `--try PATH`.
    """
    tried: list[tuple[tuple[str | int, ...], str]] = []
    for path, text in changes:
        place = f"--try {shorten(path)}"
        keys = _read_path(manifest, path, place)
        value = load_yaml(text.encode("utf-8", "surrogateescape"), place, manifest.folder) if text.strip() not in _NULLS else None
        manifest = _put(manifest, keys, value, Span(place, 1, 1, text.partition("\n")[0][:_EXCERPT]))
        tried.append((keys, place))
    found = check_effective_shape(manifest) if tried else []
    if not found:
        manifest = index_sections(list_sections(manifest), found) if tried else manifest
    if found:
        raise PromptcError(found)
    texts = tuple(f"{path}={text}" for path, text in changes)
    return Tried(manifest, texts, tuple(note for keys, place in tried for note in _iter_overruled(manifest, keys, place)))


def find_value(manifest: Node, path: str) -> Node | None:
    """Return the value at a path of a manifest, or None if the path has no value yet.

    The path is read as in `try_values`. Raises `UsageError` (PC0718) for a path that leads nowhere.
    """
    return follow_path(manifest, path, f"--sweep {shorten(path)}")[-1][1]


def list_pools(manifest: Node) -> list[tuple[str, Node]]:
    """Return the pools of a manifest as pairs of name and node."""
    pools = manifest.get("pools")
    return list(pools.items()) if pools is not None else []


def follow_path(manifest: Node, path: str, place: str) -> tuple[tuple[str | int, Node | None], ...]:
    """Return the keys of a path, each with the value there; the values are None from the first key that the manifest lacks.

    The path is read as in `try_values`. The manifest may be one file of several, with its sections still a list. Raises `UsageError`
    (PC0718), in which the path is called `place`.
    """
    node: Node | None = manifest
    found: list[tuple[str | int, Node | None]] = []
    for key in _read_path(manifest, path, place):
        node = _step(node, key) if node is not None else None
        found.append((key, node))
    return tuple(found)


def list_setters(manifest: Node, path: str) -> list[tuple[str, Node]]:
    """Return the variants, patches and tiers that set the value at `path` themselves, as pairs of the path there and the node they set.

    Raises `UsageError` (PC0718) for a path that leads nowhere.
    """
    keys = _read_path(manifest, path, shorten(path))
    return [(f"{name}.{there}", node) for name, node, there in _iter_set(manifest, keys)]


def iter_numbers(manifest: Node) -> Iterator[tuple[str, Node]]:
    """Yield every number of a manifest with its path, in the file's order: the values an author may want to try."""
    yield from _iter_numbers(manifest, ())


def _iter_numbers(node: Node, keys: tuple[str | int, ...]) -> Iterator[tuple[str, Node]]:
    if isinstance(node.value, dict):
        for key, inner in node.value.items():
            yield from _iter_numbers(inner, (*keys, key))
    elif isinstance(node.value, tuple):
        for at, inner in enumerate(node.value):
            names = [found.value for key in _NAMING if (found := inner.get(key)) is not None and isinstance(found.value, str)]
            yield from _iter_numbers(inner, (*keys, names[0] if names else at))
    elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield _join(keys), node


def _read_path(manifest: Node, path: str, place: str) -> tuple[str | int, ...]:
    """Return the keys of a path. Names that the author chose and entries of lists must exist; other keys may be new."""
    if path.partition(".")[0] == _EXTENDS:
        raise _refuse_path(place, "a base is laid under the manifest before anything is tried", f"change `{_EXTENDS}` in the file")
    node: Node | None = manifest
    keys: list[str | int] = []
    is_by_name = False
    rest = path
    while rest:
        key, rest = _read_key(node, rest)
        _check_key(node, key, keys, is_by_name, place)
        node = _step(node, key) if node is not None else None
        is_by_name = not is_by_name and key in _BY_NAME
        if is_by_name and node is None and rest:
            raise _refuse_path(place, f"the pack has no `{_join([*keys, key])}`", "name a value that is in the manifest")
        keys.append(key)
        if rest and rest[0] == ".":
            rest = rest[1:] or "."
    if not keys:
        raise _refuse_path(place.strip(), "no value is named", "such as `--try sections.rules.budget=600`")
    return tuple(keys)


def _read_key(node: Node | None, rest: str) -> tuple[str | int, str]:
    """Return the first key of a path and the rest. The longest known name wins, because an author's names may contain dots."""
    known = [name for name in _list_names(node) if rest == name or (rest.startswith(name) and rest[len(name)] in ".[")]
    found = _FIRST_KEY.match(rest)
    key = max(known, key=len) if known else found[0] if found is not None else rest[:1]
    is_place = not known and key[0] == "[" and key[-1] == "]"
    return (int(key[1:-1]) if is_place else key), rest[len(key) :]


def _list_names(node: Node | None) -> list[str]:
    if node is None or not isinstance(node.value, tuple):
        return [name for name, _ in node.items()] if node is not None else []
    return [str(found.value) for one in node.value for key in _NAMING if (found := one.get(key)) is not None]


def _check_key(node: Node | None, key: str | int, keys: Sequence[str | int], is_by_name: bool, place: str) -> None:
    """Raise `UsageError` (PC0718) if the key is not possible at this place."""
    around, names = _join(keys), _list_names(node)
    what = f"`{shorten(str(key))}`" if isinstance(key, str) else f"entry [{key}]"
    if node is None:
        if isinstance(key, str) and not key.startswith(("[", ".")):
            return
        message, help = f"the pack has no list at `{around}`", "name a value that is in the manifest"
    elif isinstance(node.value, dict):
        if isinstance(key, str) and not key.startswith(("[", ".")) and (key in names or not is_by_name):
            return
        message, help = f"{_quote(around)} has no {what}", suggest(str(key), names) or offer_names(names)
    elif isinstance(node.value, tuple):
        if (key in names) if isinstance(key, str) else key < len(node.value):
            return
        count = f"the list has {len(node.value)}, from [0] on" if node.value else "the list is empty"
        message, help = f"{_quote(around)} has no {what}", suggest(str(key), names) if isinstance(key, str) and names else count
    else:
        message = f"`{around}` is {shorten(node.raw) or 'null'}, which has no {what}"
        help = f"set all of it, such as `--try {quote(f'{around}={{{key}: …}}')}`"
    raise _refuse_path(place, message, help)


def _refuse_path(place: str, message: str, help: str) -> UsageError:
    return UsageError([Diagnostic("PC0718", f"`{place}`: {message}", help=help)])


def _quote(around: str) -> str:
    return f"`{around}`" if around else "the manifest"


def _join(keys: Sequence[str | int]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _step(node: Node, key: str | int) -> Node | None:
    if not isinstance(node.value, tuple):
        return node.get(str(key))
    at = _find_entry(node, key)
    entry: Node | None = node.value[at] if at is not None else None
    return entry


def _find_entry(node: Node, key: str | int) -> int | None:
    """Return the index of the list entry that a key names, or None if there is no such entry."""
    if isinstance(key, int):
        return key
    return next((at for at, one in enumerate(node.value) if any(one.find_text(name) == key for name in _NAMING)), None)


def _put(node: Node | None, keys: Sequence[str | int], value: Node | None, span: Span) -> Node:
    """Return the node with `value` at the parsed path, or without that key if `value` is None."""
    key, rest = keys[0], keys[1:]
    if node is not None and isinstance(node.value, tuple):
        at = _find_entry(node, key)
        assert at is not None
        new = (_put(node.value[at], rest, value, span),) if rest else (value,) if value is not None else ()
        return replace(node, value=(*node.value[:at], *new, *node.value[at + 1 :]))
    owner = node if node is not None else Node({}, span, "")
    name = str(key)
    old = owner.get(name)
    if not rest and value is None:
        if old is None:
            raise _refuse_path(span.file, "there is no such key to take out", suggest(name, owner.value))
        return _without(owner, [name])
    inner = _put(old, rest, value, span) if rest else value
    assert inner is not None
    return _with(owner, name, inner, Node({}, span, ""))


def _iter_overruled(manifest: Node, keys: Sequence[str | int], place: str) -> Iterator[Diagnostic]:
    """Yield a note if variations set the value too, because theirs wins when they are chosen."""
    found = list(_iter_set(manifest, keys))
    if not found:
        return
    name, node, path = found[0]
    more = (
        f", and so do {len(found) - 1} other variations" if len(found) > 2 else f", and so does `{found[1][0]}`" if len(found) > 1 else ""
    )
    message = f"`{name}` sets `{path}`, too{more}: where it is chosen, its value wins over `{place}`"
    yield Diagnostic("PC0719", message, node.span, f"to try that one: `--try {quote(f'{name}.{path}')}=…`", "note")


def _iter_set(manifest: Node, keys: Sequence[str | int]) -> Iterator[tuple[str, Node, str]]:
    """Yield the variations that set the value at a path, except the one that the path itself leads into.

    Each is its path, the node it sets and the path of that node inside the variation.
    """
    own = _join(keys)
    for name, variation in _iter_variations(manifest):
        there = _find_set(variation, keys) if not own.startswith(f"{name}.") else None
        if there is not None:
            yield name, *there


def _iter_variations(manifest: Node) -> Iterator[tuple[str, Node]]:
    """Yield every variant's case, patch and strain tier with its path."""
    variants, patches, strain = manifest.get("variants"), manifest.get("patches"), manifest.get("strain")
    for axis, node in variants.items() if variants is not None else ():
        for case, variation in node.value["cases"].items():
            yield f"variants.{axis}.cases.{case}", variation
    for name, variation in patches.items() if patches is not None else ():
        yield f"patches.{name}", variation
    for tier in strain.value["tiers"].value if strain is not None else ():
        yield f"strain.tiers.{tier.text('name')}", _without(tier, ["name", "variants", "at", "leave", "do"])


def _find_set(variation: Node, keys: Sequence[str | int]) -> tuple[Node, str] | None:
    """Return what a variation sets at a path or at one of its ancestors, and the path of that, or None if it sets neither."""
    node = variation
    for at, key in enumerate(keys):
        if not isinstance(node.value, dict):
            return node, _join(keys[:at])
        inner = node.get(str(key))
        if inner is None:
            return None
        node = inner
    return node, _join(keys)


def apply_edits(manifest: Node, edits: Sequence[str]) -> Node:
    """Return the manifest with each edit merged over it, in order, as if it were written there. An edit is YAML like a patch.

    Their shape is not checked: the code that writes them knows the language. Raises `PromptcError` for an edit that does not fit the
    manifest.
    """
    findings: list[Diagnostic] = []
    for edit in edits:
        manifest = apply_extension(manifest, load_yaml(edit.encode(), "edit", manifest.folder), findings)
    if findings:
        raise PromptcError(findings)
    return manifest


def apply_extension(parent: Node, child: Node, findings: list[Diagnostic]) -> Node:
    """Return the manifest of a pack that extends another: `parent` with `child` merged over it.

    `child` may set every key. If it clears a key that hides content, PC0245 is added to `findings`.
    """
    for key in _HIDING:
        change = child.get(key)
        if change is not None and change.value is None and parent.get(key) is not None:
            message = f"a pack that extends another may not clear its `{key}`: it would show what its base hides"
            findings.append(Diagnostic("PC0245", message, change.span, f"leave `{key}` out, or write another rule"))
    return _merge_manifest(parent, child, findings)


def index_sections(manifest: Node, findings: list[Diagnostic]) -> Node:
    """Return the manifest with its list of sections as a mapping by id, in the list's order.

    If two sections share an id, the first is kept and PC0240 is added to `findings`.
    """
    listed = manifest.get("sections")
    if listed is None or not isinstance(listed.value, tuple):
        return manifest
    by_id: dict[str, Node] = {}
    for section in listed.value:
        name = str(section.value["id"].value)
        if name in by_id:
            first = by_id[name].value["id"].span
            findings.append(
                Diagnostic(
                    "PC0240",
                    f"two sections have the id `{name}`; the first is at line {first.line}",
                    section.value["id"].span,
                    "rename one of them",
                )
            )
        by_id.setdefault(name, section)
    keys = {name: node.value["id"].span for name, node in by_id.items()}
    return _with(manifest, "sections", replace(listed, value=by_id, keys=keys))


def _apply(
    manifest: Node,
    variation: Node,
    patches: Mapping[str, Node],
    findings: list[Diagnostic],
    using: tuple[str, ...],
    applied: list[Node],
) -> Node:
    """Merge a variation after what it uses. `using` are the patches on the way to it, and `applied` all that were applied so far."""
    for name in _used(variation):
        patch = patches.get(str(name.value))
        if patch is None:
            findings.append(Diagnostic("PC0241", f"there is no patch `{name.value}`", name.span, suggest(str(name.value), patches)))
        elif name.value in using:
            findings.append(
                Diagnostic(
                    "PC0242",
                    f"patches use each other in a circle: {' → '.join((*using, str(name.value)))}",
                    name.span,
                    "remove one `use`",
                )
            )
        elif len(applied) < MOST_APPLIED:
            applied.append(name)
            manifest = _apply(manifest, patch, patches, findings, (*using, str(name.value)), applied)
        elif len(applied) == MOST_APPLIED:
            applied.append(name)
            message = f"more than {MOST_APPLIED} patches are applied at once, counting those that patches `use`"
            help = "let each patch use fewer others, or write their changes in one patch"
            findings.append(Diagnostic("PC0269", message, name.span, help))
    return _merge_manifest(manifest, _without(variation, ["name", "variants"]), findings)  # a tier's own keys


def _used(variation: Node) -> tuple[Node, ...]:
    use = variation.get("use")
    return use.value if use is not None and isinstance(use.value, tuple) else ()


def _merge_manifest(manifest: Node, variation: Node, findings: list[Diagnostic]) -> Node:
    for key, node in variation.items():
        if key == "sections":
            manifest = _with(manifest, key, _merge_sections(manifest.value["sections"], node, findings))
        elif key == TOOLS and are_items(node) and are_items(manifest.get(key)):
            manifest = _with(manifest, key, _merge_items(manifest.value[key], node), variation)
        elif key not in ("use", "at", "leave", "do"):
            manifest = _merge_key(_sign_anew(manifest, node) if key == "define" else manifest, key, node, variation)
    return manifest


def _sign_anew(manifest: Node, changes: Node) -> Node:
    """Return the manifest with the signatures of `changes` for its definitions: `about(who)` replaces `about(npc)`."""
    define = manifest.get("define")
    if define is None or not isinstance(define.value, dict) or not isinstance(changes.value, dict):
        return manifest
    signed = {_read_name(signature): signature for signature, _ in changes.items()}
    keys = {signed.get(_read_name(old), old): define.key_span(old) for old, _ in define.items()}
    values = {signed.get(_read_name(old), old): node for old, node in define.items()}
    return _with(manifest, "define", replace(define, value=values, keys=keys))


def _read_name(signature: str) -> str:
    """Return the name of a definition, without its parameters."""
    return signature.partition("(")[0]


def _merge_sections(sections: Node, changes: Node, findings: list[Diagnostic]) -> Node:
    by_id = dict(sections.value)
    keys = dict(sections.keys or {})
    for name, change in changes.items():
        if name not in by_id and not _is_whole(change):
            help = suggest(name, by_id) or "correct the id; a new section needs a source and `before` or `after`"
            findings.append(Diagnostic("PC0243", f"there is no section `{name}` to change", changes.key_span(name), help))
            continue
        if name in by_id and change.value is None:
            _remove_section(by_id, name, change, findings)
            continue
        if name in by_id:
            by_id[name] = _merge_section(by_id[name], change, name, findings)
        else:
            by_id[name] = change
            keys[name] = changes.key_span(name)
        _place(by_id, name, change, findings)
    return replace(sections, value=by_id, keys=keys)


def _remove_section(by_id: dict[str, Node], name: str, change: Node, findings: list[Diagnostic]) -> None:
    locked = [key for key in _LOCKED if (held := by_id[name].get(key)) is not None and held.value is True]
    if locked:
        findings.append(
            Diagnostic(
                "PC0245",
                f"section `{name}` is {locked[0]}, and a change here cannot remove it",
                change.span,
                f"remove `{locked[0]}` from the section first",
            )
        )
    else:
        del by_id[name]


def _is_whole(section: Node) -> bool:
    return any(section.get(key) for key in SOURCES) and any(section.get(key) for key in _PLACING)


def _place(by_id: dict[str, Node], name: str, change: Node, findings: list[Diagnostic]) -> None:
    side = next((key for key in _PLACING if change.get(key) is not None and change.value[key].value is not None), None)
    if side is None:
        return
    other = change.value[side]
    if other.value not in by_id or other.value == name:
        findings.append(
            Diagnostic(
                "PC0244",
                f"section `{name}` cannot be placed {side} `{other.value}`: there is no such section",
                other.span,
                suggest(str(other.value), by_id),
            )
        )
        return
    moved = by_id.pop(name)
    order = list(by_id.items())
    by_id.clear()
    for key, node in order:
        if key == other.value and side == "before":
            by_id[name] = moved
        by_id[key] = node
        if key == other.value and side == "after":
            by_id[name] = moved


def _merge_section(section: Node, change: Node, name: str, findings: list[Diagnostic]) -> Node:
    for key in _LOCKED:
        now, then = section.get(key), change.get(key)
        if now is not None and now.value is True and then is not None and then.value is not True:
            findings.append(
                Diagnostic(
                    "PC0245",
                    f"section `{name}` is {key}, and a change here cannot undo that",
                    then.span,
                    f"remove `{key}` here, or remove it from the section itself",
                )
            )
            return section
    hidden = change.get(_REDACT)
    if hidden is not None and hidden.value is None and section.get(_REDACT) is not None:
        message = f"section `{name}` has `redact`, and a change here cannot undo that"
        findings.append(Diagnostic("PC0245", message, hidden.span, "remove `redact` here, or remove it from the section itself"))
        return section
    named = [key for key in SOURCES if change.get(key) is not None and change.value[key].value is not None]
    if named:
        section = _without(section, [key for key in SOURCES if key not in named])
    for key, node in change.items():
        if key == "items" and section.get("items") is not None and isinstance(node.value, dict):
            section = _with(section, key, _merge_items(section.value["items"], node))
        else:
            section = _merge_key(section, key, node, change)
    return section


def _merge_items(items: Node, change: Node) -> Node:
    named = [key for key in RENDERINGS if change.get(key) is not None and change.value[key].value is not None]
    if named:
        items = _without(items, [key for key in RENDERINGS if key not in named])
    for key, node in change.items():
        items = _merge_key(_without_other_source(items, node) if key == "from" else items, key, node, change)
    return items


def _without_other_source(items: Node, change: Node) -> Node:
    """Remove the existing source from `items` if the change names the other one of `segments` and `retrieve`."""
    source = items.get("from")
    named = [key for key in _ELSEWHERE if change.get(key) is not None and change.value[key].value is not None]
    if source is None or not isinstance(source.value, dict) or not named:
        return items
    return _with(items, "from", _without(source, [key for key in _ELSEWHERE if key not in named]))


def _merge_key(owner: Node, key: str, node: Node, change: Node) -> Node:
    if node.value is None:
        return _without(owner, [key])
    old = owner.get(key)
    merged = _merge_mapping(old, node) if old is not None and isinstance(old.value, dict) and isinstance(node.value, dict) else node
    return _with(owner, key, merged, change)


def _merge_mapping(old: Node, change: Node) -> Node:
    for key, node in change.items():
        old = _merge_key(old, key, node, change)
    return old


def _with(owner: Node, key: str, node: Node, change: Node | None = None) -> Node:
    keys = {**(owner.keys or {}), key: change.key_span(key)} if change is not None else owner.keys
    return replace(owner, value={**owner.value, key: node}, keys=keys)


def _without(owner: Node, keys: list[str]) -> Node:
    if not any(key in owner.value for key in keys):
        return owner
    return replace(owner, value={key: node for key, node in owner.value.items() if key not in keys})


def are_items(tools: Node | None) -> bool:
    """Return whether `tools` are items rather than a list of files."""
    return tools is not None and isinstance(tools.value, dict)


def iter_keys(manifest: Node) -> Iterator[tuple[Node, str, Node]]:
    """Yield every key of the language as its owning mapping, the key and its value, at any depth, in the file's order.

    Keys that are names chosen by the author are skipped. `manifest` must have its sections by id (`index_sections`).
    """
    return _iter_keys(manifest, is_by_name=False)


def _iter_keys(node: Node, *, is_by_name: bool) -> Iterator[tuple[Node, str, Node]]:
    if isinstance(node.value, dict):
        for key, value in node.value.items():
            if not is_by_name:
                yield node, key, value
            yield from _iter_keys(value, is_by_name=not is_by_name and key in _BY_NAME)
    elif isinstance(node.value, tuple):
        for value in node.value:
            yield from _iter_keys(value, is_by_name=False)
