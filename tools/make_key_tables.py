"""Fill the tables of docs/reference/keys/ from the schemas of packs and cases. With --check, check whether the pages are up to date.

A table is between `<!-- keys of GROUP -->`, or `<!-- keys of GROUP: some of them -->`, and `<!-- end of keys -->`. A group is a mapping
of a schema: a definition of pack.schema.json by its name, and `case`, `case.expect` or `case#turn` of case.schema.json. The list of all
keys is in index.md, between `<!-- all keys -->` and `<!-- end of keys -->`.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tools.make_pack_schema import LADDER, REF, TIER, is_made

Schema = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "reference" / "keys"
CASE = "case"
_TABLE = re.compile(r"<!-- keys of (\S+?)(?:: ([\w ]+))? -->\n.*?<!-- end of keys -->", re.DOTALL)
_LIST = re.compile(r"<!-- all keys -->\n.*?<!-- end of keys -->", re.DOTALL)
_COLUMNS = ("key", "takes", "default", "what it does")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_STEPS = {f"{where}_{name}": name for where, names in (("truncate", LADDER), ("tier", TIER)) for name in names}
_STEPS["truncate_step"] = "ladder_step"
"""Steps that name their section, with the step that each equals apart from this."""


class Group(NamedTuple):
    """A mapping of a schema: its keys, the required ones, and the places where the mapping may be."""

    properties: dict[str, Schema]
    required: tuple[str, ...]
    places: tuple[str, ...]


class Table(NamedTuple):
    """A table of a page: the group, those of its keys that the table shows, and the page with the anchor of the heading above the table."""

    group: str
    keys: tuple[str, ...]
    target: str


class Tables:
    """All tables of some pages, and the schemas that they are made from."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.groups = load_groups()
        self.tables = tuple(table for name, text in pages.items() for table in _iter_tables(name, text, self.groups))
        self._targets = {table.group: table.target for table in reversed(self.tables)}
        schemas = _load_schemas()
        self._definitions = {CASE: schemas[CASE]["$defs"], "pack": schemas["pack"]["$defs"]}

    def fill(self, text: str) -> str:
        """Return a page with its tables made again."""
        return _LIST.sub(lambda _: self._render_list(), _TABLE.sub(self._render_table, text))

    def _render_table(self, found: re.Match[str]) -> str:
        group, named = found[1], found[2]
        properties, required, places = self.groups[group]
        head = found[0].split("\n", 1)[0]
        rows = [self._list_cells(group, key, properties[key], key in required) for key in (named.split() if named else properties)]
        shown = [0, 1, *([2] if any(row[2] for row in rows) else []), 3]  # a column of defaults only if there is a default
        where = f"Where: {', '.join(places)}.\n\n" if places else ""
        table = "\n".join(f"| {' | '.join(row[place] for place in shown)} |" for row in [_COLUMNS, ("---",) * len(_COLUMNS), *rows])
        return f"{head}\n\n{where}{table}\n\n<!-- end of keys -->"

    def _list_cells(self, group: str, key: str, value: Schema, is_required: bool) -> tuple[str, ...]:
        default = "required" if is_required else _show(value["default"]) if "default" in value else ""
        schema = CASE if group.startswith(CASE) else "pack"
        inner = f"{group}.{key}"
        takes = f"[a mapping]({self._targets[inner]})" if inner in self._targets else self._name_kind(value, schema)
        return (f"`{key}`", _escape(takes), default, _escape(value["description"]))

    def _render_list(self) -> str:
        rows = [
            f"| `{key}` | {places} | [{_name_page(table.target)}]({table.target}) |"
            for key, places, table in sorted(
                (key, ", ".join(self.groups[table.group].places), table) for table in self.tables for key in table.keys
            )
        ]
        return "\n".join(["<!-- all keys -->\n", "| key | where | page |", "| --- | --- | --- |", *rows, "\n<!-- end of keys -->"])

    def _name_kind(self, value: Schema, schema: str) -> str:
        """Return in words what a key accepts. A kind that has a table of its own is a link to it."""
        if "$ref" in value:
            name = value["$ref"].removeprefix(REF)
            target = self._find_target(name, schema)
            title = _name_definition(name, self._definitions[schema][name])
            return f"[{title}]({target})" if target else title
        if "title" in value:
            return str(value["title"])
        for choice in ("anyOf", "oneOf"):
            if choice in value:
                return " or ".join(dict.fromkeys(self._name_kind(one, schema) for one in value[choice] if one != {"type": "null"}))
        if value.get("type") == "array" and "items" in value:
            return f"a list, each entry {self._name_kind(value['items'], schema)}"
        if value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict):
            return f"a mapping, each value {self._name_kind(value['additionalProperties'], schema)}"
        return _name_plain(value)

    def _find_target(self, name: str, schema: str) -> str:
        """Return the link target of a definition's table, or of the first table that the definition leads to; empty if there is none."""
        name = name.removesuffix("_part")
        group = name if schema == "pack" else f"{CASE}#{name}"
        if name in _STEPS or group in self._targets:
            return self._targets.get(_STEPS.get(name, group), "")
        body = self._definitions[schema].get(name, {})
        inner = [*body.get("anyOf", ()), body.get("items", {}), body.get("additionalProperties", {})]
        led = [self._find_target(one["$ref"].removeprefix(REF), schema) for one in inner if isinstance(one, dict) and "$ref" in one]
        return next((target for target in led if target), "")


