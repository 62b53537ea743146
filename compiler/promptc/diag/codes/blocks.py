"""The codes of blocks that say a thing twice, or never (family check)."""

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
)
