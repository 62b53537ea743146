"""`promptc init`."""

import os
import re
from pathlib import Path

import click

from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.schema import read_shipped_schema
from promptc.cli.write_file import write_file
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError
from promptc.frontend.paths import find_shipped

_STARTER = "starter"
_FILES = ("pack.yaml", "templates/rules.md.j2", "state.schema.json", "state.json", "cases/first/case.yaml", "cases/first/golden.txt")
_IGNORED = b"# goldens that wait for `promptc review`\n*.new\n"
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

    The folder is made if it is not there. Nothing that is there is ever overwritten.
    """
    files = {_SCHEMA: read_shipped_schema("pack"), ".gitignore": _IGNORED, **_read_starter(_find_name(folder))}
    target = Path(folder)
    taken = sorted(name for name in files if os.path.lexists(target / name))
    if taken:
        raise DiskError(
            Diagnostic("PC0727", f"`{target / name}` is there already", help="name another folder; nothing was written") for name in taken
        )
    for name, data in files.items():
        _make_folder((target / name).parent)
        write_file(str(target / name), data)
    listed = "".join(f"    {target / name}\n" for name in sorted(files))
    tries = f"try `promptc render {folder} {target / 'state.json'}` and `promptc test {folder}`\n"
    reporter.say(f"made the pack `{_find_name(folder)}`:\n{listed}{tries}")
    return 0


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


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot make the folder `{folder}`: {reason}")]) from wrong
