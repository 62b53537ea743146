"""Codes of sources: what a section asks of stores and indexes, and what they give."""

from promptc.diag.codes.code import Code

GATHER_CODES: tuple[Code, ...] = (
    Code(
        "PC0280",
        "error",
        "segments of a store that is not declared",
        "A section names the store its segments come from; the pack declares under `stores` where that is.",
        "from: {segments: {store: mian, scope: npc}}   # the store is called main",
        "Name a declared store, or declare it.",
    ),
    Code(
        "PC0281",
        "error",
        "segments without a store",
        "`store` may be left out where the pack declares exactly one.",
        "stores: {main: {url: 'sqlite:a.db'}, extra: {url: 'sqlite:b.db'}}   # from: {segments: {scope: npc}}",
        "Name the store, or declare one.",
    ),
    Code(
        "PC0282",
        "error",
        "retrieval from an index that is not declared",
        "A section names the indexes that are asked; the pack declares under `indexes` what they are over.",
        "from: {retrieve: {index: archiv, query: state.query}}   # the index is called archive",
        "Name a declared index, or declare it.",
    ),
    Code(
        "PC0550",
        "error",
        "`segments.each` is no list",
        "The segments are chosen once for every element of a list.",
        "segments: {scope: npc, each: state.npc_name, ref: each.id}",
        "Give an expression with a list; none is an empty one.",
    ),
    Code(
        "PC0551",
        "error",
        "`segments.ref` is neither text nor a list of texts",
        "A segment is about what its `ref_id` names, which is a text.",
        "segments: {scope: npc, ref: state.npcs}   # a list of mappings",
        "Name the ids: `state.npcs | map(attribute='id')`. None asks for nothing; without `ref` all of the scope is asked for.",
    ),
    Code(
        "PC0552",
        "error",
        "a wanted locale or version is of another kind",
        "Locales are a text or a list of texts, the first preferred; a version is one text.",
        "segments: {scope: npc, locale: state.player}",
        "Give text, or none for no preference.",
    ),
    Code(
        "PC0553",
        "warn",
        "malformed rows are left out",
        "A row that is no segment (no JSON object as metadata, a locale or version that is none) cannot be chosen among the others. It is "
        "left out, counted and named; the others are rendered.",
        "a row whose metadata is `{tier: 1`",
        "Mend the rows; `promptc segments check` lists all of them.",
    ),
    Code(
        "PC0554",
        "error",
        "a query is no text",
        "What is looked for is a text. An empty one, or none, retrieves nothing.",
        "retrieve: {index: archive, query: state.player}",
        "Give an expression with a text.",
    ),
    Code(
        "PC0555",
        "error",
        "the wanted version of an index is no text",
        "The version of a corpus is a text; none takes all of them.",
        "retrieve: {index: archive, query: state.query, version: state.turn}",
        "Give an expression with a text, or none.",
    ),
    Code(
        "PC0556",
        "error",
        "an index is not over a list",
        "`from` of an index over the state gives the list whose items are looked through.",
        "indexes: {notes: {from: state.player, text: '{{ item.text }}'}}",
        "Give an expression with a list; none is an empty one.",
    ),
)
