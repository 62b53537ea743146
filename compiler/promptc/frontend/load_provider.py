"""The facts of providers, from the one file that holds them."""

from functools import cache

from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.typed import Any
from promptc.model.messages import PROVIDERS, Breakpoints, Provider, SchemaRules

_TOKENS = ("message_tokens", "prompt_tokens", "tool_tokens", "tools_tokens", "response_tokens")


def load_provider(name: str) -> Provider:
    """The provider of that name. `UsageError` (PC0706) for another name."""
    if name not in PROVIDERS:
        raise UsageError([Diagnostic("PC0706", f"there is no provider `{name}`", help=suggest(name, PROVIDERS))])
    return _load_all()[name]


@cache
def _load_all() -> dict[str, Provider]:
    import json
    from pathlib import Path

    read = json.loads(Path(__file__).with_name("providers.json").read_text(encoding="utf-8"))
    return {name: _load(name, read["as_of"], facts) for name, facts in read["providers"].items()}


def _load(name: str, as_of: str, facts: dict[str, Any]) -> Provider:
    values = {key: fact["value"] for key, fact in facts.items() if isinstance(fact, dict)}
    return Provider(
        name=name,
        title=facts["title"],
        as_of=as_of,
        roles=tuple(values["roles"]),
        system=values["system"],
        needs_user=values["needs_user"],
        needs_limit=values["needs_limit"],
        keeps_thinking=values["keeps_thinking"],
        breakpoints=Breakpoints(
            values["breakpoints"], tuple(facts["breakpoints"].get("models", ())), tuple(facts["breakpoints"].get("minimums", {}).items())
        ),
        **{key: values[key] for key in _TOKENS},
        counts_role=values["counts_role"],
        estimates=tuple(key for key in _TOKENS if facts[key]["estimate"]),
        tool_names=values.get("tool_names", "any"),
        tool_ids=values.get("tool_ids", "turn"),
        schema=_load_rules(facts["schema"]),
    )


def _load_rules(fact: dict[str, Any]) -> SchemaRules:
    lists = {key: tuple(fact.get(key, ())) for key in ("keywords", "without", "formats", "least_items")}
    return SchemaRules(is_closed=fact["value"] == "closed", bare_references=fact.get("bare_references", False), **lists)
