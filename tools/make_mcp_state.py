"""Make `fixtures/mcp/base/state.json`: 300 tools as a dozen MCP servers list them, with the same bytes on every machine.

Everything is made up. The schemas are as varied as those of real servers: bare objects, a few plain arguments, filters within filters, long
descriptions with examples. `last_used` is the turn in which a talk last used a tool, 0 if never. `--check` compares instead of writing, and
exits with 1 if the file differs.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "fixtures" / "mcp" / "base" / "state.json"
Schema = dict[str, Any]

SERVERS: dict[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    "mail": (
        "the letters of a shop",
        (
            ("letter", "subject:text body:long to:email urgent:flag", "kept for ten years"),
            ("draft", "subject:text body:long", "seen by its author only"),
            ("folder", "title:text colour:colour", "inside another, up to four deep"),
            ("rule", "title:text match:filter", "tried in the order of its number"),
            ("signature", "title:text body:long", "put below what is sent"),
        ),
    ),
    "stock": (
        "the store room",
        (
            ("part", "title:text number:code price:money weight:count", "named by a number that never changes"),
            ("shelf", "title:text aisle:code", "where parts lie"),
            ("count", "part:code found:count day:day", "what somebody counted, and when"),
            ("supplier", "title:text email:email terms:long", "who sells parts to us"),
            ("order", "part:code amount:count day:day state:state", "placed with one supplier"),
        ),
    ),
    "calendar": (
        "appointments and rooms",
        (
            ("event", "title:text start:moment end:moment guests:emails", "with its guests"),
            ("room", "title:text seats:count", "can be booked by the hour"),
            ("reminder", "title:text start:moment", "rings once"),
            ("holiday", "title:text day:day", "when the shop is shut"),
            ("shift", "person:code start:moment end:moment", "who works when"),
        ),
    ),
    "ledger": (
        "the books",
        (
            ("invoice", "customer:code total:money due:day lines:lines", "numbered without a gap"),
            ("payment", "invoice:code total:money day:day", "booked once, never changed"),
            ("account", "title:text kind:kind", "of the plan of accounts"),
            ("tax_rate", "title:text percent:count", "in force from a day on"),
            ("report", "title:text from:day to:day", "made of the books as they stand"),
        ),
    ),
    "tickets": (
        "what customers ask for",
        (
            ("ticket", "title:text body:long state:state owner:code tags:tags", "open until somebody closes it"),
            ("comment", "ticket:code body:long", "seen by the customer unless it is internal"),
            ("label", "title:text colour:colour", "put on tickets"),
            ("queue", "title:text match:filter", "a saved search with an owner"),
            ("macro", "title:text body:long", "an answer with blanks"),
        ),
    ),
    "wiki": (
        "the handbook",
        (
            ("page", "title:text body:long tags:tags", "with all its versions"),
            ("space", "title:text", "a shelf of pages"),
            ("attachment", "page:code title:text", "a file beside a page"),
            ("template", "title:text body:long", "what a new page begins as"),
            ("link", "page:code target:code", "from one page to another"),
        ),
    ),
    "fleet": (
        "vans and their drivers",
        (
            ("van", "title:text plate:code seats:count", "one of our own"),
            ("trip", "van:code start:moment end:moment stops:stops", "planned or driven"),
            ("driver", "person:code licence:code", "allowed to drive our vans"),
            ("fuel_card", "van:code limit:money", "pays at the pump"),
            ("inspection", "van:code day:day state:state", "due once a year"),
        ),
    ),
    "repo": (
        "the source of our web shop",
        (
            ("branch", "title:text from:code", "a line of work"),
            ("review", "branch:code body:long state:state", "of one branch by one person"),
            ("release", "title:text day:day notes:long", "what is live"),
            ("build", "branch:code state:state", "compiles and tests one commit"),
            ("secret", "title:text", "a value that a build may read and nobody sees"),
        ),
    ),
    "survey": (
        "questions to customers",
        (
            ("survey", "title:text questions:lines", "a list of questions"),
            ("answer", "survey:code body:long", "what one customer said"),
            ("panel", "title:text emails:emails", "whom we ask"),
            ("chart", "survey:code kind:kind", "drawn of the answers"),
            ("export", "survey:code kind:kind", "a file of all answers"),
        ),
    ),
    "maps": (
        "addresses and ways",
        (
            ("place", "title:text address:text", "a point on the map"),
            ("route", "start:code end:code stops:stops", "the way between places"),
            ("zone", "title:text points:stops", "an area that we deliver to"),
            ("toll", "zone:code price:money", "what a way costs"),
            ("closure", "place:code start:moment end:moment", "a street that is shut"),
        ),
    ),
    "staff": (
        "people and their hours",
        (
            ("person", "title:text email:email role:kind", "who works here"),
            ("absence", "person:code from:day to:day state:state", "asked for, then granted"),
            ("timesheet", "person:code day:day hours:count", "the hours of one day"),
            ("review_talk", "person:code day:day body:long", "confidential"),
            ("training", "title:text day:day seats:count", "with those who take part"),
        ),
    ),
    "press": (
        "what we print and post",
        (
            ("label_sheet", "title:text kind:kind", "of twenty-four labels"),
            ("poster", "title:text body:long", "for the window"),
            ("newsletter", "title:text body:long panel:code", "sent once a month"),
            ("photo", "title:text tags:tags", "of the shop, with its rights"),
            ("price_tag", "part:code price:money", "for a shelf"),
        ),
    ),
}
"""The purpose of each server, and the name, the fields and a remark of each kind of thing that it has."""

ACTS = ("list", "get", "create", "update", "delete")
FIELDS: dict[str, Schema] = {
    "text": {"type": "string", "minLength": 1, "maxLength": 200},
    "long": {"type": "string", "description": "Plain text or Markdown. Links, headings and lists stay; HTML is shown as it is written."},
    "email": {"type": "string", "format": "email", "examples": ["mara@example.org"]},
    "emails": {"type": "array", "items": {"type": "string", "format": "email"}, "maxItems": 50, "uniqueItems": True},
    "flag": {"type": "boolean", "default": False},
    "colour": {"enum": ["red", "amber", "green", "blue", "grey"]},
    "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4,8}$", "examples": ["AB-1234"]},
    "count": {"type": "integer", "minimum": 0, "maximum": 100000},
    "money": {
        "type": "object",
        "properties": {"amount": {"type": "integer", "description": "In the smallest unit."}, "currency": {"enum": ["EUR", "GBP", "USD"]}},
        "required": ["amount", "currency"],
        "additionalProperties": False,
    },
    "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time", "description": "With an offset, such as `2026-03-01T09:00:00+01:00`."},
    "state": {"enum": ["open", "waiting", "done", "refused"]},
    "kind": {"enum": ["plain", "detailed", "summary"], "default": "plain"},
    "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z-]+$"}, "maxItems": 12},
    "stops": {"type": "array", "items": {"type": "object", "properties": {"place": {"type": "string"}, "minutes": {"type": "integer"}}}},
    "lines": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "amount": {"type": "integer", "minimum": 1}, "price": {"type": "integer"}},
            "required": ["title", "amount"],
        },
    },
    "filter": {
        "description": "All of `all` must hold, or one of `any`. Both may hold further filters.",
        "anyOf": [
            {"type": "object", "properties": {"all": {"type": "array", "items": {}}, "any": {"type": "array", "items": {}}}},
            {
                "type": "object",
                "properties": {"field": {"type": "string"}, "is": {}, "contains": {"type": "string"}},
                "required": ["field"],
            },
        ],
    },
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    made = render_state()
    if parser.parse_args().check:
        if FILE.read_text(encoding="utf-8") == made:
            return 0
        sys.stderr.write(f"{FILE.name} is not what tools/make_mcp_state.py makes\n")
        return 1
    FILE.write_text(made, encoding="utf-8")
    return 0


def render_state() -> str:
    """Return the state as JSON, one tool on each line."""
    tools = ",\n".join("    " + json.dumps(one, separators=(", ", ": ")) for one in iter_tools())
    head = {
        "question": "Order AB-1204 has not come. Please look where it is, and write to the customer.",
        "servers": [*SERVERS],
        "used": ["stock_get_order", "mail_create_letter"],
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    return "{\n" + ",\n".join(lines) + ',\n  "tools": [\n' + tools + "\n  ]\n}\n"


def iter_tools() -> Iterator[dict[str, Any]]:
    """Yield the tools, server by server, in the order in which a server lists them."""
    place = 0
    for server, (about, things) in SERVERS.items():
        for thing, fields, remark in things:
            for act in ACTS:
                place += 1
                used = 1 + place * 53 % 96 if place * 31 % 10 < 4 else 0  # four of ten were used
                yield {
                    "name": f"{server}_{act}_{thing}",
                    "server": server,
                    "last_used": used,
                    "description": _describe(server, about, thing, remark, act, place),
                    "inputSchema": _make_schema(thing, dict(one.split(":") for one in fields.split()), act, place),
                }


def _describe(server: str, about: str, thing: str, remark: str, act: str, place: int) -> str:
    noun = thing.replace("_", " ")
    first = {
        "list": f"Lists what {server} has of the kind {noun}, the newest first.",
        "get": f"Gives one {noun} by its id.",
        "create": f"Makes a new {noun}.",
        "update": f"Changes the fields of a {noun} that are given, and leaves the rest.",
        "delete": f"Removes a {noun} for good.",
    }[act]
    more = [
        f"Part of {about}: a {noun} is {remark}.",
        "Ask before you change anything that a customer sees, e.g. a letter or a price.",
        "At most a hundred are given at once. The answer has `next` where there are more; hand it back as `after`.",
        f"An error names the field that is wrong. Do not try the same call again; ask what {server} should hold instead.",
        f"Example: `{server}_{act}_{thing}` after `{server}_list_{thing}`, with the id that this gave.",
    ]
    return " ".join([first, *more[: place * 7 % 6]])


def _make_schema(thing: str, fields: dict[str, str], act: str, place: int) -> Schema:
    noun = thing.replace("_", " ")
    id_field = {"id": {"type": "string", "description": f"The id of the {noun}."}}
    if act in ("get", "delete"):
        sure = {"sure": {"const": True, "description": "Must be true: nothing brings it back."}} if act == "delete" and place % 2 else {}
        return {"type": "object", "properties": {**id_field, **sure}, "required": ["id", *sure]}
    if act == "list":
        if place % 3 == 0:
            return {"type": "object", "properties": {}}
        paging = {"after": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}}
        by = {"order": {"enum": sorted(fields), "description": f"By which field of the {noun} the list is sorted."}} if place % 2 else {}
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {**paging, **by}}
    own = {name: {"title": name.replace("_", " ").capitalize(), **FIELDS[kind]} for name, kind in fields.items()}
    if act == "create":
        return {"type": "object", "properties": own, "required": [next(iter(own))], "additionalProperties": False}
    return {"type": "object", "properties": {**id_field, "fields": {"type": "object", "properties": own}}, "required": ["id", "fields"]}


if __name__ == "__main__":
    sys.exit(main())
