"""Reads segments from files (`load_segments`), and writes them (`render_markdown`, `render_yaml`)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail, join_names
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import TooLongError, decode_text, read_file
from promptc.frontend.shape import check_segments_shape
from promptc.frontend.yaml import MAX_BYTES, REFUSED, load_yaml, resolve_scalar
from promptc.model.sources import Segment
from promptc.model.state import Node
from promptc.sources.segments import MAX_CONTENT, describe_twins, judge_row, place_of
from promptc.text.json import render_canonical_json

ENDINGS = (".md", ".yaml", ".yml")
_MARK = "---\n"
_MAX_FILE = MAX_CONTENT + MAX_BYTES
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*", re.ASCII)
_ESCAPED = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SLUG = re.compile(r"[^a-z0-9_.-]+", re.ASCII)
_DIGITS = 12
_LONGEST_SLUG = 80
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_.-]*[a-z0-9_])?", re.ASCII)
_TAKEN = re.compile(rf"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?|.*\.(?:md|ya?ml)|.*-[0-9a-f]{{{_DIGITS}}}")


@frozen
class _ReadSegments:
    segment: Segment
    span: Span


def load_segments(path: Path) -> tuple[Segment, ...]:
    """Return the segments in a file, or in all files below a folder that end in `.md`, `.yaml` or `.yml`, sorted by id.

    Hidden files and folders and links to folders are skipped. Findings name files by their path under `path`. Raises `PromptcError` with
    all findings: those of the YAML and of the shape, and PC0170, PC0171, PC0173, PC0174 and PC0175. Raises `DiskError` (PC0724) for a file
    or folder that cannot be read.
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
    findings += _iter_twins(read)
    if findings:
        raise PromptcError(findings)
    if not read:
        raise fail("PC0174", f"there are no segments in `{path}`", help=f"name a folder with files that end in {join_names(ENDINGS)}")
    return tuple(sorted((one.segment for one in read), key=lambda one: one.id))


