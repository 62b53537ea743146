"""Codes of the family `counter`: what counts a pack's tokens (PC0180 to PC0189)."""

from promptc.diag.codes.code import Code

COUNTER_CODES: tuple[Code, ...] = (
    Code(
        name="PC0180",
        level="error",
        summary="no such counter",
        why="Every budget is in tokens of the pack's counter; another one would give another prompt.",
        bad="tokenizer: cl100k",
        fix="Name one of `cl100k_base`, `o200k_base`, `chars/4`, or a tokenizer file of the pack: `hf:tokenizer.json`.",
    ),
    Code(
        name="PC0181",
        level="error",
        summary="what a counter counts with is missing or damaged",
        why=(
            "Tokens cannot be counted without the vocabulary or tokenizer file that defines them, or the package that reads it. "
            "promptc never downloads one, and never counts with a vocabulary whose size or checksum is not the one written down."
        ),
        bad="tokenizer: hf:no-such-file.json",
        fix=(
            "Put the file where the name says; for `hf:` also pip install 'promptc-compiler[hf]'. "
            "Or name what to count with instead: `tokenizer: {use: hf:tokenizer.json, fallback: chars/4, margin: 10}`."
        ),
    ),
    Code(
        name="PC0182",
        level="error",
        summary="a tokenizer file cannot be read as a tokenizer",
        why="The file is there, but the package `tokenizers` refuses it. Or it would work without bound: its normalizer makes a text more "
        "than 32 times as long, its words may have more than 1 000 characters, or a piece of its vocabulary has more than 256.",
        bad="tokenizer: hf:pack.yaml",
        fix="Name the `tokenizer.json` of the model, as the package `tokenizers` writes it.",
    ),
    Code(
        name="PC0183",
        level="error",
        summary="a tokenizer file is not inside the pack",
        why="A pack is read from its own folder only, without links, so that it means the same everywhere.",
        bad="tokenizer: hf:../tokenizer.json",
        fix="Copy the file into the pack and name it relative to the pack's folder.",
    ),
    Code(
        name="PC0184",
        level="error",
        summary="a tokenizer cannot count a text",
        why="Its vocabulary has no token for something in the text, and no token for the unknown either. Counted without it, "
        "a text would take fewer tokens than it has, or none.",
        bad="tokenizer: hf:words-only.json",
        fix="Use a tokenizer that covers all text: one on bytes, or with an unknown token.",
    ),
)
