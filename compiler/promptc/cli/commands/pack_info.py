"""Commands that tell of packs and of promptc itself: `map`, `schema`, `rule`, `init`, `completion`, `help`."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from promptc.api import Pack
from promptc.cli.findings import Reporter
from promptc.cli.group import PACK, Command, group, refuse, take
from promptc.cli.options import MOOD, PATCH, VARIANT, make_request
from promptc.cli.terminal import show_json, write_stdout
from promptc.diag.findings import FAMILIES, Code, Diagnostic, DiskError, UsageError, load_codes, shorten, suggest
from promptc.diag.frozen import as_plain
from promptc.diag.typed import Any
from promptc.files.atomic import write_file
from promptc.files.paths import name_shipped, read_pack_file
from promptc.files.reading import read_file
from promptc.golden.cases.case import INPUTS
from promptc.golden.cases.discover import load_case
from promptc.golden.inputs import describe_inputs, render_inputs
from promptc.golden.verdicts.verdict import describe_figures

_VARIABLE = "_PROMPTC_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")
_STARTER = "starter"
_FILES = ("pack.yaml", "templates/rules.md.j2", "state.schema.json", "state.json", "cases/first/case.yaml", "cases/first/golden.txt")
_IGNORED = b"# goldens that wait for `promptc review`\n*.new\n"
_ATTRIBUTES = b"# goldens are compared byte for byte\ngolden.* -text\n"
_CASE = "cases/first"
_NOTED = f"{_CASE}/{INPUTS}"
_SCHEMA = "pack.schema.json"
_NAME = "my-pack"
_STATE = "state"
_DECLARE = "name one in its manifest: `state: {schema: state.schema.json}`"
_WIDTH = 80
_LEVELS = {"error": "error", "warn": "warning", "note": "note"}


@click.command(
    "completion",
    cls=Command,
    examples=[
        ("bash: add this line to ~/.bashrc", 'eval "$(promptc completion bash)"'),
        ("fish: run this once", "promptc completion fish > ~/.config/fish/completions/promptc.fish"),
    ],
)
@click.argument("shell", metavar="SHELL", type=click.Choice(_SHELLS))
def completion_command(shell: str) -> int:
    """Print the script that makes SHELL complete commands, options, files and codes."""
    found = get_completion_class(shell)
    assert found is not None
    write_stdout((found(group, {}, "promptc", _VARIABLE).source() + "\n").encode())
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
@click.argument("asked", metavar="[COMMAND]...", nargs=-1)
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
    write_stdout(f"{found.get_help(context)}\n".encode())
    return 0


@click.command(
    "init",
    cls=Command,
    examples=[
        (
            "a new pack, and its first case",
            "promptc init lighthouse && cd lighthouse && promptc test",
        ),
    ],
)
@click.argument("folder", type=click.Path())
@click.pass_obj
def init_command(reporter: Reporter, folder: str) -> int:
    """Make a new pack in FOLDER: a manifest, a template, a state, a case with its golden, and the JSON Schemas by which an editor completes
    and explains.

    The folder is made if it is not there. Nothing that is there is ever overwritten; what a run that was stopped has made stays as it is,
    and the rest is made.
    """
    hidden = {".gitignore": _IGNORED, ".gitattributes": _ATTRIBUTES}
    files = {_SCHEMA: read_shipped_schema("pack"), **hidden, **_read_starter(_name_pack(folder))}
    target = Path(folder)
    there = {name for name in (*files, _NOTED) if os.path.lexists(target / name)}
    taken = sorted(name for name in there if (not there >= files.keys() if name == _NOTED else not _holds(target / name, files[name])))
    if taken:
        raise DiskError(
            Diagnostic("PC0727", f"`{target / name}` is there already", help="name another folder; nothing was written") for name in taken
        )
    for name in (name for name in files if name not in there):
        _make_folder((target / name).parent)
        write_file(str(target / name), files[name])
    if _NOTED not in there:
        write_file(str(target / _NOTED), _note_inputs(target))
    listed = "".join(f"    {target / name}\n" for name in sorted((*files, _NOTED)))
    tries = f"try `promptc render {folder} {target / 'state.json'}` and `promptc test {folder}`\n"
    reporter.say(f"made the pack `{_name_pack(folder)}`:\n{listed}{tries}")
    return 0


def _holds(path: Path, data: bytes) -> bool:
    """Whether it is a file with these bytes."""
    try:
        return read_file(path, len(data)) == data
    except OSError:
        return False


def _name_pack(folder: str) -> str:
    """The folder's name as a pack's: lower case, with dashes for what else is not allowed."""
    plain = re.sub(r"[^a-z0-9]+", "-", Path(os.path.realpath(folder)).name.lower()).strip("-")
    return plain if re.fullmatch(r"[a-z][a-z0-9-]*", plain) else _NAME


def _read_starter(name: str) -> dict[str, bytes]:
    """The files of the pack that is shipped for this, under its new name and with the schema beside the manifest."""
    try:
        files = {file: name_shipped("packs", _STARTER, *file.split("/")).read_bytes() for file in _FILES}
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0724", f"cannot read the shipped starter: {reason}", help="install promptc anew")]) from wrong
    manifest = files["pack.yaml"].replace(f"$schema=../../schemas/{_SCHEMA}".encode(), f"$schema={_SCHEMA}".encode())
    return {**files, "pack.yaml": manifest.replace(f"\nname: {_STARTER}\n".encode(), f"\nname: {name}\n".encode())}


def _note_inputs(target: Path) -> bytes:
    """What `promptc accept` would note beside the first golden, so that its first failure can tell what changed."""
    case = load_case(str(target.resolve() / _CASE))
    with Pack.load(str(target.resolve())) as pack:
        report = pack.render((target / "state.json").read_bytes()).report
        return render_inputs(describe_inputs(case, pack), describe_figures(report))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
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
    of the states that PACK takes (`state`).
    """
    if (kind == _STATE) != (pack is not None):
        found = "`promptc schema state` needs a pack" if pack is None else f"`promptc schema {kind}` takes no pack"
        raise UsageError([Diagnostic("PC0720", found, help="such as `promptc schema state packs/sentinel`")])
    write_stdout(_read_state_schema(pack) if pack is not None else read_shipped_schema(kind))
    return 0


