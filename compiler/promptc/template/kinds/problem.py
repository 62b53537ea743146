"""What is wrong with a text by the kinds of what it reads, as data: `check` words it."""

from dataclasses import dataclass
from typing import Literal

from promptc.template.types.types import Type, UndefinedType

Rule = Literal[
    "name", "part", "absent", "reads_none", "none", "kind", "some_kind", "never", "always", "unprintable", "argument", "given", "as_text"
]
"""`name`: nothing has the name. `part`: no valid state has the part. `absent`: it may be undefined. `reads_none`: it may be left out,
and then is none. `none`: it may be none, and the run then fails. `kind`: it is of the wrong kind; `some_kind`: it may be. `never`: it is
compared with what it never is. `always`: it is asked whether it is defined, and always is. `unprintable`: what is not made yet is
printed. `argument`: a call cannot work with what it is given. `given`: a key of the manifest cannot. `as_text`: a time is put in order
as a text."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: its rule, its place, and what it is about.

    `file` and `position` are what `Place.find_span` takes. `subject` is the value as the author wrote it (empty where it is computed),
    `kind` its kind or the member of it that is wrong, `wants` what takes it (`` `upper` takes a text ``), `gap` what is missing.
    `told`: of an `argument`, the code, the message and the help that a run would fail with; of what is `given`, those it has.
    """

    rule: Rule
    file: str
    position: int
    subject: str
    kind: Type
    wants: str = ""
    gap: UndefinedType | None = None
    known: tuple[str, ...] = ()
    told: tuple[str, str, str] | None = None
