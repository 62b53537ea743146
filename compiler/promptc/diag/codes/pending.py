"""Codes of goldens that wait for someone's word."""

from promptc.diag.codes.code import Code

PENDING_CODES: tuple[Code, ...] = (
    Code(
        name="PC0943",
        level="error",
        summary="no pending golden is of that name, or cases in several folders are",
        why="`accept` and `reject` act on the pending goldens at a path, of a case, or of the cases that a pattern matches.",
        bad="promptc accept 'sentinal/*'",
        fix="`promptc pending` lists them; where two cases have one name, their paths tell which; `--all` means all of them.",
    ),
    Code(
        name="PC0944",
        level="error",
        summary="a golden would be accepted where nobody reads it",
        why="Where `CI` is set, a golden that is accepted is one that no person has looked at.",
        bad="CI=1 promptc accept --all",
        fix="Accept it where you work, read the difference, and commit it.",
    ),
    Code(
        name="PC0945",
        level="error",
        summary="a golden cannot be accepted, rejected or taken back",
        why="Goldens are files beside their case, in a folder that can be written. No link is followed.",
        bad="promptc accept --all, in a folder that is mounted read-only",
        fix="Make the folder writable, or free space; goldens that were not accepted are still pending.",
    ),
    Code(
        name="PC0946",
        level="error",
        summary="a review needs a terminal",
        why="`promptc review` shows one golden after the other and waits for a key.",
        bad="promptc review < /dev/null",
        fix="`promptc pending`, `promptc accept PATTERN` and `promptc reject PATTERN` do the same without one.",
    ),
    Code(
        name="PC0947",
        level="error",
        summary="a pending golden is made of files that are others now",
        why="It was written before they were edited, or put back: it is not what the case gives, and would fail as soon as it is accepted.",
        bad="edit a template, promptc test, undo the edit, promptc accept --all",
        fix="`promptc test` makes it anew, or takes it away where nothing differs; `--stale` accepts it as it is.",
    ),
)
