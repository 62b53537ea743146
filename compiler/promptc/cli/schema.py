"""`promptc schema`."""

import click

from promptc.cli.group import Command
from promptc.cli.terminal import write_stdout
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.files.paths import find_shipped, read_pack_file

_STATE = "state"


@click.command(
    "schema",
    cls=Command,
    examples=[
        ("of manifests, for an editor", "promptc schema pack > pack.schema.json"),
        ("of the states a pack takes", "promptc schema state packs/sentinel"),
        ("of what `render --report` and `explain --json` write", "promptc schema report"),
    ],
)
@click.argument("kind", metavar="KIND", type=click.Choice(("pack", _STATE, "report", "segments", "case")))
@click.argument("pack", required=False, type=click.Path())
def command(kind: str, pack: str | None) -> int:
    """Print the JSON Schema (2020-12) of manifests, of reports, of files of segments, of test cases, or of the states PACK takes."""
    if (kind == _STATE) != (pack is not None):
        found = "`promptc schema state` needs a pack" if pack is None else f"`promptc schema {kind}` takes no pack"
        raise UsageError([Diagnostic("PC0720", found, help="such as `promptc schema state packs/sentinel`")])
    write_stdout(_read_state_schema(pack) if pack is not None else read_shipped_schema(kind))
    return 0


def read_shipped_schema(kind: str) -> bytes:
    """The bytes of a schema that comes with promptc. `DiskError` (PC0724) when it is not there."""
    name = f"{kind}.schema.json"
    try:
        return find_shipped("schemas", name).read_bytes()
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0724", f"cannot read {name}: {reason}", help="install promptc anew")]) from wrong


def _read_state_schema(pack: str) -> bytes:
    """The file as it is, after the pack was loaded: so it is valid."""
    from promptc.api import Pack

    loaded = Pack.load(pack)
    state = loaded.model.manifest.get("state")
    node = state.get("schema") if state is not None else None
    if node is None:
        raise UsageError([Diagnostic("PC0729", f"the pack `{loaded.name}` declares no schema for its states", help=_DECLARE)])
    return read_pack_file(node.folder, str(node.value), node.span)


_DECLARE = "name one in its manifest: `state: {schema: state.schema.json}`"
