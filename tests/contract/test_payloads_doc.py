"""docs/reference/payloads.md shows the facts of providers as the file of them has them."""

import json

from promptc.frontend.output import load_provider
from promptc.model.messages import PROVIDERS, Caching, Provider
from tests.contract.sources import ROOT

DOCUMENT = ROOT / "docs" / "reference" / "payloads.md"
_SYSTEM = {"messages": "among the messages", "first": "the first one in `instructions`, others among the messages", "apart": "all apart"}
_COUNTS = ("message_tokens", "prompt_tokens", "tool_tokens", "tools_tokens", "response_tokens")


def test_the_tables_are_those_of_the_file():
    text = DOCUMENT.read_text(encoding="utf-8")
    tables = (_render_facts(), _render_counts(), _render_schemas(), _render_media(), _render_media(in_result=True))
    for table in (*tables, _render_searches(), _render_caching()):
        assert table in text, f"docs/reference/payloads.md lacks this table:\n\n{table}"


def test_the_day_is_that_of_the_file():
    assert f"as of {load_provider('openai').as_of}" in DOCUMENT.read_text(encoding="utf-8")


def test_every_source_is_named():
    read = json.loads((ROOT / "compiler" / "promptc" / "frontend" / "providers.json").read_text(encoding="utf-8"))
    assert {name: facts["title"] for name, facts in read["providers"].items()} == {name: load_provider(name).title for name in PROVIDERS}


def _render_facts() -> str:
    head = (
        "| format | `developer` | system text | needs a message of the user | needs a limit of the reply | thinking | cache breakpoints |\n"
    )
    head += "| --- | --- | --- | --- | --- | --- | --- |\n"
    return head + "\n".join(_render_fact(load_provider(name)) for name in PROVIDERS)


def _render_fact(one: Provider) -> str:
    developer = "has it" if "developer" in one.roles else "becomes `system`"
    where = _SYSTEM[one.system]
    points = f"{one.breakpoints.count}" if one.breakpoints.count else "none"
    points += f", from {one.breakpoints.models[0]} on" if one.breakpoints.models else ""
    cells = (
        f"`{one.name}`",
        developer,
        where,
        _say(one.needs_user),
        _say(one.needs_limit),
        "kept" if one.keeps_thinking else "left out",
        points,
    )
    return f"| {' | '.join(cells)} |"


def _say(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _render_caching() -> str:
    head = "| format | models | keeps | from tokens | for minutes | read | written |\n| --- | --- | --- | --- | --- | --- | --- |\n"
    return head + "\n".join(_render_cache(load_provider(name), one) for name in PROVIDERS for one in load_provider(name).caching)


def _render_cache(provider: Provider, one: Caching) -> str:
    models = ", ".join(f"`{name}`" for name in one.models) or ("any" if len(provider.caching) == 1 else "others")
    if one.by == "marks":
        keeps = "what ends at a breakpoint" + (" or with the request" if one.has_own_mark else f", {one.lookback} blocks back")
    else:
        keeps = "any beginning" + (f", in steps of {one.step}" if one.step > 1 else "")
    least = "by model" if one.by == "marks" else f"{one.least:,}"
    prices = ["-" if price is None else f"{price} %" for price in (one.read, one.write)]
    return f"| `{provider.name}` | {models} | {keeps} | {least} | {one.minutes or '-'} | {prices[0]} | {prices[1]} |"


def _render_media(*, in_result: bool = False) -> str:
    head = "| format | kind | as | media types |\n| --- | --- | --- | --- |\n"
    taken_by = [(one, one.result_media if in_result else one.media) for one in map(load_provider, PROVIDERS)]
    cells = [
        (f"`{one.name}`", kind, " or ".join(taken.by), " ".join(f"`{type}`" for type in taken.types))
        for one, media in taken_by
        for kind, taken in media
    ]
    return head + "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _render_searches() -> str:
    head = "| format | shown of a deferred tool | the tool that searches | its tokens | models |\n| --- | --- | --- | --- | --- |\n"
    return head + "\n".join(_render_search(load_provider(name)) for name in PROVIDERS)


def _render_search(one: Provider) -> str:
    if one.search is None:
        return f"| `{one.name}` | cannot defer | | | |"
    shown = {"described": "name and description", "nothing": "nothing"}[one.search.shown]
    models = f"from {one.search.models[0]} on" if one.name == "openai-responses" else " ".join(one.search.models)
    return f"| `{one.name}` | {shown} | `{dict(one.search.body)['type']}` | {one.search.tokens} * | {models} |"


def _render_counts() -> str:
    head = "| format | each message | a name | the whole | each tool | any tools | an answer schema |\n"
    head += "| --- | --- | --- | --- | --- | --- | --- |\n"
    return head + "\n".join(_render_count(load_provider(name)) for name in PROVIDERS)


def _render_count(one: Provider) -> str:
    cells = [f"{getattr(one, name)}{' *' if name in one.estimates else ''}" for name in _COUNTS]
    cells.insert(1, f"{one.name_tokens} *" if one.name_tokens is not None else "no place")
    return f"| `{one.name}` | {' | '.join(cells)} |"


def _render_schemas() -> str:
    head = "| format | takes the schema of an answer | left out |\n| --- | --- | --- |\n"
    return head + "\n".join(_render_schema(load_provider(name)) for name in PROVIDERS)


def _render_schema(one: Provider) -> str:
    rules = one.schema
    if rules.is_closed:
        return (
            f"| `{one.name}` | typed values, closed objects; of strings the formats {_list(rules.formats)}; "
            f"of arrays `minItems` {' or '.join(map(str, rules.least_items))} | every other keyword |"
        )
    takes = f"of {_list(rules.keywords)}" if rules.keywords else "whole"
    beside = "; what stands beside `$ref`" if rules.bare_references else ""
    left_out = "every other keyword" if rules.keywords else _list(rules.without) if rules.without else "nothing"
    return f"| `{one.name}` | {takes} | {left_out}{beside} |"


def _list(names: tuple[str, ...]) -> str:
    return " ".join(f"`{name}`" for name in names)
