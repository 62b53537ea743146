"""Codes of the family `pack`: the manifest's shape (PC0201-PC0239), variations and what a manifest names."""

from promptc.diag.codes.code import Code

PACK_CODES: tuple[Code, ...] = (
    Code(
        "PC0201",
        "error",
        "a key the language does not know",
        "An unknown key would change nothing, silently. `schemas/pack.schema.json` lists all that are known.",
        "- id: recent\n  budgt: 3500",
        "Correct the key: `budget: 3500`.",
    ),
    Code(
        "PC0202",
        "error",
        "a required key is missing",
        "Without it the rest has no meaning.",
        "items: {window: {last: 12}}",
        "Give the key: `items: {from: state.transcript, window: {last: 12}}`.",
    ),
    Code(
        "PC0203",
        "error",
        "a value of another kind is due",
        "Text, number, list or mapping: the language takes what it names. In YAML 1.2 `yes` and `on` are text, and `1.10` is the "
        "number 1.1.",
        "pinned: yes",
        "Write `pinned: true`; quote a number that is meant as text.",
    ),
    Code(
        "PC0204",
        "error",
        "a word that is none of the known ones",
        "The language has a fixed list here.",
        "role: sytem",
        "Write one of the listed words.",
    ),
    Code(
        "PC0205",
        "error",
        "a name, version or pointer is not well formed",
        "Ids are lower-case letters, digits and `_`, beginning with a letter, so that they can stand in expressions; versions "
        "follow SemVer.",
        "- id: Recent-Blocks",
        "Write `id: recent_blocks`.",
    ),
    Code(
        "PC0206",
        "error",
        "a number out of its bounds",
        "A budget is positive, a share lies between 0 and 1.",
        "budget: -5",
        "Write a number within the bounds.",
    ),
    Code(
        "PC0207",
        "error",
        "keys that exclude each other",
        "A section has one source, items have one rendering, a trim has one end. Which of two was meant cannot be known.",
        '- id: rules\n  template: rules.md.j2\n  text: "Be kind."',
        "Keep one of them.",
    ),
    Code(
        "PC0208",
        "error",
        "a list or mapping where an expression is due",
        "An expression is text, a number, true, false or null. A YAML list or mapping is not read as a Jinja one.",
        "where: [item.ok]",
        'Write it as text: `where: "[item.ok]"`, or just `where: item.ok`.',
    ),
    Code(
        "PC0209",
        "error",
        "an empty value, or one that is too long",
        "What is empty here would do nothing, and was hardly meant.",
        "sections: []",
        "Fill it, or leave the key out.",
    ),
    Code(
        "PC0210",
        "error",
        "a step that is none",
        "A step is a mapping with exactly one key, the step's name; its settings stand under it.",
        "overflow:\n  - evict: {}\n    drop: {}",
        "Begin each step with its own `-`.",
    ),
    Code(
        "PC0211",
        "error",
        "a pack of another version of the language",
        "This promptc reads version 1. A later version may mean something else by the same keys.",
        "promptc: 2",
        "Use a promptc that reads that version, or write the pack in version 1.",
    ),
)
