"""The words for what is wrong with a text by the kinds of what it reads."""

import re
from collections.abc import Callable, Sequence

from promptc.check.describe_name import describe_name, describe_part
from promptc.check.scopes import PARTED
from promptc.check.source_kinds import CHUNK
from promptc.check.texts import UsedText
from promptc.diag.findings import Diagnostic, Span, suggest
from promptc.model.pack import PackModel
from promptc.template.types.types import (
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    Problem,
    TextType,
    Type,
    UndefinedType,
    list_members,
    name_type,
)

Where = Callable[[str], str]
"""What is shown of a place in the schema: `state.schema.json:12`, or nothing."""

_COMPUTED = "a value"


class Describer:
    """Words the problems of one pack. `find_place` tells where a JSON pointer leads in the schema's file."""

    def __init__(self, pack: PackModel, find_place: Callable[[str], Span | None]) -> None:
        self._pack = pack
        self._find_place = find_place

    def describe(self, problem: Problem, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
        """The finding."""
        if problem.told is not None:
            code, message, help = problem.told
            return Diagnostic(code, message, span, help)
        subject = f"`{problem.subject}`" if problem.subject else _COMPUTED
        if problem.rule == "name":
            return describe_name(problem.subject, text, self._pack, span)
        if problem.rule == "part":
            return self._describe_part(problem, text, order, span)
        if problem.rule == "absent":
            return self._describe_absent(problem, text, subject, span)
        if problem.rule == "reads_none":
            return self._describe_left_out(problem, text, subject, span)
        if problem.rule in ("never", "always"):
            return _describe_answer(problem, text, subject, span)
        if problem.rule == "as_text":
            return _describe_order(problem, text, subject, span)
        return _describe_kind(problem, text, subject, span)

    def _describe_part(self, problem: Problem, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
        gap = problem.gap or UndefinedType()
        if gap.at in PARTED and gap.reason == "closed":
            return describe_part(gap.at, gap.part, text, order, span)
        owner = _cut_part(problem.subject, gap.part)
        reads = f"{text.what} reads `{problem.subject or gap.part}`"
        if gap.reason in ("place", "empty"):
            return Diagnostic("PC0635", f"{reads}, and the list is never so long", span, "correct the place, or the schema")
        if gap.reason == "unlike":
            held = f"`{owner}` is {gap.holder}" if owner else f"what it is read of is {gap.holder}"
            by = "by the schema " if owner.startswith(("state", "item")) else ""
            return Diagnostic("PC0635", f"{reads}, and {by}{held}", span, "correct the path, or the schema")
        if not gap.at:
            return Diagnostic("PC0635", f"{reads}, which is not there", span, suggest(gap.part, gap.known))
        help = suggest(gap.part, gap.known) or (f"declare it under `{owner}` in the schema" if owner else "declare it in the schema")
        return Diagnostic("PC0635", f"{reads}, which the schema does not allow", span, help)

    def _describe_absent(self, problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
        gap = problem.gap or UndefinedType()
        reads = f"{text.what} reads {subject if problem.subject else f'`{gap.part}` of {_COMPUTED}'}"
        ask = _show_guard(problem.subject, "is defined", f"{problem.subject} | default('')")
        if gap.reason == "undeclared" and gap.holder == CHUNK:
            help = suggest(gap.part, gap.known)
            help = help if help.startswith("did you mean") else f"give it under `defaults` of the index, or {ask}"
            return Diagnostic("PC0650", f"{reads}, which may be absent: a file of the index need not say it", span, help)
        if gap.reason == "undeclared":
            help = suggest(gap.part, gap.known)
            help = help if help.startswith("did you mean") else f"declare it in the schema, or {ask}"
            return Diagnostic("PC0636", f"{reads}, which the schema does not declare: a valid state may lack it", span, help)
        if gap.reason in ("empty", "place"):
            owner = problem.subject.rpartition("[")[0]
            short = "is empty" if gap.reason == "empty" else "is shorter"
            help = f"ask first: `if {owner}`" if owner and gap.reason == "empty" else f"ask first how long it is, or {ask}"
            return Diagnostic("PC0650", f"{reads}, which is undefined where the list {short}", span, help)
        if gap.reason == "given":
            return Diagnostic("PC0650", f"{reads}, which is not given here", span, "give it, or a default")
        why = f": it is not required{self._show_place(gap.at)}" if gap.reason == "optional" else ": not all that may stand there have it"
        near = suggest(gap.part, gap.known) if gap.reason == "closed" else ""
        help = f"{near} Else {ask}" if near.startswith("did you mean") else ask
        return Diagnostic("PC0650", f"{reads}, which may be absent{why}", span, help)

    def _describe_left_out(self, problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
        place = self._show_place(problem.kind.at) if isinstance(problem.kind, NoneType | UndefinedType) else ""
        asked = problem.subject
        if problem.gap is not None:
            asked = _cut_part(problem.subject, problem.gap.part)
            subject = f"{subject}, and {f'`{asked}`' if asked else 'what that is a part of'}"
        else:
            subject = f"{subject}, which"
        message = f"{text.what} reads {subject} may be absent and then reads as none: it is not required{place} and has no default"
        ask = _show_guard(asked, "is not none", f"{problem.subject} | default('', true)")
        return Diagnostic("PC0650", message, span, f"{ask}, or give it a `default` in the schema")

    def _show_place(self, pointer: str) -> str:
        place = self._find_place(pointer.removeprefix("#"))
        return f" ({place.file}:{place.line})" if place is not None else ""


def _show_guard(subject: str, question: str, default: str) -> str:
    if not subject:
        return f"ask `{question}` first"
    return f"ask first: `if {subject} {question}`, or write `{default}`"


def _cut_part(subject: str, part: str) -> str:
    for ending in (f".{part}", f"[{part!r}]", f"[{part}]"):
        if subject.endswith(ending):
            return subject.removesuffix(ending)
    return ""


def _describe_answer(problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
    if problem.rule == "always":
        message = f"{text.what} asks {problem.wants} of {subject}, which always is: where it is left out, it reads as none"
        help = (
            f"ask `{problem.subject} is not none`"
            if "default" not in problem.wants
            else "write `default(..., true)`, which also replaces none"
        )
        return Diagnostic("PC0653", message, span, help, "warn")
    sought = problem.wants.partition("`")[2].partition("`")[2].strip(" `")
    is_text = problem.known and not problem.wants.endswith((" text", " number", " none", " false", " list", " mapping"))
    held = f"it is one of {', '.join(f'`{one}`' for one in problem.known[:6])}" if is_text else f"it is {name_type(problem.kind)}"
    more = ", ..." if is_text and len(problem.known) > 6 else ""
    message = f"{text.what} compares {subject} {problem.wants}, and that it never is: {held}{more}"
    near = suggest(sought, problem.known) if problem.known else ""
    return Diagnostic("PC0652", message, span, near if near.startswith("did you mean") else "correct the value, or the schema", "warn")


def _describe_order(problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
    plain = problem.subject if re.fullmatch(r"[\w.\[\]'\"]+", problem.subject) else ""
    by = problem.wants.strip("`")
    end = {"sort": "", "min": " | first", "max": " | last"}.get(by)
    help = f"write `{plain or '(...)'} | timestamp`, a number that sorts as the time does"
    if end is not None:
        attribute = plain.rpartition("].")[2]
        help = f"write `sort({f'attribute={attribute!r}, ' if attribute else ''}times=true){end}`"
    using = f" with {problem.wants}" if problem.wants else ""
    message = (
        f"{text.what} orders {subject}{using} as a text, and it is a time: texts of times with and without fractions of a second, "
        "or of several offsets, do not sort as the times do"
    )
    return Diagnostic("PC0699", message, span, help, "warn")


def _describe_kind(problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
    kind = name_type(problem.kind)
    if problem.gap is not None:
        owner = _cut_part(problem.subject, problem.gap.part)
        held = f"`{owner}`" if owner else "what that is a part of"
        message = f"{text.what} reads {subject}, and {held} {'is' if problem.gap.certain else 'may be'} none"
        return Diagnostic("PC0651", message, span, _show_guard(owner, "is not none", f"{problem.subject} | default('')"))
    if problem.rule == "unprintable":
        return Diagnostic("PC0651", f"{text.what} uses {kind}, and {problem.wants}", span, "add `| list` or `| join`")
    may = "may be" if problem.rule in ("none", "some_kind") else "is"
    message = f"{text.what} reads {subject}, which {may} {kind}, and {problem.wants}"
    return Diagnostic("PC0651", message, span, _find_help(problem, kind))


def _find_help(problem: Problem, kind: str) -> str:
    if problem.rule == "none":
        return _show_guard(problem.subject, "is not none", f"{problem.subject} | default('', true)")
    if problem.rule == "some_kind":
        question = _QUESTIONS.get(type(problem.kind), "")
        return f"ask first: `if {problem.subject or 'it'} {question}`" if question else "ask first what it is"
    if "takes a list" in problem.wants and kind == "a text":
        return "loop over its parts: `.split(...)`, `.splitlines()`"
    if any(isinstance(one, NumberType) for one in list_members(problem.kind)) and "takes a text" in problem.wants:
        return "make it a text first with `| string`, or leave the filter out"
    return "correct the path, or the schema"


_QUESTIONS: dict[type[Type], str] = {
    TextType: "is not string",
    NumberType: "is not number",
    BoolType: "is not boolean",
    MappingType: "is not mapping",
    ListType: "is string",
}
