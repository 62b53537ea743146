"""`promptc index`: its commands, each in a module of its own."""

from promptc.cli.group import CommandGroup

COMMANDS: dict[str, str] = {
    "build": "Build the indexes of a pack, or bring them up to date.",
    "query": "Show what an index finds for a query, and why.",
    "eval": "Measure an index with queries whose answers are known.",
    "status": "Tell which indexes are built, stale or missing.",
}

command = CommandGroup(
    name="index",
    commands=COMMANDS,
    home="promptc.cli.index_",
    help="""\
Build, ask and judge the retrieval indexes of a pack: those its manifest declares under `indexes` over files.

Vectors need the extra: pip install 'promptc-compiler[retrieval]'. Without it an index is built and asked by words alone.""",
    examples=[
        ("what a render with a stale index asks for", "promptc index build packs/archive"),
        ("in the words of a player", 'promptc index query packs/archive rules "who strikes first"'),
        ("as a gate", "promptc index eval packs/archive rules queries.tsv --min-recall 0.93"),
    ],
)
