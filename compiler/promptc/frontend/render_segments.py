"""Segments → the text of files that `load_segments` reads back as they were."""

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256

from promptc.diag.typed import Any
from promptc.frontend.yaml_scalar import resolve_scalar
from promptc.model.sources import Segment

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*", re.ASCII)
_UNSAFE = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_ESCAPED = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SLUG = re.compile(r"[^a-z0-9_.-]+", re.ASCII)
_DIGITS = 12
_LONGEST_SLUG = 80
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_.-]*[a-z0-9_])?", re.ASCII)
_TAKEN = re.compile(rf"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?|.*\.(?:md|ya?ml)|.*-[0-9a-f]{{{_DIGITS}}}")


def render_markdown(segment: Segment) -> str:
    """The segment as a Markdown file: front matter, then the content and one line end that is not part of it."""
    lines = list(_iter_keys(segment))
    if "\r" in segment.content or segment.content.startswith("\ufeff"):
        return "\n".join(["---", *lines, f"content: {_quote(segment.content)}", "---", ""])
    body = f"{segment.content}\n" if segment.content else ""
    return "\n".join(["---", *lines, "---", body])


def render_yaml(segments: Sequence[Segment]) -> str:
    """The segments as one YAML file with a list."""
    if not segments:
        return "segments: []\n"
    return "".join(["segments:\n", *(_render_entry(one) for one in segments)])


def name_file(segment: Segment) -> str:
    """The path of the segment's Markdown file inside a folder: its id, where that can be a path on every system, else one made of it.

    The same for the same id, and different for different ones, also where capitals are not told apart.
    """
    parts = segment.id.split("/")
    if all(_is_name(part) for part in parts):
        return f"{segment.id}.md"
    plain = _SLUG.sub("-", segment.id.lower()).strip("-.")[:_LONGEST_SLUG].rstrip("-.")
    return f"{plain or 'segment'}-{sha256(segment.id.encode()).hexdigest()[:_DIGITS]}.md"


def _is_name(part: str) -> bool:
    """Whether it is as it is on every system, and is no name that is made."""
    return _NAME.fullmatch(part) is not None and not _TAKEN.fullmatch(part)


def _render_entry(segment: Segment) -> str:
    keys = "\n    ".join(_iter_keys(segment))
    return f"  - {keys}\n    content: {_render_content(segment.content)}\n"


def _iter_keys(segment: Segment) -> Iterator[str]:
    """Every key but `content`; those that are as if not given are left out."""
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
    """A block where every line can stand in one, else a quoted text."""
    lines = content.split("\n")
    is_block = len(lines) > 1 and lines[0].strip() and not lines[0][0].isspace() and not _UNSAFE.search(content)
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
    """What a plain scalar of that text would be read as; None where it would be refused."""
    try:
        return resolve_scalar(text)
    except ValueError:
        return None


def _quote(text: str) -> str:
    """In double quotes, whatever characters are in it."""
    plain = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)
