"""Codes of state operations: answers, arguments, edits, and what `check` says of them."""

from promptc.diag.codes.code import Code

OPERATION_CODES: tuple[Code, ...] = (
    Code(
        "PC0800",
        "warn",
        "an answer is refused, and its `else` stands",
        "It is no JSON by the ask's schema, lacks a heading, has them in another order, is empty or over its `max`. A model may always do "
        "that, so an operation never fails for it: the ask's `else` is rendered in its place.",
        'check: {headings: [Hinge Index], max: 2500}        # and the answer is "Sure! Here is the digest."',
        "Ask again, or let the fallback stand. If a good answer was refused, widen the check.",
    ),
    Code(
        "PC0801",
        "note",
        "an ask has no answer, and its `else` stands",
        "Without a model every ask is answered by its `else`.",
        "promptc apply packs/sentinel checkpoint state.json --no-model",
        "Nothing, if that is meant; else give an answer.",
    ),
    Code(
        "PC0802",
        "error",
        "an operation the pack does not have",
        "Operations are named under `operations` in the manifest.",
        "promptc apply packs/sentinel chekpoint state.json",
        "Name one of them: `promptc apply PACK --list` shows them.",
    ),
    Code(
        "PC0803",
        "error",
        "an argument the operation does not have",
        "Arguments are named, with their defaults, under `args` of the operation.",
        "args: {keep: 12}        # and `kep=6` is given",
        "Name one of them.",
    ),
    Code(
        "PC0804",
        "error",
        "an argument of another kind",
        "A given argument is of its default's kind: truth, text, whole number, number, list or mapping. An argument whose default is null "
        "takes anything.",
        'args: {keep: 12}        # and `keep="six"` is given',
        "Give a value of that kind.",
    ),
    Code(
        "PC0805",
        "error",
        "what stands for an answer is invalid",
        "The `else` of an ask with a schema must give JSON by that schema, whatever the state is. It is not cut to `max`: half of a JSON "
        "text is none. Nothing is changed.",
        'else: {text: "no digest"}        # and check: {schema: digest.schema.json}',
        "Mend the `else`. The filter `json` writes values so that they are always well formed.",
    ),
    Code(
        "PC0806",
        "error",
        "an answer to what the operation does not ask",
        "Answers are given by the names of the asks.",
        "asks: {digest: …}        # and an answer for `digset` is given",
        "Name one of them.",
    ),
    Code(
        "PC0807",
        "error",
        "an edit that cannot be made",
        "Its pointer goes through a value that holds nothing, names an element a list does not have, or `append` or `keep` finds no list. "
        "Nothing is changed.",
        "- {append: /title, to: answers.summary}        # and `title` is a text",
        "Correct the pointer, or guard the edit with `when`.",
    ),
    Code(
        "PC0808",
        "error",
        "a value that an edit cannot use",
        "`each` is a list, `last` a whole number from 0. Nothing is changed.",
        "- {keep: /transcript, last: state.window / 2}",
        "Make it one: `last: state.window // 2`.",
    ),
    Code(
        "PC0809",
        "warn",
        "an answer to what is not asked this time",
        "The ask's `when` does not hold, so its answer is left aside.",
        "asks: {summary: {when: args.summary, …}}        # and an answer is given without `summary=true`",
        "Give the argument that asks for it, or leave the answer out.",
    ),
    Code(
        "PC0810",
        "error",
        "an operation would leave an invalid state",
        "The new state must be valid by the pack's schema, pass its asserts and give every `let` a value. Else nothing is changed.",
        "- {set: /strain, to: \"'calm'\"}        # and the schema knows no such tier",
        "Correct the edit, or the check of the answer it is made of.",
    ),
    Code(
        "PC0811",
        "error",
        "an edit of what no state has",
        "The state's schema does not allow what the pointer leads to: the edit could only ever leave an invalid state. A warning where the "
        "schema allows other keys and does not declare this one.",
        "- {set: /digset, to: answers.digest}",
        "Correct the pointer, or declare the key in the schema.",
    ),
    Code(
        "PC0812",
        "error",
        "an edit with a value that the state's schema refuses",
        "By the kinds of what it is made of, no value of the expression can stand there; or `append` and `keep` are given what is no list.",
        "- {set: /cleared, to: \"'yes'\"}        # and the schema has true or false there",
        "Correct the value, the pointer or the schema.",
    ),
    Code(
        "PC0813",
        "warn",
        "an answer is asked for by a schema and not held against it",
        "The pack of the question sends the schema of its `response`. Providers take only a part of a schema. "
        "Without `check.schema`, any text that is not empty is taken for an answer.",
        "asks: {digest: {pack: digest.yaml, else: …}}        # and digest.yaml has `response: digest.schema.json`",
        "Name the same schema: `check: {schema: digest.schema.json}`.",
    ),
)
