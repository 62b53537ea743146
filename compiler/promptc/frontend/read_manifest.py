"""A manifest with its bases merged in."""

from pathlib import Path, PurePosixPath

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError, PromptcError, fail
from promptc.diag.span import Span
from promptc.frontend.pack_files import PackFiles
from promptc.frontend.schema_check import check_effective_shape, check_pack_shape
from promptc.frontend.vary import apply_extension, index_sections
from promptc.frontend.yaml_io import load_yaml
from promptc.model.node import Node

MANIFEST = "pack.yaml"


def find_manifest(path: Path) -> Path:
    """The manifest file of a pack given as a file or a folder."""
    return path / MANIFEST if path.is_dir() else path


def read_manifest(file: Path, files: PackFiles, below: tuple[Path, ...] = ()) -> Node:
    """The manifest at `file`, valid in shape, with what it extends merged in and its sections by id.

    `files` reads it. Raises `PromptcError` with all findings of the reading or of the shape, `DiskError`
    when it cannot be read.
    """
    try:
        raw = files.read_manifest(file)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DiskError(
            [Diagnostic("PC0154", f"cannot read the pack {file}: {reason}", help="name a pack's file, or a folder with a `pack.yaml`")]
        ) from error
    node = load_yaml(raw, str(file), str(file.parent))
    found = check_pack_shape(node)
    if found:
        raise PromptcError(found)
    findings: list[Diagnostic] = []
    node = index_sections(node, findings)
    extends = node.get("extends")
    if extends is not None:
        node = _extend(node, extends, files, (*below, file.resolve()), findings)
    if findings:
        raise PromptcError(findings)
    return node


def _extend(node: Node, extends: Node, files: PackFiles, below: tuple[Path, ...], findings: list[Diagnostic]) -> Node:
    name = str(extends.value)
    parent = find_manifest(_resolve(Path(extends.folder), name, extends.span, files))
    if parent.resolve() in below:
        raise fail("PC0259", f"packs extend each other in a circle: `{name}` is extended already", extends.span)
    if not parent.is_file():
        raise fail(
            "PC0258", f"`extends: {name}` names no pack", extends.span, help="name a pack's folder or file, relative to this manifest"
        )
    merged = apply_extension(read_manifest(parent, files, below), node, findings)
    findings.extend(check_effective_shape(merged) if not findings else ())
    return merged


def _resolve(folder: Path, name: str, span: Span, files: PackFiles) -> Path:
    if "\\" in name or "\0" in name or PurePosixPath(name).is_absolute() or name.startswith("~"):
        raise fail(
            "PC0260",
            f"`extends: {name}` is no relative path",
            span,
            help="give a path relative to this manifest, with `/` between its parts",
        )
    place = folder
    for part in PurePosixPath(name).parts:
        place = place.parent if part == ".." and place.name not in ("", "..") else place / part
        if place.is_symlink():
            raise fail("PC0260", f"`extends: {name}` goes through a link", span, help="name the folder itself")
        files.note_unlinked(place)
    return place
