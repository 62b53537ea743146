"""A manifest with its bases merged in."""

import os
import stat
from pathlib import Path, PurePosixPath

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail
from promptc.files.reading import TooLongError, find_mode, follow_link
from promptc.frontend.manifest import apply_extension, index_sections
from promptc.frontend.pack_files import PackFiles
from promptc.frontend.schema_check import check_effective_shape, check_pack_shape
from promptc.frontend.yaml import MAX_BYTES, load_yaml
from promptc.model.state import Node

MANIFEST = "pack.yaml"

_ENDINGS = (".yaml", ".yml")
_NAME = "name a pack's folder, or a file that ends in `.yaml` or `.yml`, relative to this manifest"
_MARK = "promptc"
"""The key that every manifest has."""


def find_manifest(path: Path) -> Path:
    """The manifest file of a pack given as a file or a folder."""
    return path / MANIFEST if stat.S_ISDIR(find_mode(Path(follow_link(str(path))))) else path


def read_manifest(file: Path, files: PackFiles, below: tuple[Path, ...] = ()) -> Node:
    """The manifest at `file`, valid in shape, with what it extends merged in and its sections by id.

    `files` reads it. Raises `PromptcError` with all findings of the reading or of the shape, `DiskError`
    when it cannot be read.
    """
    return _merge(_parse(file, files), file, files, below)


def _parse(file: Path, files: PackFiles) -> Node:
    try:
        raw = files.read_manifest(file)
    except TooLongError:
        raise fail("PC0102", f"the file has more than {MAX_BYTES} bytes; no more are read", Span(str(file), 1, 1)) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DiskError(
            [Diagnostic("PC0154", f"cannot read the pack {file}: {reason}", help="name a pack's file, or a folder with a `pack.yaml`")]
        ) from error
    return load_yaml(raw, str(file), str(file.parent))


def _merge(node: Node, file: Path, files: PackFiles, below: tuple[Path, ...]) -> Node:
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
    if not os.path.lexists(parent):
        raise fail("PC0258", f"`extends: {name}` names no pack", extends.span, help=_NAME)
    merged = apply_extension(_merge(_parse_base(parent, extends, files), parent, files, below), node, findings)
    findings.extend(check_effective_shape(merged) if not findings else ())
    return merged


def _parse_base(file: Path, extends: Node, files: PackFiles) -> Node:
    """A file outside the pack may be anybody's: until it is known to be a manifest, no finding tells what stands in it."""
    if file.resolve().is_relative_to(Path(extends.folder).resolve()):
        return _parse(file, files)
    try:
        node = _parse(file, files)
    except DiskError:
        raise
    except PromptcError:
        node = None
    if node is None or node.get(_MARK) is None:
        message = f"`extends: {extends.value}` names no pack: the file there cannot be read as a manifest"
        raise fail("PC0258", message, extends.span, help=f"`promptc check {file}` tells what is wrong with it")
    return node


def _resolve(folder: Path, name: str, span: Span, files: PackFiles) -> Path:
    if "\\" in name or "\0" in name or PurePosixPath(name).is_absolute() or name.startswith("~"):
        raise fail(
            "PC0260",
            f"`extends: {name}` is no relative path",
            span,
            help="give a path relative to this manifest, with `/` between its parts",
        )
    repository = _find_repository(folder)
    place = folder
    for part in PurePosixPath(name).parts:
        place = place.parent if part == ".." and place.name not in ("", "..") else place / part
        if stat.S_ISLNK(find_mode(place)):
            raise fail("PC0260", f"`extends: {name}` goes through a link", span, help="name the folder itself")
        files.note_unlinked(place)
    if repository is not None and not place.resolve().is_relative_to(repository):
        raise fail("PC0260", f"`extends: {name}` leaves the repository of this pack", span, help="copy the pack that it varies into it")
    if not stat.S_ISDIR(find_mode(place)) and place.suffix not in _ENDINGS:
        raise fail("PC0258", f"`extends: {name}` names no pack", span, help=_NAME)
    return place


def _find_repository(folder: Path) -> Path | None:
    """The nearest folder at or above it that git keeps."""
    inner = folder.resolve()
    return next((one for one in (inner, *inner.parents) if os.path.lexists(one / ".git")), None)
