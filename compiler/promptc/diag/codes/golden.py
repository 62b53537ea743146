"""Codes of cases and goldens: cases that cannot be run, and what `promptc test` finds."""

from promptc.diag.codes.code import Code

GOLDEN_CODES: tuple[Code, ...] = (
    Code(
        name="PC0901",
        level="error",
        summary="a case is not of its form",
        why="`case.yaml` has a key no case has, lacks one, or gives it a value of another kind; or it holds nothing, and would pass "
        "whatever comes out. The other cases are run all the same.",
        bad="expcet: {strain: strain_3}",
        fix="The line and its help say what is known there; schemas/case.schema.json tells an editor.",
    ),
    Code(
        name="PC0902",
        level="error",
        summary="a case names a file that is not there",
        why="Its state, its queries or an answer is missing, or is no regular file. Paths in a case are relative to its folder.",
        bad="state: sate.json",
        fix="Name a file beside the case, or by `../` one beside other cases.",
    ),
    Code(
        name="PC0903",
        level="error",
        summary="the system keeps a case from being run, or its outcome from being written",
        why="A file or folder cannot be read, a disk is full, a folder is read-only, or a process was ended from outside.",
        bad="chmod 000 fixtures/lighthouse/foggy/state.json",
        fix="See to what the system says. The other cases are run all the same.",
    ),
    Code(
        name="PC0904",
        level="error",
        summary="a case changes its state where nothing is",
        why="`set` has JSON pointers that lead through mappings and lists. Keys that are missing are made, elements are not.",
        bad="state: {base: state.json, set: {/turns/9/text: Hello}}",
        fix="Point into the state; `/turns/-` appends to a list.",
    ),
    Code(
        name="PC0905",
        level="error",
        summary="a circumstance of a case cannot be made",
        why="`given` makes stores, built indexes, files, links, databases and variables, in a copy of the case, and hides what "
        "an installation may be without. promptc's own tests know more.",
        bad="given: {held: [state.json]}",
        fix="Leave it out, or make it true some other way.",
    ),
    Code(
        name="PC0906",
        level="error",
        summary="a golden is no file of its own",
        why="A link, or a folder of that name: goldens are compared and replaced in place, so what they lead to would be at risk.",
        bad="ln -s ../calm/golden.txt golden.txt",
        fix="Put the file itself there. Cases that come to the same have a golden each.",
    ),
    Code(
        name="PC0907",
        level="error",
        summary="no case is selected",
        why="A run without a case would pass whatever is broken.",
        bad="promptc test packs/sentinle",
        fix="Name a folder with cases, a pack that has some, or the name of a case.",
    ),
    Code(
        name="PC0909",
        level="error",
        summary="`-k` cannot be read",
        why="It takes words of names, joined by `and`, `or`, `not` and parentheses.",
        bad="promptc test -k 'strain and'",
        fix="Such as `-k 'strain and not messages'`.",
    ),
    Code(
        name="PC0910",
        level="error",
        summary="git cannot tell what differs from a revision",
        why="`--since` compares with a revision of the repository that the working folder is in. Git is not asked where `.git` leads to "
        "another repository (docs/trust.md).",
        bad="promptc test --since orign/main",
        fix="Name a commit, a branch or a tag; `--changed` needs no git.",
    ),
    Code(
        name="PC0920",
        level="error",
        summary="a golden is not what comes out",
        why="Something that the case is made of has changed: a template, the manifest, a state, a vocabulary, promptc.",
        bad="promptc test fixtures/lighthouse",
        fix="Read the difference. If it is meant, accept it: `promptc review`.",
    ),
    Code(
        name="PC0921",
        level="error",
        summary="a golden is not there yet",
        why="The case asks for it, and nobody has accepted one. In CI that fails, elsewhere it is only told.",
        bad="golden: [text]",
        fix="Read what comes out and accept it: `promptc review`.",
    ),
    Code(
        name="PC0922",
        level="warn",
        summary="no case asks for a golden",
        why="Nothing compares it any more: its kind is no longer in `golden`. In CI that fails. Where a folder has goldens and no "
        "`case.yaml` it is an error everywhere: the case is gone, or its file is called otherwise, and what it held is held by nobody.",
        bad="mv fixtures/lighthouse/foggy/case.yaml fixtures/lighthouse/foggy/case.yml",
        fix="Call the file of a case `case.yaml`. `promptc prune` removes goldens that no case asks for.",
    ),
    Code(
        name="PC0923",
        level="error",
        summary="a golden is pending",
        why="A run has written what came out, and nobody has accepted or rejected it. In CI that fails.",
        bad="git add -f golden.txt.new",
        fix="`promptc review`; `*.new` belongs in .gitignore.",
    ),
    Code(
        name="PC0924",
        level="error",
        summary="what a case expects does not hold",
        why="Claims of `expect` hold whatever the goldens say, so accepting a golden does not mend them.",
        bad="expect: {strain: strain_2}",
        fix="Mend what changed, or the claim.",
    ),
)
