"""The commands that describe packs and promptc itself: `map`, `schema`, `models`, `rule`, `init`, `completion`, `help`."""

from __future__ import annotations

import os
import re
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path

import click

from promptc.api import Pack
from promptc.cli.group import PACK_OR_HERE, Command, choose_pack_here, complete, group, refuse, take
from promptc.cli.options import MODELS, MOOD, PATCH, VARIANT, make_request
from promptc.cli.request import check_apart
from promptc.cli.shell import CaseShell
from promptc.cli.terminal import Reporter, clip_cells, escape_controls, show_json, show_text, write_stdout
from promptc.cli.views.drawing import show_count
from promptc.diag.findings import FAMILIES, Code, Diagnostic, DiskError, UsageError, load_codes, shorten, show_reason, suggest
from promptc.diag.frozen import as_plain
from promptc.diag.typed import Any
from promptc.files.atomic import refuse_links, write_file
from promptc.files.paths import name_shipped, read_pack_file, resolve_path
from promptc.files.reading import note_looks, read_file
from promptc.frontend.yaml import resolve_scalar
from promptc.golden.cases.case import INPUTS, is_pending
from promptc.golden.cases.discover import CASE, load_case
from promptc.golden.running.resources import SuiteResources
from promptc.golden.verdicts.judge import note_case
from promptc.model.budget import KnownModel, describe_unknown, load_models
from promptc.model.pack import MANIFEST

SHELLS = ("bash", "zsh", "fish", "powershell")
_STARTERS = "starters"
_TEMPLATES = ("chat", "rag", "agent", "review", "game")
_COMMON = "common"
"""The folder with the files of every template."""
_REMARKS = {
    "README.md": "what this pack does, and what to try",
    "pack.yaml": "the manifest: what the prompt is made of",
    "state.json": "an example state: what your program brings",
    "templates": "the texts of the prompt",
    "tools": "what the model may call",
    "schemas": "the shape of its answer",
    "pages": "what is looked up",
    "synonyms.yaml": "words that mean the same",
    "data": "the index of the pages",
    "cases": "what must come out, and what did",
    ".github": "a workflow for CI",
    ".vscode": "for your editor",
    ".gitattributes": "so that git leaves goldens as they are",
    ".gitignore": "so that git leaves out goldens nobody has accepted",
    "state.schema.json": "what a state may hold, and its defaults",
    "case.schema.json": "for your editor",
    "pack.schema.json": "for your editor",
}
"""The descriptions of the files and folders of a new pack, in order. Other files are example states, and follow the first one."""
_NEXT = """\
    promptc render . state.json     the prompt
    promptc explain . state.json    what it holds, and what was cut
    promptc test                    its cases
"""
_NAME = "my-pack"
_STATE = "state"
_DECLARE = "name a schema in its manifest: `state: {schema: state.schema.json}`"
_WIDTH = 80
_NAMED = 48
"""The most columns of the name of a model or a tokenizer."""

_LEVELS = {"error": "error", "warn": "warning", "note": "note"}


@click.command(
    "completion",
    cls=Command,
    examples=[
        ("bash: add this line to ~/.bashrc", 'eval "$(promptc completion bash)"'),
        ("zsh: add this line to ~/.zshrc, after compinit", 'eval "$(promptc completion zsh)"'),
        ("fish: run this once", "promptc completion fish > ~/.config/fish/completions/promptc.fish"),
        ("PowerShell: add this line to the file that $PROFILE names", "promptc completion powershell | Out-String | Invoke-Expression"),
    ],
)
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def completion_command(shell: str) -> int:
    """Print a script for SHELL that completes promptc with the Tab key.

    It completes commands, options and files, and what your pack declares: moods, variants, patches, sections, operations, indexes and keys
    of the state. It also completes the names of cases, and codes.
    """
    write_stdout(Path(__file__).parents[1].joinpath(f"completion.{shell}").read_bytes())
    return 0


