"""Codes of the family `corpus`: the indexes a pack declares, and the files they are made of."""

from promptc.diag.codes.code import Code

CORPUS_CODES: tuple[Code, ...] = (
    Code(
        "PC0270",
        "error",
        "an unknown encoder",
        "An encoder's name stands for one model, known by its digest, that comes in a package.",
        "vectors: {encoder: minilm}",
        "Name a known one: `minilm-int8`.",
    ),
    Code(
        "PC0271",
        "error",
        "a pattern of files that cannot be read",
        "A corpus is a path inside the pack in which `*` and `?` stand for any part of a name, `**` for folders at any depth, and a "
        "name in braces for a part of a name that becomes metadata.",
        'corpus: "archive/{version/*.md"',
        'Write it like `"archive/{version}/{domain}/*.md"`.',
    ),
    Code(
        "PC0272",
        "error",
        "the folder of an index is no plain path",
        "The folder lies inside the pack, and a name in braces in it parts the corpus: it must be one of the names in its pattern.",
        'path: "data/{edition}"                # with corpus: "archive/{version}/*.md"',
        "Use names of the pattern, and a path without `..`.",
    ),
    Code(
        "PC0273",
        "error",
        "sizes of chunks the wrong way round",
        "The first is the size that small sections are put together to reach, the second the most that a chunk may have.",
        "chunk: {tokens: [600, 350]}",
        "Write the least first: `[350, 600]`.",
    ),
    Code(
        "PC0274",
        "error",
        "weights that match nothing",
        "A chunk's score is the weighted mean of its match by words and by vectors. Something must weigh, and what weighs must be there.",
        "weights: {words: 0.6, vectors: 0.4}   # and no `vectors: {encoder: ...}`",
        "Name an encoder, or leave the weight of vectors out.",
    ),
    Code(
        "PC0275",
        "error",
        "synonyms that cannot be read",
        "A file of synonyms maps what a query may say to a text, or a list of texts, that stand for the same.",
        "cr: 5",
        "Write `cr: challenge rating`, or `cr: [challenge rating, level of danger]`.",
    ),
    Code(
        "PC0276",
        "error",
        "metadata that cannot be",
        "Front matter is a mapping that adds to what the path of a file says. It cannot contradict the path, and `id`, `text`, `heading`, "
        "`index`, `score`, `file`, `length` and `preview` are what the compiler says of a chunk.",
        "---\nversion: 2.0      # in archive/1.0/rules.md\n---",
        "Leave the key out, give it another name, or move the file.",
    ),
    Code(
        "PC0277",
        "error",
        "an index over the state without a text",
        "What is indexed of an item is a template's to say: an item may have many keys.",
        "indexes: {memory: {from: state.memory}}",
        'Add `text: "{{ item.text }}"`.',
    ),
    Code(
        "PC0278",
        "error",
        "an engine that is no PostgreSQL",
        "An index lies in its folder and is read into memory. An `engine` holds the chunks in its place, and needs to compare vectors.",
        "engine: {url_env: PROMPTC_INDEX}     # which is sqlite:chunks.db",
        "Leave `engine` out, or name a PostgreSQL that has pgvector.",
    ),
)
