"""Fill docs/reference/python.md from the signatures and docstrings of what `import promptc` offers.

With --check, compare the page with what this tool would write. Generated text is between `<!-- api of NAME -->`, or `<!-- api of NAME: some
of its members -->`, and `<!-- end of api -->`. Without a list, the part has the members that no other part of the page names. The first
part of a class begins with its docstring. If a docstring describes arguments or fields in a list of "- `name`: text", the descriptions are
shown in their table.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promptc

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "python.md"
INNER = frozenset(("late_digest",))
"""Fields that store the value of another attribute."""
_NOTE = re.compile(r"^- `(\w+)`: (.+)$", re.MULTILINE)
_PART = re.compile(r"<!-- api of (\w+)(?:: ([\w ]+))? -->\n.*?<!-- end of api -->", re.DOTALL)


def fill(text: str) -> str:
    """Return the page with all generated text made again from the code."""
    named: dict[str, set[str]] = {}
    first: dict[str, int] = {}
    for part in _PART.finditer(text):
        first.setdefault(part[1], part.start())
    for name, members in list_parts(text):
        named.setdefault(name, set()).update(members.split())
    return _PART.sub(lambda part: _render_part(part, named[part[1]], is_first=first[part[1]] == part.start()), text)


def list_parts(text: str) -> list[tuple[str, str]]:
    """Return the parts of a page: a name that promptc offers, and the members that the part lists, or an empty text."""
    return [(part[1], part[2] or "") for part in _PART.finditer(text)]


def list_members(owner: type) -> tuple[str, ...]:
    """Return the public names of a promptc class in the order of its code, first those it inherits from promptc."""
    held = [vars(one) for one in reversed(owner.__mro__) if one.__module__.startswith("promptc")]
    names = [name for body in held for name in (*body.get("__annotations__", {}), *body)]
    return tuple(name for name in dict.fromkeys(names) if not name.startswith("_") and name not in INNER)


def _render_part(part: re.Match[str], named: set[str], *, is_first: bool) -> str:
    thing = getattr(promptc, part[1])
    if not isinstance(thing, type):
        body = _render_call(part[1], thing)
    else:
        names = tuple(part[2].split()) if part[2] else tuple(name for name in list_members(thing) if name not in named)
        body = "\n\n".join([*([_read_doc(thing)] if is_first else []), *_iter_members(thing, names)])
    return f"{part[0].splitlines()[0]}\n\n{body}\n\n<!-- end of api -->"


def _iter_members(owner: type, names: tuple[str, ...]) -> Iterator[str]:
    """Yield a table of the attributes of a class, then each of its methods."""
    static = {name: inspect.getattr_static(owner, name, None) for name in names}
    calls = [name for name in names if inspect.isfunction(static[name]) or isinstance(static[name], classmethod)]
    rows = [_render_attribute(owner, name, static[name]) for name in names if name not in calls]
    if rows:
        yield "\n".join(["| attribute | type | |", "| --- | --- | --- |", *rows])
    for name in calls:
        yield f"### {owner.__name__}.{name}\n\n{_render_call(name, getattr(owner, name))}"


def _render_attribute(owner: type, name: str, value: Any) -> str:
    if isinstance(value, property):
        said = " ".join(_read_doc(value).split())  # a row is one line, however many paragraphs there are
        return f"| `{name}` | {_render_kind(inspect.signature(_the_getter(value)).return_annotation)} | {said} |"
    kind = next(one.__annotations__[name] for one in owner.__mro__ if name in vars(one).get("__annotations__", {}))
    said = _read_notes(owner).get(name, f"`{value!r}`" if isinstance(value, int) else "")
    return f"| `{name}` | {_render_kind(kind)} | {said} |"


def _the_getter(value: property) -> Any:
    return value.fget


def _render_call(name: str, call: Any) -> str:
    signature = inspect.signature(call)
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    bare = signature.replace(
        parameters=[one.replace(annotation=inspect.Parameter.empty) for one in parameters], return_annotation=inspect.Signature.empty
    )
    notes = _read_notes(call)
    rows = [_render_parameter(one, notes.get(one.name, "")) for one in parameters]
    table = "\n".join(["| argument | type | default | |", "| --- | --- | --- | --- |", *rows])
    gives = signature.return_annotation
    given = f"It gives {_render_kind(gives)}." if gives not in (None, "None", inspect.Signature.empty) else ""
    return "\n\n".join(part for part in (f"`{name}{bare}`", _read_doc(call), table if rows else "", given) if part)


def _render_parameter(one: inspect.Parameter, note: str) -> str:
    name = f"*{one.name}" if one.kind is one.VAR_POSITIONAL else one.name
    default = f"`{one.default!r}`" if one.default is not one.empty else "" if name != one.name else "required"
    return f"| `{name}` | {_render_kind(one.annotation)} | {default} | {note} |"


def _render_kind(kind: Any) -> str:
    text = re.sub(r"ClassVar\[(\w+)\]", r"\1", str(kind)).replace("Self", "Pack").replace("|", "\\|")
    return f"`{text}`" if text else ""


def _read_doc(thing: Any) -> str:
    """Return a docstring as Markdown, each paragraph on one line, without its descriptions of arguments and fields."""
    return "\n\n".join(one for one in _list_paragraphs(thing) if not _NOTE.match(one))


def _read_notes(thing: Any) -> dict[str, str]:
    """Return the descriptions of arguments or fields in a docstring."""
    return {name: said[0].upper() + said[1:] for one in _list_paragraphs(thing) for name, said in _NOTE.findall(one)}


def _list_paragraphs(thing: Any) -> list[str]:
    return [re.sub(r"\n(?!- ) *", " ", one) for one in (inspect.getdoc(thing) or "").split("\n\n")]


def main() -> int:
    """Write the page, or with --check report whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is out of date")
    old = PAGE.read_text(encoding="utf-8")
    new = fill(old)
    if parser.parse_args().check:
        if old != new:
            sys.stderr.write("docs/reference/python.md is out of date: run `make api`\n")
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
