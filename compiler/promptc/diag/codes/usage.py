"""Codes of a call that is itself wrong."""

from promptc.diag.codes.code import Code

USAGE_CODES: tuple[Code, ...] = (
    Code(
        name="PC0701",
        level="error",
        summary="an unknown variant axis was asked for",
        why="`--variant AXIS=CASE` names an axis of the pack.",
        bad="--variant moood=calm",
        fix="Name a declared axis.",
    ),
    Code(
        name="PC0702",
        level="error",
        summary="an unknown case was asked for",
        why="`--variant AXIS=CASE` names a case of the axis.",
        bad="--variant mood=clam",
        fix="Name a declared case.",
    ),
    Code(
        name="PC0703",
        level="error",
        summary="an unknown patch was asked for",
        why="`--patch` names an entry of `patches`.",
        bad="--patch smal",
        fix="Name a declared patch.",
    ),
    Code(
        name="PC0704",
        level="error",
        summary="an unknown section was asked for",
        why="`--only` and `--without` name sections of the pack.",
        bad="--only recnt",
        fix="Name a section.",
    ),
    Code(
        name="PC0705",
        level="error",
        summary="the prompt was rendered in the other format",
        why="A render has one format: its budget was counted in it.",
        bad="pack.render(state).messages   # of a text pack",
        fix="Render it with that `format`.",
    ),
    Code(
        name="PC0706",
        level="error",
        summary="an unknown format was asked for",
        why="This version renders text and messages.",
        bad="--format openai",
        fix="Use `text` or `messages`.",
    ),
)
