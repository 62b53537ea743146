"""`promptc segments`: its commands, each in a module of its own."""

from promptc.cli.group import CommandGroup

COMMANDS: dict[str, str] = {
    "import": "Bring the segments of files into a store.",
    "export": "Write the segments of a store as files.",
    "list": "List the segments of a store.",
    "check": "Look for damage and malformed rows in a store.",
}

command = CommandGroup(
    name="segments",
    commands=COMMANDS,
    home="promptc.cli.segments_",
    help="""\
Import, export, list and check segments: the texts that a pack takes from a table in SQLite or PostgreSQL.

The store is one that the pack declares under `stores` (--pack, else the folder you are in), or the one at --url. A password in a URL is
never printed. PostgreSQL needs the extra: pip install 'promptc-compiler[postgres]'.""",
    examples=[
        ("from the pack's own folder", "promptc segments import segments"),
        ("into a database of its own", "promptc segments import segments --url sqlite:segments.db"),
        ("what is wrong with it", "promptc segments check --pack packs/whispercross"),
    ],
)