def _iter_files(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file, and the name from which an id is made: its path inside the folder, joined by `/`."""
    if not path.is_dir():
        if path.suffix not in ENDINGS:
            _read_bytes(path)
            raise fail("PC0174", f"`{path}` is not a file of segments", help=f"name a file that ends in {join_names(ENDINGS)}")
        yield path, path.name
        return
    for folder, inner, names in os.walk(path, onerror=_refuse):
        inner[:] = sorted(one for one in inner if not one.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if file.suffix in ENDINGS and not name.startswith("."):
                if file.is_symlink():
                    raise fail(
                        "PC0174",
                        f"`{file}` is a symbolic link, and promptc does not follow links",
                        help="replace the link with a copy of the file",
                    )
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
        raise fail(
            "PC0170", "the file does not begin with front matter", start, help="begin it with three lines: `---`, `scope: world`, `---`"
        )
    front, mark, body = f"\n{text[len(_MARK) :]}".partition(f"\n{_MARK}")
    if not mark and text.endswith("\n---"):
        front, mark = front.removesuffix("\n---"), _MARK
    if not mark:
        raise fail("PC0170", "the front matter does not end", start, help="end it with a line `---`, and write the content after that")
    node = load_yaml(f"{front}\n".encode(), str(file), str(file.parent))
    _check(node, check_segments_shape(node, "front"))
    content = node.get("content")
    if content is not None and body:
        raise fail(
            "PC0170", "the segment has both `content` and a text after the front matter", node.key_span("content"), help="keep one of them"
        )
    return _load_segment(node, content, name.removesuffix(".md"), body.removesuffix("\n"))


def _load_segment(node: Node, content: Node | None, name: str, body: str = "") -> _ReadSegments | Diagnostic:
    """Return the segment, or a finding. The segment is validated like a row that is read from a store."""
    plain: dict[str, Any] = node.plain()
    plain["id"] = plain.get("id", name)
    keys = ("id", "scope", "ref_id", "content", "metadata", "active", "locale", "version", "priority")
    row = {key: plain.get(key) for key in keys}
    row["content"] = content.value if content is not None else body
    row["active"] = plain.get("active", True)
    row["metadata"] = render_canonical_json(plain.get("metadata", {}))
    judged = judge_row(**row)
    if isinstance(judged, str):
        return Diagnostic("PC0175", f"the segment `{plain['id']}` cannot be stored: {judged}", node.span, "correct the value")
    return _ReadSegments(judged, node.span)


def _iter_twins(read: list[_ReadSegments]) -> Iterator[Diagnostic]:
    ids: dict[str, Span] = {}
    places: dict[Any, _ReadSegments] = {}
    for one in read:
        segment = one.segment
        first = ids.setdefault(segment.id, one.span)
        if first is not one.span:
            yield Diagnostic(
                "PC0171", f"two segments have the id `{segment.id}`; the first is at {first}", one.span, "give each segment its own id"
            )
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
        raise fail(
            "PC0102", f"`{file}` is larger than {_MAX_FILE} bytes", Span(str(file), 1, 1), help="split it into several files"
        ) from None
    except (OSError, ValueError) as wrong:
        raise _explain(wrong, file) from None


def _refuse(wrong: OSError) -> None:
    raise _explain(wrong)


def _explain(wrong: OSError | ValueError, file: Path | None = None) -> DiskError:
    name = file or getattr(wrong, "filename", None)
    reason = getattr(wrong, "strerror", None) or "the name does not do"
    return DiskError([Diagnostic("PC0724", f"cannot read {name}: {reason}", help="name a folder or file with segments")])


def render_markdown(segment: Segment) -> str:
    """Return the segment as a Markdown file: front matter, then the content and one line end that is not part of it."""
    lines = list(_iter_keys(segment))
    if "\r" in segment.content or segment.content.startswith("\ufeff"):
        return "\n".join(["---", *lines, f"content: {_quote(segment.content)}", "---", ""])
    body = f"{segment.content}\n" if segment.content else ""
    return "\n".join(["---", *lines, "---", body])


def render_yaml(segments: Sequence[Segment]) -> str:
    """Return the segments as one YAML file with a list."""
    if not segments:
        return "segments: []\n"
    return "".join(["segments:\n", *(_render_entry(one) for one in segments)])


def name_file(segment: Segment) -> str:
    """Return the path of the segment's Markdown file inside a folder.

    The path is the segment's id if that is a valid path on every system, or else a name derived from it. Equal ids have equal paths, and
    different ids have different paths, even on file systems that ignore case.
    """
    parts = segment.id.split("/")
    if all(_is_name(part) for part in parts):
        return f"{segment.id}.md"
    plain = _SLUG.sub("-", segment.id.lower()).strip("-.")[:_LONGEST_SLUG].rstrip("-.")
    return f"{plain or 'segment'}-{sha256(segment.id.encode()).hexdigest()[:_DIGITS]}.md"


def _is_name(part: str) -> bool:
    """Return whether a part of an id is a valid file name on every system and cannot be mistaken for a derived name."""
    return _NAME.fullmatch(part) is not None and not _TAKEN.fullmatch(part)


def _render_entry(segment: Segment) -> str:
    keys = "\n    ".join(_iter_keys(segment))
    return f"  - {keys}\n    content: {_render_content(segment.content)}\n"


def _iter_keys(segment: Segment) -> Iterator[str]:
    """Yield the line of every key but `content`. Keys with their default value are left out."""
    yield f"id: {_render_text(segment.id)}"
    yield f"scope: {_render_text(segment.scope)}"
    for key in ("ref_id", "locale", "version"):
        value = getattr(segment, key)
        if value is not None:
            yield f"{key}: {_render_text(value)}"
    if segment.priority:
        yield f"priority: {segment.priority}"
    if not segment.active:
        yield "active: false"
    if segment.metadata:
        inner = ", ".join(f"{_render_text(key)}: {_render_value(value)}" for key, value in segment.metadata.items())
        yield f"metadata: {{{inner}}}"


def _render_content(content: str) -> str:
    """Return the content as a block if a block can represent it, or else as a quoted text."""
    lines = content.split("\n")
    is_block = len(lines) > 1 and lines[0].strip() and not lines[0][0].isspace() and not REFUSED.search(content)
    if not is_block:
        return _quote(content)
    kept = content.rstrip("\n")
    chomp = "-" if kept == content else "" if content == f"{kept}\n" else "+"
    shown = kept if chomp != "+" else content[:-1]
    return f"|{chomp}\n" + "\n".join(f"      {line}" if line else "" for line in shown.split("\n"))


def _render_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_render_text(key)}: {_render_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_render_value, value)) + "]"
    return _render_text(value) if isinstance(value, str) else json.dumps(value)


def _render_text(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and _resolve(text) == text else _quote(text)


def _resolve(text: str) -> Any:
    """Return the value of the text as a plain scalar, or None if it would be refused."""
    try:
        return resolve_scalar(text)
    except ValueError:
        return None


def _quote(text: str) -> str:
    """Return the text in double quotes, with escapes for characters that YAML does not allow."""
    plain = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)
