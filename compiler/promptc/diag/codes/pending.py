"""Codes of goldens that wait for someone's word."""

from promptc.diag.codes.code import Code

PENDING_CODES: tuple[Code, ...] = (
    Code(
        name="PC0943",
        level="error",
        summary="no pending golden is of that name",
        why="`accept` and `reject` act on the pending goldens whose case, or whose path, a pattern matches.",
        bad="promptc accept 'sentinal/*'",
        fix="`promptc pending` lists them; `--all` means all of them.",
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
        why="Goldens are files beside their case, and their folder must be one that can be written. A link is never followed.",
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
)
