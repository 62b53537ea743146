"""`promptc init`."""

import os
import re
from pathlib import Path

import click

from promptc.api import Pack
from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.schema import read_shipped_schema
from promptc.diag.findings import Diagnostic, DiskError
from promptc.files.atomic import write_file
from promptc.files.paths import find_shipped
from promptc.files.reading import read_file
from promptc.golden.cases.case import INPUTS
from promptc.golden.cases.discover import load_case
from promptc.golden.judging.compare import describe_figures
from promptc.golden.running.inputs import describe_inputs, render_inputs

_STARTER = "starter"
_FILES = ("pack.yaml", "templates/rules.md.j2", "state.schema.json", "state.json", "cases/first/case.yaml", "cases/first/golden.txt")
_IGNORED = b"# goldens that wait for `promptc review`\n*.new\n"
_ATTRIBUTES = b"# goldens are compared byte for byte\ngolden.* -text\n"
_CASE = "cases/first"
_NOTED = f"{_CASE}/{INPUTS}"
_SCHEMA = "pack.schema.json"
_NAME = "my-pack"


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
def command(reporter: Reporter, folder: str) -> int:
    """Make a new pack in FOLDER: a manifest, a template, a state, a case with its golden, and the JSON Schemas by which an editor completes
    and explains.

    The folder is made if it is not there. Nothing that is there is ever overwritten; what a run that was stopped has made stays as it is,
    and the rest is made.
    """
    hidden = {".gitignore": _IGNORED, ".gitattributes": _ATTRIBUTES}
    files = {_SCHEMA: read_shipped_schema("pack"), **hidden, **_read_starter(_find_name(folder))}
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
    reporter.say(f"made the pack `{_find_name(folder)}`:\n{listed}{tries}")
    return 0


def _holds(path: Path, data: bytes) -> bool:
    """Whether it is a file with these bytes."""
    try:
        return read_file(path, len(data)) == data
    except OSError:
        return False


def _find_name(folder: str) -> str:
    """The folder's name as a pack's: lower case, with dashes for what else is not allowed."""
    plain = re.sub(r"[^a-z0-9]+", "-", Path(os.path.realpath(folder)).name.lower()).strip("-")
    return plain if re.fullmatch(r"[a-z][a-z0-9-]*", plain) else _NAME


def _read_starter(name: str) -> dict[str, bytes]:
    """The files of the pack that is shipped for this, under its new name and with the schema beside the manifest."""
    try:
        files = {file: find_shipped("packs", _STARTER, *file.split("/")).read_bytes() for file in _FILES}
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
