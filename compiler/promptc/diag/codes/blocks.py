"""Codes of lints of what sections print: content that stands twice, limits and conditions without effect, parts that never pass."""

from promptc.diag.codes.code import Code

BLOCK_CODES: tuple[Code, ...] = (
    Code(
        name="PC0670",
        level="warn",
        summary="two sections may list the same item",
        why="Both take items from one list of the state, their conditions may hold for one item, and both print something of it: the "
        "prompt then says it twice. `dedupe.against` removes the second.",
        bad="from: state.notes in two sections, `where: item.pinned` in one of them and no `where` in the other",
        fix="Give the later one `dedupe: {by: ..., against: [first]}`, or each a `where` that the other excludes.",
    ),
    Code(
        name="PC0671",
        level="warn",
        summary="a section repeats another",
        why="It has the same text, lists the same items by the same filter in the same form, or both hold one value of the state and "
        "nothing else. What stands twice costs twice.",
        bad="text: '{{ state.summary }}' in two sections",
        fix="Take one out, or give each a `when` that the other excludes.",
    ),
    Code(
        name="PC0672",
        level="warn",
        summary="a cap never binds",
        why="The schema, or the stages before it, let no more through than the cap allows. One that is just as large says what holds "
        "anyway: that is a note. A `trim` to more than its section's budget leaves what is over that budget.",
        bad="limit: 12   # behind `window: {last: 6}`",
        fix="Lower it, or take it out.",
    ),
    Code(
        name="PC0673",
        level="warn",
        summary="a condition never holds",
        why="No value that the schema allows meets it, or two of its demands exclude each other: the section is never on, the filter lets "
        "nothing through, the step finds nothing of that class.",
        bad="where: item.level > 9   # and the schema says `maximum: 5`",
        fix="Correct the condition, or the schema.",
    ),
    Code(
        name="PC0674",
        level="note",
        summary="of two doubles the one that `sort` puts last may stay",
        why="`dedupe` comes before `sort`, so `keep: first` goes by the order of `from`: where the list holds a text twice, the one that "
        "stands first there stays, whatever its score.",
        bad="{from: state.notes, dedupe: {by: item.text}, sort: [{by: item.score, desc: true}]}",
        fix="Sort in `from`: `state.notes | sort(attribute='score', reverse=true)`.",
    ),
    Code(
        name="PC0675",
        level="note",
        summary="two lists of the same kind of thing are not compared",
        why="The schema declares the elements of both alike, and both sections print the same text of them: what stands in both lists "
        "stands twice in the prompt. A search over notes finds those that are shown anyway.",
        bad="from: state.memories in one section and state.candidates in another, both printing `item.content`",
        fix="Give the later one `dedupe: {by: item.content, against: [first]}`.",
    ),
    Code(
        name="PC0676",
        level="warn",
        summary="`dedupe.against` leaves in what is said twice",
        why="It compares something else than the text that both sections print, or compares that text to the letter: with `exact`, "
        '"Her father\'s roof" and "her fathers roof" are two. Without, texts are normalised. Where both list elements of one list, or '
        "where it is about `exact`, it is a note.",
        bad="dedupe: {by: item.id, against: [foundation]}   # both print `item.content`",
        fix="Compare what is printed, and leave `exact` out.",
    ),
    Code(
        name="PC0677",
        level="warn",
        summary="an empty template where other cases have content",
        why="The file holds nothing but white space, so the section is absent in this case, and no other finding says so.",
        bad="mood: {cases: {scene: {}, action: {sections: {guidance: {template: moods/action.md}}}}}   # moods/action.md is empty",
        fix="Write the template. Where there is to be none, say so: `text: ''`, or `guidance: null`.",
    ),
    Code(
        name="PC0678",
        level="warn",
        summary="a label of a band that is never reached",
        why="By the schema the value never gets there, so that what the label selects is never on.",
        bad="danger: {band: state.heat, of: {calm: 0, hunted: 90}}   # and the schema says `maximum: 9`",
        fix="Correct the bound, or the schema.",
    ),
    Code(
        name="PC0690",
        level="warn",
        summary="`parts` lets no part of the messages pass",
        why="By the schema the parts have other types than `parts` names, or none: every message that is a list of parts goes whole, or is "
        "refused.",
        bad="parts: [text] with `type` an `enum: [image, sound]`",
        fix="Name the kinds that the state has, or give `content` an expression that makes a text of them.",
    ),
    Code(
        name="PC0691",
        level="warn",
        summary="`parts` names a kind that no request can hold",
        why="A message with such a part stops the render, rather than that it loses the part in silence or is counted as base64.",
        bad="message: {role: item.role, content: item.content, parts: [text, image]}",
        fix="Leave the kind out: its parts are then left out and counted.",
    ),
    Code(
        name="PC0692",
        level="warn",
        summary="`parts` names one half of a tool's turn",
        why="Services refuse a use without its result and a result without its use, so neither passes.",
        bad="message: {role: item.role, content: item.content, parts: [text, tool_use]}",
        fix="Name `tool_use` and `tool_result`, or neither.",
    ),
)
