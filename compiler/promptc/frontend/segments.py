"""Files of segments → segments."""

import os
from collections.abc import Iterator
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.diag.value import join_names
from promptc.files.reading import TooLongError, decode_text, read_file
from promptc.frontend.schema_check import check_segments_shape
from promptc.frontend.yaml import MAX_BYTES, load_yaml
from promptc.model.sources import Segment
from promptc.model.state import Node
from promptc.sources.segments.rows import MAX_CONTENT, describe_twins, judge_row, place_of
from promptc.text.json import render_canonical_json

ENDINGS = (".md", ".yaml", ".yml")
_MARK = "---\n"
_MAX_FILE = MAX_CONTENT + MAX_BYTES


@frozen
class _ReadSegments:
    segment: Segment
    span: Span


def load_segments(path: Path) -> tuple[Segment, ...]:
    """The segments in a file, or in all files below a folder that end in `.md`, `.yaml` or `.yml`, sorted by id.

    Hidden folders and links to folders are passed over. Findings call files as `path` does. Raises `PromptcError` with all findings:
    those of the YAML, of the shape, PC0170, PC0171, PC0173, PC0174, PC0175; `DiskError` (PC0724) for what cannot be read.
    """
    findings: list[Diagnostic] = []
    read: list[_ReadSegments] = []
    for file, name in _iter_files(path):
        try:
            found = _load_file(file, name)
        except DiskError:
            raise
        except PromptcError as error:
            findings += error.diagnostics
            continue
        read += [one for one in found if isinstance(one, _ReadSegments)]
        findings += [one for one in found if isinstance(one, Diagnostic)]
    findings += _find_twins(read)
    if findings:
        raise PromptcError(findings)
    if not read:
        raise fail("PC0174", f"there are no segments in `{path}`", help=f"files of segments end in {join_names(ENDINGS)}")
    return tuple(sorted((one.segment for one in read), key=lambda one: one.id))


def _iter_files(path: Path) -> Iterator[tuple[Path, str]]:
    """Each file, and its name from which an id is made: the path inside the folder, joined by `/`."""
    if not path.is_dir():
        if path.suffix not in ENDINGS:
            _read_bytes(path)
            raise fail("PC0174", f"`{path}` is no file of segments", help=f"their names end in {join_names(ENDINGS)}")
        yield path, path.name
        return
    for folder, inner, names in os.walk(path, onerror=_refuse):
        inner[:] = sorted(one for one in inner if not one.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if file.suffix in ENDINGS and not name.startswith("."):
                if file.is_symlink():
                    raise fail("PC0174", f"`{file}` is a link", help="put the file itself into the folder")
                yield file, file.relative_to(path).as_posix()


def _load_file(file: Path, name: str) -> list[_ReadSegments | Diagnostic]:
    raw = _read_bytes(file)
    if file.suffix == ".md":
        return [_load_markdown(raw, file, name)]
    node = load_yaml(raw, str(file), str(file.parent))
    _check(node, check_segments_shape(node, "file"))
    return [_load_segment(one, one.get("content"), "") for one in node.value["segments"].value]


def _load_markdown(raw: bytes, file: Path, name: str) -> _ReadSegments | Diagnostic:
    text = decode_text(raw, str(file))
    start = Span(str(file), 1, 1, text.split("\n", 1)[0][:400])
    if not text.startswith(_MARK):
        raise fail("PC0170", "the file does not begin with front matter", start, help="begin it with `---`, `scope: …`, `---`")
    front, mark, body = f"\n{text[len(_MARK) :]}".partition(f"\n{_MARK}")
    if not mark and text.endswith("\n---"):
        front, mark = front.removesuffix("\n---"), _MARK
    if not mark:
        raise fail("PC0170", "the front matter has no end", start, help="end it with a line `---`; the content follows")
    node = load_yaml(f"{front}\n".encode(), str(file), str(file.parent))
    _check(node, check_segments_shape(node, "front"))
    content = node.get("content")
    if content is not None and body:
        raise fail("PC0170", "the segment has `content` and a body", node.key_span("content"), help="keep one of them")
    return _load_segment(node, content, name.removesuffix(".md"), body.removesuffix("\n"))


def _load_segment(node: Node, content: Node | None, name: str, body: str = "") -> _ReadSegments | Diagnostic:
    """The row it will be is judged as one that is read."""
    plain: dict[str, Any] = node.plain()
    plain["id"] = plain.get("id", name)
    keys = ("id", "scope", "ref_id", "content", "metadata", "active", "locale", "version", "priority")
    row = {key: plain.get(key) for key in keys}
    row["content"] = content.value if content is not None else body
    row["active"] = plain.get("active", True)
    row["metadata"] = render_canonical_json(plain.get("metadata", {}))
    judged = judge_row(**row)
    if isinstance(judged, str):
        return Diagnostic("PC0175", f"the segment `{plain['id']}` cannot be stored: {judged}", node.span)
    return _ReadSegments(judged, node.span)


def _find_twins(read: list[_ReadSegments]) -> Iterator[Diagnostic]:
    ids: dict[str, Span] = {}
    places: dict[Any, _ReadSegments] = {}
    for one in read:
        segment = one.segment
        first = ids.setdefault(segment.id, one.span)
        if first is not one.span:
            yield Diagnostic("PC0171", f"there are two segments with the id `{segment.id}`; the first is at {first}", one.span)
            continue
        place = place_of(segment)
        twin = places.setdefault(place, one) if place is not None else one
        if twin is not one:
            yield Diagnostic("PC0173", describe_twins(twin.segment, segment), one.span, f"the other is at {twin.span}")


def _check(node: Node, found: list[Diagnostic]) -> None:
    if found:
        raise PromptcError(found)


def _read_bytes(file: Path) -> bytes:
    try:
        return read_file(file, _MAX_FILE)
    except TooLongError:
        raise fail("PC0102", f"`{file}` is larger than {_MAX_FILE} bytes", Span(str(file), 1, 1)) from None
    except (OSError, ValueError) as wrong:
        raise _explain(wrong, file) from None


def _refuse(wrong: OSError) -> None:
    raise _explain(wrong)


def _explain(wrong: OSError | ValueError, file: Path | None = None) -> DiskError:
    name = file or getattr(wrong, "filename", None)
    reason = getattr(wrong, "strerror", None) or "the name does not do"
    return DiskError([Diagnostic("PC0724", f"cannot read {name}: {reason}", help="name a folder or file with segments")])