def read_shipped_schema(kind: str) -> bytes:
    """The bytes of a schema that comes with promptc. `DiskError` (PC0724) when it is not there."""
    name = f"{kind}.schema.json"
    try:
        return name_shipped("schemas", name).read_bytes()
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0724", f"cannot read {name}: {reason}", help="install promptc anew")]) from wrong


def _read_state_schema(pack: str) -> bytes:
    """The file as it is, after the pack was loaded: so it is valid."""

    loaded = Pack.load(pack)
    state = loaded.model.manifest.get("state")
    node = state.get("schema") if state is not None else None
    if node is None:
        raise UsageError([Diagnostic("PC0729", f"the pack `{loaded.name}` declares no schema for its states", help=_DECLARE)])
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
@PACK
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
    text = _render(Pack.load(pack), format, request.variants, request.patches).encode("utf-8", "backslashreplace")
    if output is not None:
        write_file(output, text)
    else:
        write_stdout(text)
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


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(code.name, help=code.summary) for code in load_codes().values() if code.name.startswith(incomplete.upper())]


@click.command(
    "rule",
    cls=Command,
    examples=[
        ("Explain one code", "promptc rule PC0531"),
        ("List the codes of a family", "promptc rule PC05"),
        ("Print all codes for a program", "promptc rule --all --format json"),
    ],
)
@click.argument("code", required=False, shell_complete=_complete)
@click.option("--all", "is_all", is_flag=True, help="List all codes.")
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print the explanation. [text]")
def rule_command(code: str | None, is_all: bool, format: str) -> int:
    """Explain a diagnostic CODE: what is wrong, why, and what to write instead. Without CODE, list the families of codes."""
    if is_all and code is not None:
        raise UsageError([Diagnostic("PC0720", f"`--all` lists every code, and `{code}` names one", help="leave one of them out")])
    if code is None and not is_all and format == "text":
        write_stdout(_render_families().encode())
        return 0
    codes = _list_codes(code or "PC")
    is_one = len(codes) == 1 and codes[0].name == (code or "").upper()
    if format == "json":
        shown = [{**as_plain(one), "url": one.url} for one in codes]
        text = show_json(shown[0] if is_one else shown)
    else:
        text = _render_code(codes[0]) if is_one else _render_list(codes)
    write_stdout(text.encode())
    return 0


def _list_codes(name: str) -> Sequence[Code]:
    """The code of that name, or all whose names begin so."""
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