def load_groups() -> dict[str, Group]:
    """Return every mapping of the schemas that an author writes, without generated definitions."""
    schemas = _load_schemas()
    written = {name: body for name, body in schemas["pack"]["$defs"].items() if not is_made(name)}
    places: dict[str, list[str]] = {}
    _walk({"$ref": REF + "pack"}, "", schemas["pack"]["$defs"], places)
    groups = {
        name: Group(body["properties"], tuple(body.get("required", ())), tuple(places[name]))
        for name, body in written.items()
        if body.get("properties")
    }
    groups |= dict(_iter_mappings(schemas[CASE], CASE, ("at the top of `case.yaml`",)))
    named: dict[str, list[str]] = {}
    _walk({"properties": schemas[CASE]["properties"]}, "", schemas[CASE]["$defs"], named)
    for name, body in schemas[CASE]["$defs"].items():
        groups |= dict(_iter_mappings(body, f"{CASE}#{name}", tuple(named[name])))
    return {name: _place_in_case(group) if name.startswith(CASE) else group for name, group in groups.items()}


def _place_in_case(group: Group) -> Group:
    return group._replace(places=tuple(f"{place} of `case.yaml`" if place.startswith("`") else place for place in group.places))


def _load_schemas() -> dict[str, Schema]:
    return {name: json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")) for name in ("pack", CASE)}


def _walk(value: Any, place: str, definitions: dict[str, Schema], places: dict[str, list[str]]) -> None:
    """Note where each definition may be, as an author would write its path.

    The content of a variation is skipped, as it also has another place.
    """
    name = value.get("$ref", "").removeprefix(REF)
    if name:
        _walk_named(name, place, definitions, places)
    for key, inner in value.get("properties", {}).items():
        _walk(inner, f"{place}.{key}".lstrip("."), definitions, places)
    for inner in (*value.get("anyOf", ()), *value.get("oneOf", ())):
        _walk(inner, place, definitions, places)
    if isinstance(value.get("items"), dict):
        _walk(value["items"], f"{place}[]", definitions, places)
    if isinstance(value.get("additionalProperties"), dict):
        _walk(value["additionalProperties"], f"{place}.<id>", definitions, places)


def _walk_named(name: str, place: str, definitions: dict[str, Schema], places: dict[str, list[str]]) -> None:
    if is_made(name) and name not in _STEPS and name != "tier_step":
        return
    noted = places.setdefault(_STEPS.get(name, name), [])
    text = f"`{place}`" if place else "at the top of `pack.yaml`"
    if text not in noted:
        noted.append(text)
    body = definitions[name]
    varied = definitions["variation"]["properties"] if name == "tier" else ()
    held = {key: inner for key, inner in body.get("properties", {}).items() if key not in varied}
    if name != "variation":
        _walk({**body, "properties": held}, place, definitions, places)


def _iter_mappings(body: Schema, name: str, places: tuple[str, ...]) -> Iterator[tuple[str, Group]]:
    """Yield a mapping of the schema of cases, and the unnamed mappings inside it."""
    body = next((one for one in body.get("oneOf", ()) if "properties" in one), body)
    yield name, Group(body["properties"], tuple(body.get("required", ())), places)
    for key, inner in body["properties"].items():
        if "properties" in inner:
            yield from _iter_mappings(inner, f"{name}.{key}", (f"`{name}.{key}`".replace(f"{CASE}.", ""),))


def _iter_tables(page: str, text: str, groups: dict[str, Group]) -> Iterator[Table]:
    for found in _TABLE.finditer(text):
        *_, heading = _HEADING.findall(text[: found.start()])
        keys = tuple(found[2].split()) if found[2] else tuple(groups[found[1]].properties)
        yield Table(found[1], keys, f"{page}#{_slug(heading)}")


def _slug(heading: str) -> str:
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def _name_page(target: str) -> str:
    return target.split(".md")[0]


def _name_definition(name: str, body: Schema) -> str:
    if "enum" in body:
        return _name_plain(body)
    if "properties" in body and not name.endswith("_step"):
        return f"`{{{', '.join(body['properties'])}}}`" if len(body["properties"]) <= 5 else "a mapping"
    title = str(body.get("title", "a mapping"))
    return title.split(": ")[0] if name in ("id", "size") or name.endswith("_step") else title


_PLAIN = {"boolean": "true or false", "string": "a string", "object": "a mapping", "array": "a list"}


def _name_plain(value: Schema) -> str:
    if "enum" in value:
        *first, last = [_show(one) for one in value["enum"]]
        return f"{', '.join(first)} or {last}" if first else last
    if "const" in value:
        return _show(value["const"])
    if "pattern" in value and "examples" in value:
        return f"a string such as {_show(value['examples'][0])}"
    kind = value.get("type", "")
    if kind in ("integer", "number"):
        least, most = value.get("minimum"), value.get("maximum")
        span = (f" from {least:,}" if least is not None else "") + (f" to {most:,}" if most is not None else "")
        return ("a whole number" if kind == "integer" else "a number") + span
    if isinstance(kind, list):
        return " or ".join("none" if one == "null" else _PLAIN[one] for one in kind)
    return _PLAIN.get(kind, "any value")


def _show(value: object) -> str:
    is_bare = isinstance(value, str) and value.strip()
    return f"`{value}`" if is_bare else f"`{json.dumps(value)}`"


def _escape(text: str) -> str:
    """Return a text for a cell of a table: whatever HTML or Markdown would interpret becomes code."""
    escaped = text.replace("|", "\\|").replace("<|name\\|>", "`<\\|name\\|>`")
    return re.sub(r"(?<!`)(hf:<file>|tiktoken:<encoding>)(?!`)", r"`\1`", escaped)


def main() -> int:
    """Write the pages, or with --check report whether they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is out of date")
    is_check = parser.parse_args().check
    pages = {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
    tables = Tables(pages)
    old = [name for name, text in pages.items() if tables.fill(text) != text]
    for name in old:
        if is_check:
            sys.stderr.write(f"docs/reference/keys/{name} is out of date: run `make keys`\n")
        else:
            (PAGES / name).write_text(tables.fill(pages[name]), encoding="utf-8", newline="\n")
    return int(is_check and bool(old))


if __name__ == "__main__":
    sys.exit(main())
