"""`promptc eval`."""

import json
from collections.abc import Mapping

import click

from promptc.api import Pack, find_format
from promptc.cli.group import PACK, STATE, Command, takes_choice
from promptc.cli.request import RenderRequest, compile_asked, find_selected, load_state_file
from promptc.cli.terminal import write_stdout
from promptc.diag.findings import Diagnostic, Source, UsageError, suggest
from promptc.diag.typed import Any
from promptc.model.stages import RenderOptions
from promptc.model.state import State
from promptc.passes.bind import bind
from promptc.passes.fit.steps import list_step_names
from promptc.passes.select import find_names
from promptc.passes.strain import name_tier, strain
from promptc.pipeline import Outcome
from promptc.template.compile import Expression, load_expression
from promptc.template.place import Place
from promptc.template.runtime.run import RUN
from promptc.text.meter import Meter

_EXPRESSION = "expression"
_LATE = {"strain", "selected", "section", "item", "this", "group"}


@click.command(
    "eval",
    cls=Command,
    examples=[
        ("a value of the state, defaults filled in", "promptc eval packs/sentinel state.json state.window"),
        ("who spoke", "promptc eval . state.json 'state.turns | map(attribute=\"who\") | unique'"),
        ("what a section's expressions see", "promptc eval . state.json '[strain.tier, selected]' --section input"),
        ("what a predicate says of one item", "promptc eval . state.json 'this.tokens > 120' --item recent/b233"),
    ],
)
@PACK
@STATE
@click.argument("expression")
@takes_choice
@click.option("--section", metavar="SECTION", help="See the names of this section, too: strain, selected, section.")
@click.option("--item", metavar="SECTION/ITEM", help="See the names of this selected item, too: item, this, group.")
def eval_command(pack: str, state: str, expression: str, asked: RenderRequest, section: str | None, item: str | None) -> int:
    """Evaluate EXPRESSION over STATE as PACK's own expressions are, and print the value as JSON.

    It sees state, what PACK declares under let, variant, and strain as it was measured.
    """
    loaded = Pack.load(pack)
    loaded_state = load_state_file(loaded, state, asked)
    try:
        source = Source(_EXPRESSION, expression.encode().decode())
    except UnicodeEncodeError:
        raise UsageError([Diagnostic("PC0721", "the expression is not UTF-8", help="write it in UTF-8")]) from None
    compiled = load_expression(source.text, Place(source.span(1, 1), True))
    names = _find_names(loaded, loaded_state, asked, compiled, section, item)
    value = compiled.evaluate(names)
    write_stdout((json.dumps(value, ensure_ascii=False, indent=2, default=dict) + "\n").encode())
    return 0


def _find_names(
    pack: Pack, state: State, asked: RenderRequest, expression: Expression, section: str | None, item: str | None
) -> Mapping[str, Any]:
    """No more is run than the expression reads, so that it can be asked why the rest fails."""
    reads = {path[0] for path in expression.reads}
    meter = Meter(pack.model.counting.counter)
    if section is None and item is None and reads <= {"state"}:
        return {"state": state.value, RUN: pack.model.open_account()}
    if section is not None or item is not None:
        return _find_scope(compile_asked(pack, state, asked), section, item)
    shape, provider = find_format(asked.format)
    options = RenderOptions(asked.budget, asked.variants or {}, asked.patches, shape, provider=provider)
    bound = bind(pack.model, state, meter, options)
    if not reads & _LATE:
        return bound.names
    strained = strain(bound)
    selected = {one.section.id: len(one.items) for one in strained.selection.sections}
    shown = name_tier(bound.pack.strain, strained.tier, strained.pressure.percent)
    return {**bound.names, "strain": shown, "selected": selected}


def _find_scope(outcome: Outcome, section: str | None, item: str | None) -> Mapping[str, Any]:
    """What the expressions of a section see, or of its steps at one item, as it was selected."""
    name, _, id = item.partition("/") if item is not None else (section or "", "", "")
    selected = find_selected(outcome, name)
    if item is None:
        return find_names(outcome.fitted.strained.selection, selected.section)
    found = next((one for one in selected.items if one.id == id), None)
    if found is None:
        help = suggest(id, [one.id for one in selected.items])
        raise UsageError([Diagnostic("PC0726", f"`{name}` selected no item `{id}`", help=help)])
    return list_step_names(outcome.fitted.strained.selection, selected.section, found)