@click.command(
    "help",
    cls=Command,
    examples=[
        ("List all commands", "promptc help"),
        ("Read the help of one command", "promptc help render"),
        ("Read the help of a command in a group", "promptc help index build"),
    ],
)
@click.argument("asked", shell_complete=complete, metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def help_command(ctx: click.Context, asked: tuple[str, ...]) -> int:
    """Show the help of COMMAND. Without a COMMAND, list all commands.

    `promptc COMMAND --help` prints the same.
    """
    found: click.Command = group
    context = ctx.find_root()
    for at, word in enumerate(asked):
        if not isinstance(found, click.Group):
            raise UsageError([refuse(" ".join(asked[: at + 1]), word)])
        name, inner, _ = found.resolve_command(context, [word])
        assert inner is not None
        found, context = inner, click.Context(inner, context, name, **inner.context_settings)
    show_text(f"{found.get_help(context)}\n")
    return 0


@click.command(
    "init",
    cls=Command,
    examples=[
        ("Make a pack and run its cases", "promptc init lighthouse && cd lighthouse && promptc test"),
        ("Make a pack that answers from pages", "promptc init helpdesk --template rag"),
    ],
)
@click.argument("folder", type=click.Path())
@click.option("--template", type=click.Choice(_TEMPLATES), default=_TEMPLATES[0], help="What to start from. [chat]")
@click.pass_obj
def init_command(reporter: Reporter, folder: str, template: str) -> int:
    """Make a new pack in FOLDER, from a template: a manifest, an example state, cases with their goldens, a workflow for CI, and the
    JSON Schemas by which an editor completes and explains.

    \b
    The templates:
      chat    a conversation: rules, known facts, the newest turns
      rag     answers from pages, which are looked up by their words
      agent   calls of tools and their results, as messages
      review  a code review: ranked hunks, in shorter forms where room is short
      game    a game master: other rules for each mood, tiers of strain

    The folder is made if it is not there. A file that is there is never overwritten. If a run was stopped, the next one makes what is
    missing.
    """
    name = _name_pack(folder)
    files = _read_template(template, name)
    notes = [f"{case.rpartition('/')[0]}/{INPUTS}" for case in files if case.endswith(f"/{CASE}")]
    target = Path(folder)
    there = {one for one in (*files, *notes) if os.path.lexists(target / one)}
    taken = sorted(one for one in there if (not there >= files.keys() if one in notes else not _holds(target / one, files[one])))
    if taken:
        raise DiskError(
            Diagnostic("PC0727", f"`{target / one}` already exists", help="name another folder; promptc wrote nothing") for one in taken
        )
    refuse_links(target, (one for one in (*files, *notes) if one not in there))
    for one in (one for one in files if one not in there):
        _make_folder((target / one).parent)
        write_file(str(target / one), files[one])
    with SuiteResources() as resources:
        for one in (one for one in notes if one not in there):
            case = load_case(str(resolve_path(target / one).parent), str(resolve_path(target)))
            if case.golden:
                write_file(str(target / one), note_case(case, resources, CaseShell()))
    reporter.say(_describe_made(folder, name, template, [one for one in (*files, *notes) if os.path.lexists(target / one)]))
    return 0


def _describe_made(folder: str, name: str, template: str, made: Sequence[str]) -> str:
    """Return a line for each new file and folder next to the manifest, and the commands to try next."""
    tops = {one.partition("/")[0] for one in made}
    order = [one for one in _REMARKS if one in tops]
    behind = order.index("state.json") + 1
    order[behind:behind] = sorted(tops - _REMARKS.keys())
    listed = "".join(f"    {one if one in made else f'{one}/':<20} {_REMARKS.get(one, 'another example state')}\n" for one in order)
    enter = "" if os.path.realpath(folder) == os.path.realpath(os.curdir) else f"    cd {escape_controls(shlex.quote(folder))}\n"
    return f"made the pack `{name}` from the template `{template}`, {len(made)} files:\n{listed}next:\n{enter}{_NEXT}"


def _holds(path: Path, data: bytes) -> bool:
    """Return whether the path is a file with these bytes."""
    try:
        return read_file(path, len(data)) == data
    except OSError:
        return False


def _name_pack(folder: str) -> str:
    """Return the folder's name as the name of a pack: in lower case, with dashes for characters that are not allowed.

    A name that a manifest cannot have, or that YAML would not read as a text, becomes `my-pack`.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", Path(os.path.realpath(folder)).name.lower()).strip("-")
    return plain if re.fullmatch(r"[a-z][a-z0-9-]*", plain) and resolve_scalar(plain) == plain else _NAME


def _read_template(template: str, name: str) -> dict[str, bytes]:
    """Return the files of a new pack: the common files, the files of the template with the new pack's name, and the schemas.

    The manifest comes first, so that a run that is stopped continues with the same template.
    """
    files: dict[str, bytes] = {}
    try:
        for home in (name_shipped(_STARTERS, folder) for folder in (_COMMON, template)):
            for path in sorted(home.rglob("*")):
                if path.is_file() and path.name != INPUTS and not is_pending(path.name):
                    files[path.relative_to(home).as_posix()] = path.read_bytes()
        manifest = files.pop(MANIFEST).replace(f"\nname: {template}\n".encode(), f"\nname: {name}\n".encode())
    except (OSError, KeyError) as wrong:
        reason = show_reason(wrong) if isinstance(wrong, OSError) else f"it has no {MANIFEST}"
        help = "reinstall promptc"
        raise DiskError([Diagnostic("PC0724", f"cannot read the shipped template `{template}`: {reason}", help=help)]) from wrong
    schemas = {f"{kind}.schema.json": read_shipped_schema(kind) for kind in ("pack", "case")}
    return {MANIFEST: manifest, **files, **schemas}


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        reason = show_reason(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot make the folder `{folder}`: {reason}")]) from wrong


@click.command(
    "schema",
    cls=Command,
    examples=[
        ("Let an editor complete and check your manifest", "promptc schema pack > pack.schema.json"),
        ("See which states a pack takes", "promptc schema state packs/sentinel"),
        ("Read the output of `render --report` and `explain --json`", "promptc schema report"),
    ],
)
@click.argument("kind", metavar="KIND", type=click.Choice(("pack", _STATE, "report", "segments", "case")))
@click.argument("pack", required=False, type=click.Path())
def schema_command(kind: str, pack: str | None) -> int:
    """Print a JSON Schema (2020-12).

    KIND chooses the schema: of manifests (`pack`), of test cases (`case`), of reports (`report`), of files with segments (`segments`), or
    of the states that PACK takes (`state`; without PACK, those of the pack in the current folder).
    """
    if kind == _STATE:
        write_stdout(_read_state_schema(pack or choose_pack_here(f"promptc schema {_STATE}")))
        return 0
    if pack is not None:
        help = f"leave it out: only `promptc schema {_STATE}` depends on a pack"
        raise UsageError([Diagnostic("PC0720", f"`promptc schema {kind}` takes no pack", help=help)])
    write_stdout(read_shipped_schema(kind))
    return 0


def read_shipped_schema(kind: str) -> bytes:
    """Return the bytes of a schema that comes with promptc. Raises `DiskError` (PC0724) if it cannot be read."""
    name = f"{kind}.schema.json"
    try:
        return name_shipped("schemas", name).read_bytes()
    except OSError as wrong:
        reason = show_reason(wrong)
        raise DiskError([Diagnostic("PC0724", f"cannot read {name}: {reason}", help="reinstall promptc")]) from wrong


def _read_state_schema(pack: str) -> bytes:
    """Return the bytes of the state schema. The pack is loaded first, so the schema is valid."""

    loaded = Pack.load(pack)
    state = loaded.model.manifest.get("state")
    node = state.get("schema") if state is not None else None
    if node is None:
        raise UsageError([Diagnostic("PC0729", f"the pack `{loaded.name}` has no schema for its states", help=_DECLARE)])
    return read_pack_file(node.folder, str(node.value), node.span)


@click.command(
    "map",
    cls=Command,
    examples=[
        ("Print a table for a README or a review", "promptc map packs/companion"),
        ("Write a page to read or print", "promptc map packs/companion --format html -o companion.html"),
        ("See the pack with another case", "promptc map packs/companion --variant persona=juno"),
        ("Read all caps in a program", "promptc map packs/companion --format json | jq '.blocks[] | {id, caps}'"),
    ],
)
@PACK_OR_HERE
@click.option("--format", type=click.Choice(("markdown", "html", "json")), default="markdown", help="How to print the map. [markdown]")
@click.option("--output", "-o", metavar="FILE", help="Write the map to FILE instead of standard output.")
@take(VARIANT, MOOD, PATCH)
@click.pass_obj
def map_command(reporter: Reporter, /, pack: str, format: str, output: str | None, **given: Any) -> int:
    """Print a table of the sections of PACK: where each comes from, what it reads, its caps, and how it gives way.

    The map needs no state. It shows the default cases and the first strain tier. Below the table stands what the other cases, tiers and
    patches change.
    """
    request = make_request(given)
    text, looks = note_looks(lambda: _render(Pack.load(pack), format, request.variants, request.patches))
    check_apart({"-o": output}, looks)
    if output is None and format == "markdown":
        show_text(text)
    elif output is None:
        write_stdout(text.encode("utf-8", "backslashreplace"))
    else:
        write_file(output, text.encode("utf-8", "backslashreplace"))
    return 0


def _render(pack: Pack, format: str, variants: dict[str, str], patches: Sequence[str]) -> str:
    from promptc.blockmap import draw_map

    drawn = draw_map(pack.model, variants, patches)
    if format == "json":
        from promptc.cli.views.blockmap import render_json

        return render_json(drawn)
    if format == "html":
        from promptc.cli.views.blockmap import render_html

        return render_html(drawn)
    from promptc.cli.views.blockmap import render_markdown

    return render_markdown(drawn)


@click.command(
    "models",
    cls=Command,
    examples=[
        ("List all models", "promptc models"),
        ("List those of one family, with where their figures come from", "promptc models claude --format json"),
        ("See what a prompt of yours gets of one", "promptc explain packs/sentinel state.json --model gpt-4o"),
    ],
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete)
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print the models. [text]")
@take(MODELS)
def models_command(names: tuple[str, ...], format: str, models: str | None) -> int:
    """List the models that a budget can follow: `budget: {model: NAME, reserve: 4000}`.

    `context` is what the prompt and the reply have together, in tokens. Prices are in US dollars for a million tokens, of the prompt and of
    the reply. The figures have a date, and models change: look up what matters to you.
    """
    table = load_models(models)
    unknown = next((name for name in names if not any(known.startswith(name) for known in table.models)), None)
    if unknown is not None:
        raise UsageError([describe_unknown(unknown, table, None)])
    found = [one for one in table.models.values() if not names or one.name.startswith(names)]
    if format == "json":
        write_stdout(show_json([as_plain(one) for one in found]).encode())
    else:
        show_text(_render_models(found))
    return 0


def _render_models(models: Sequence[KnownModel]) -> str:
    rows = [("model", "context", "prompt", "reply", "tokenizer", "price", ""), *map(_make_row, models)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ["  ".join(_pad(cell, width, at) for at, (cell, width) in enumerate(zip(row, widths, strict=True))) for row in rows]
    days = sorted({one.as_of for one in models})
    return "".join(f"{line.rstrip()}\n" for line in lines) + f"\nas of {', '.join(days)}; `?` is not known, `set` is set by your server\n"


def _make_row(model: KnownModel) -> tuple[str, ...]:
    price = model.price
    return (
        clip_cells(escape_controls(model.name), _NAMED),
        show_count(model.context) if model.context is not None else "set",
        _show_tokens(model.input),
        _show_tokens(model.output),
        clip_cells(escape_controls(model.tokenizer or "?"), _NAMED),
        f"{price.input:g}/{price.output:g}" if price is not None else "?",
        f"to {price.up_to // 1000}k" if price is not None and price.up_to is not None else "",
    )


def _pad(cell: str, width: int, column: int) -> str:
    """Align names to the left and numbers to the right."""
    return cell.ljust(width) if column in (0, 4) else cell.rjust(width)


def _show_tokens(tokens: int | None) -> str:
    return show_count(tokens) if tokens is not None else "?"


@click.command(
    "rule",
    cls=Command,
    examples=[
        ("Explain one code", "promptc rule PC0531"),
        ("List the codes of a family", "promptc rule PC05"),
        ("Print all codes for a program", "promptc rule --all --format json"),
    ],
)
@click.argument("code", required=False, shell_complete=complete)
@click.option("--all", "is_all", is_flag=True, help="List all codes.")
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print the explanation. [text]")
def rule_command(code: str | None, is_all: bool, format: str) -> int:
    """Explain a diagnostic CODE: what is wrong, why, and what to write instead. Without CODE, list the families of codes."""
    if is_all and code is not None:
        raise UsageError([Diagnostic("PC0720", f"`--all` lists every code, and `{code}` names one", help="leave one of them out")])
    if code is None and not is_all and format == "text":
        show_text(_render_families())
        return 0
    codes = _list_codes(code or "PC")
    is_one = len(codes) == 1 and codes[0].name == (code or "").upper()
    if format == "json":
        shown = [{**as_plain(one), "url": one.url} for one in codes]
        write_stdout(show_json(shown[0] if is_one else shown).encode())
    else:
        show_text(_render_code(codes[0]) if is_one else _render_list(codes))
    return 0


def _list_codes(name: str) -> Sequence[Code]:
    """Return the code of that name, or all codes that begin with it. Raises `UsageError` (PC0728) if there are none."""
    known = load_codes()
    start = name.upper()
    found = [code for code in known.values() if code.name.startswith(start)] if start.startswith("PC") else []
    if not found:
        help = f"{suggest(start, known, cutoff=0.8)} `promptc rule` lists the families of codes".lstrip()
        raise UsageError([Diagnostic("PC0728", f"there is no code `{shorten(name)}`", help=help)])
    return found


def _render_families() -> str:
    names = list(load_codes())
    rows = [f"  {prefix}  {sum(name.startswith(prefix) for name in names):3} codes  {title}\n" for prefix, title in FAMILIES.items()]
    return (
        "Every finding has a code. The first digits of a code say what it is about:\n\n"
        f"{''.join(rows)}\n"
        "promptc rule PC0531   what a code means, and what to write instead\n"
        "promptc rule PC05     the codes of a family\n"
        "promptc rule --all    every code\n"
    )


def _render_list(codes: Sequence[Code]) -> str:
    return "".join(f"{code.name}  {_LEVELS[code.level]:<7}  {code.summary}\n" for code in codes)


def _render_code(code: Code) -> str:
    pieces = [f"{code.name} {_LEVELS[code.level]}: {code.summary}", _fill(code.why), "Example:", _indent(code.bad), _fill(code.fix)]
    pieces += ["Write instead:", _indent(code.good)] if code.good else []
    return "\n\n".join([*pieces, code.url]) + "\n"


def _indent(example: str) -> str:
    return textwrap.indent(example.strip("\n"), "    ")


def _fill(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _WIDTH, break_on_hyphens=False, break_long_words=False)
