"""A program without a compiler: click, PyYAML, Jinja2, jsonschema and tiktoken, for the same pack, state and output.

The script is separate and imports nothing of promptc. It does what a render of `benchmarks/kept` must do: check the state and fill its
defaults, render each section, count every piece, keep the newest items that fit into a section's budget, refuse what is too long, and
confirm the total count. It has no strain except its threshold, no ladder, no guard, no report and no places for errors.
"""

import json
from pathlib import Path
from typing import Any

import click
import jinja2
import jsonschema
import tiktoken
import yaml

Plain = dict[str, Any]

CALM = 0.7
"""The pressure from which sentinel does things that this script does not do."""
STRAINED = ("banner", "notice", "gap")
DIGEST = {
    "Hinge Index": "hinge_index",
    "Standing Reasons": "standing_reasons",
    "NPC Memory Anchors": "npc_memory_anchors",
    "Open Threads": "open_threads",
}


@click.command()
@click.argument("manifest")
@click.argument("changes")
@click.argument("state")
@click.argument("encoding")
def main(manifest: str, changes: str, state: str, encoding: str) -> None:
    """Print the prompt of a MANIFEST, with the sections of CHANGES laid over it."""
    folder, pack = Path(manifest).parent, read_yaml(manifest)
    for name, change in read_yaml(changes)["sections"].items():
        section = next(one for one in pack["sections"] if one["id"] == name)
        section["budget"] = change["budget"]
        section["items"]["window"] = change["items"]["window"]
    value = load_state(state, folder / pack["state"]["schema"])
    encode = tiktoken.get_encoding(encoding).encode_ordinary
    prompt = render(pack, value, make_environment(folder), lambda text: len(encode(text)))
    click.echo(prompt, nl=False)


def read_yaml(path: str) -> Plain:
    """Read a YAML file, with libyaml if it is available."""
    loaded: Plain = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


def load_state(path: str, schema_path: Path) -> Plain:
    """Load a state, validate it, and fill in its defaults."""
    schema = json.loads(schema_path.read_text(encoding="utf-8"))
    value: Plain = json.loads(Path(path).read_text(encoding="utf-8"))
    wrong = next(jsonschema.Draft202012Validator(schema).iter_errors(value), None)
    if wrong is not None:
        raise click.ClickException(wrong.message)
    fill(value, schema, schema)
    return value


def fill(value: Any, schema: Plain, root: Plain) -> None:
    """Fill in defaults, as far as `properties` and `items` reach."""
    schema = follow(schema, root)
    if isinstance(value, dict):
        for key, inner in schema.get("properties", {}).items():
            target = follow(inner, root)
            if key not in value and "default" in target:
                value[key] = json.loads(json.dumps(target["default"]))
            if key in value:
                fill(value[key], inner, root)
    elif isinstance(value, list) and "items" in schema:
        for one in value:
            fill(one, schema["items"], root)


def follow(schema: Plain, root: Plain) -> Plain:
    """Return a schema with its reference resolved."""
    return {**root["$defs"][schema["$ref"].rsplit("/", 1)[1]], **schema} if "$ref" in schema else schema


def make_environment(folder: Path) -> jinja2.Environment:
    """Return a Jinja2 environment as the packs need it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["one_line"] = lambda text: " ".join(str(text).split())
    return environment


def render(pack: Plain, value: Plain, environment: jinja2.Environment, count: Any) -> str:
    """Return the prompt, within its budgets."""
    total = pack["budget"]["context"] - pack["budget"]["reserve"]
    parts, counted = [], {}
    for section in pack["sections"]:
        if section["id"] not in STRAINED:
            text, tokens = render_section(section, value, environment, count, pack["output"]["fence"], section.get("budget", total))
            parts += [text] if text else []
            counted[section["id"]] = tokens
    watched = [section for section in pack["sections"] if section["id"] in pack["strain"]["count"]]
    if sum(counted[section["id"]] for section in watched) >= CALM * sum(section["budget"] for section in watched):
        raise click.ClickException("under pressure")
    prompt = "\n".join(parts)
    if count(prompt) > total:
        raise click.ClickException("the whole is too long")
    return prompt


def render_section(section: Plain, value: Plain, environment: jinja2.Environment, count: Any, fence: Plain, budget: int) -> tuple[str, int]:
    """Return a section's text and tokens; of a section with items, only the newest that fit."""
    opening, closing = (environment.from_string(fence[end]).render(section=section) + "\n" for end in ("open", "close"))
    source = section.get("items", section)
    template = environment.get_template(source["template"]) if "template" in source else environment.from_string(source["text"])
    if "items" not in section:
        text = opening + template.render(state=value).rstrip("\n") + "\n" + closing
        tokens = count(text)
        if tokens > budget:
            raise click.ClickException(f"{section['id']} is too long")
        return text, tokens
    texts = [template.render(item=one, state=value).rstrip("\n") + "\n" for one in list_items(section, value)]
    if not texts:
        return "", 0
    head = f"{opening}{section['header']}\n"
    counts = list(map(count, texts))
    room, first = budget - count(head) - count(closing), len(texts)
    while first and counts[first - 1] <= room:
        first -= 1
        room -= counts[first]
    return head + "".join(texts[first:]) + closing, budget - room


def list_items(section: Plain, state: Plain) -> list[Any]:
    """Return the items that the manifest's `from` and selection describe, written out by hand."""
    match section["id"]:
        case "snapshot":
            return [state["mission"], state["player"], *state["factions"], *state["npcs"], *state["threads"]]
        case "digest":
            return [one for title, key in DIGEST.items() for one in (f"## {title}", *state["digest"][key])]
        case "recent":
            return list(state["transcript"][-section["items"]["window"]["last"] :])
        case "retrieval":
            return keep_best(state["retrieval"]["results"], section["items"]["limit_per"]["caps"])
        case _:
            return list(state["injected"])


def keep_best(results: list[Plain], caps: dict[str, int]) -> list[Plain]:
    """Return the best results of each kind, without duplicate texts."""
    once = {one["text"]: one for one in reversed(results)}
    kept: list[Plain] = []
    for one in sorted(once.values(), key=lambda one: (-one["score"], one["id"])):
        if sum(other["kind"] == one["kind"] for other in kept) < caps.get(one["kind"], len(results)):
            kept.append(one)
    return kept


if __name__ == "__main__":
    main()
