"""Rules on what is read: unknown names and paths, uses that do not fit a type, conditions that never hold, and what is never read.

`Describer` turns the problems of a text into findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from promptc.check.configurations import Configuration, Configurations, for_each, list_configurations
from promptc.check.schema_types import CHUNK, follow_pointer
from promptc.check.takes import SORTED
from promptc.check.texts import PARTED, Scopes, UsedText, iter_operation_texts
from promptc.diag.findings import Diagnostic, PromptcError, Span, find_near, join_some, offer_names, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.pack import PackModel
from promptc.model.section import Items, Ranked, Recap, Retrieve, Segments
from promptc.template.allow import FOREIGN_NAMES, SIZES
from promptc.template.compile import Expression
from promptc.template.types.algebra import LIKE_OTHER, join_members, part_type
from promptc.template.types.conditions import ANYTHING, Cases, Demand, describe_demand, describe_kind, find_clash, join_cases, list_cases
from promptc.template.types.infer import InferredTypes, read_code, read_site
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
from promptc.template.types.walk import find_time
from promptc.text.json import extend_pointer

_COMPUTED = "a value"
_CORRECT = "correct the path, or the schema"
_QUESTIONS: dict[type[Type], str] = {
    TextType: "is not string",
    NumberType: "is not number",
    BoolType: "is not boolean",
    MappingType: "is not mapping",
    ListType: "is string",
}
_ORDERS = {
    **dict.fromkeys(("newest", "latest", "desc", "descending"), True),
    **dict.fromkeys(("oldest", "asc", "ascending"), False),
}
"""Words that people write in `sort`. True: the list is to be reversed."""

_WHERE = {
    "item": "use it under `items` and in steps",
    "this": "use it in the items of a section and in steps",
    "group": "use it in the text of an item, in `group.header` and in steps",
    "section": "use it in sections",
    "selected": "use it in sections",
    "strain": "use it in sections and in a tier's `do`: the tier is found after `let`, `asserts` and `select`",
    "variant": "use it in sections: variants are chosen after `let` and `asserts`",
    "items": "use it in the templates of `recap` and `replace`",
    "text": "use it in the templates of `recap` and `replace`",
    "removed": "use it in the `marker` of `evict` and in the `say` of an operation",
    "before": "use it in the texts of `strain.watch`",
    "after": "use it in the texts of `strain.watch`",
    "caller": "use it in a macro that `{% call %}` calls",
    "super": "use it in a block that replaces a block of another file",
    "each": "use it in sections whose `from` has `segments.each`",
    "args": "use it in operations, and in the packs of what they ask",
    "answers": "use it in operations, and in the packs of what they ask",
}
_SHOWN = 8
_DEEPEST = 12

_TOLD = ("name", "part", "never")
"""Problems that already explain why a condition does not hold."""


@for_each
def check_reads(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report unknown names, paths that no valid state has or that a valid state may lack, and uses that do not fit a value's type.

    A text that tests first whether it may read a value is not reported.
    """
    yield from check_texts(pack, configuration, list(configuration.iter_texts()))


def check_texts(pack: PackModel, configuration: Configuration, texts: Sequence[UsedText]) -> Iterator[Diagnostic]:
    """Report what `check_reads` finds in some of the texts of a configuration."""
    describer, scopes = Describer(pack), configuration.facts.scopes
    order = [section.id for section in configuration.plan.sections]
    never = _list_shared(texts, lambda text: {one.position for one in scopes.infer(text).problems if one.rule == "never"})
    for text in texts:
        yield from iter_wrong(text, scopes, describer, order, never.get(id(text.code)))


def _list_shared(texts: Iterable[UsedText], find: Callable[[UsedText], set[int]]) -> dict[int, set[int]]:
    """Return, for each text that several sections share, what `find` finds for all of them: what one list never has, another may have."""
    shared: dict[int, set[int]] = {}
    for text in texts:
        if text.is_joint:
            found = find(text)
            shared[id(text.code)] = shared[id(text.code)] & found if id(text.code) in shared else found
    return shared


def iter_wrong(
    text: UsedText, scopes: Scopes, describer: Describer, order: Sequence[str], never: Collection[int] | None = None
) -> Iterator[Diagnostic]:
    """Yield everything wrong with the types of one text: inside it, and in what it returns to its key.

    `order` has the ids of the sections. `never` has the positions at which to report a comparison that never holds; None reports all.
    """
    found = scopes.infer(text)
    for problem in (*found.problems, *_iter_given(text, found)):
        if never is not None and problem.rule == "never" and problem.position not in never:
            continue
        span, inside = read_site(text.code, problem.file, problem.position)
        told = describer.describe(problem, text, order, span)
        yield replace(told, message=told.message + inside) if inside else told


def _iter_given(text: UsedText, found: InferredTypes) -> Iterator[Problem]:
    """Yield a value that the key never accepts, and a time that `sort` of a section would order as a text."""
    if found.kind is None:
        return
    code, time = text.code.text.strip(), find_time(found.kind) if text.takes is SORTED else None
    if text.takes.refuses(found.kind):
        told = text.takes.describe(text.what, code, found.kind, is_constant=not text.code.reads)
        yield Problem("given", "", 1, code, found.kind, told=("PC0651", *told))
    elif time is not None:
        yield Problem("as_text", "", 1, code, time)


class Describer:
    """Turns the problems of one pack's texts into findings."""

    def __init__(self, pack: PackModel) -> None:
        self._pack = pack

    def describe(self, problem: Problem, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
        """Return the finding for a problem."""
        if problem.told is not None:
            code, message, help = problem.told
            return Diagnostic(code, message, span, help)
        subject = f"`{problem.subject}`" if problem.subject else _COMPUTED
        if problem.rule == "name":
            return _describe_name(problem.subject, text, self._pack, span)
        if problem.rule == "part":
            return self._describe_part(problem, text, order, span)
        if problem.rule == "absent":
            return self._describe_absent(problem, text, subject, span)
        if problem.rule == "reads_none":
            return self._describe_left_out(problem, text, subject, span)
        if problem.rule == "prints_none" and problem.wants == "elements":
            return _describe_joined(problem, text, subject, span)
        if problem.rule == "prints_none":
            return _describe_printed(problem, text, subject, span)
        if problem.rule == "holds_none":
            return _describe_holding(problem, text, subject, span)
        if problem.rule in ("never", "always"):
            return _describe_answer(problem, text, subject, span)
        if problem.rule == "as_text":
            return _describe_order(problem, text, subject, span)
        return _describe_kind(problem, text, subject, span)

    def _describe_part(self, problem: Problem, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
        gap = problem.gap or UndefinedType()
        if gap.at in PARTED and gap.reason == "closed":
            return _describe_part(gap.at, gap.part, text, order, span)
        owner = _cut_part(problem.subject, gap.part)
        reads = f"{text.what} reads `{problem.subject or gap.part}`"
        if gap.reason in ("place", "empty"):
            return Diagnostic("PC0635", f"{reads}, but the list is never that long", span, "correct the place, or the schema")
        if gap.reason == "unlike":
            held = f"`{owner}` is {gap.holder}" if owner else f"what it is read of is {gap.holder}"
            by = "by the schema " if owner.startswith(("state", "item")) else ""
            is_size = bool(owner) and gap.part in SIZES
            help = f"write `{owner} | length`" if is_size else _CORRECT
            return Diagnostic("PC0635", f"{reads}, but {by}{held}", span, help)
        if not gap.at:
            return Diagnostic("PC0635", f"{reads}, which does not exist here", span, suggest(gap.part, gap.known))
        help = suggest(gap.part, gap.known) or (f"declare it under `{owner}` in the schema" if owner else "declare it in the schema")
        is_other = bool(problem.subject) and gap.part not in problem.subject
        refused = f"which is `{gap.part}`, and the schema does not allow that" if is_other else "which the schema does not allow"
        return Diagnostic("PC0635", f"{reads}, {refused}", span, help)

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
            return Diagnostic("PC0636", f"{reads}, which the schema does not declare: a valid state need not have it", span, help)
        if gap.reason in ("empty", "place"):
            owner = problem.subject.rpartition("[")[0]
            short = "is empty" if gap.reason == "empty" else "is shorter"
            help = f"test first: `if {owner}`" if owner and gap.reason == "empty" else ask
            if gap.part in ("max", "min"):
                help = f"give the list an element that is always there: `([0] + …) | {gap.part}`"
            return Diagnostic("PC0650", f"{reads}, which is undefined where the list {short}", span, help)
        if gap.reason == "given":
            return Diagnostic("PC0650", f"{reads}, which is not given here", span, "give it, or a default")
        why = f": it is not required{self._show_place(gap.at)}" if gap.reason == "optional" else ": not every value allowed there has it"
        near = suggest(gap.part, gap.known) if gap.reason == "closed" else ""
        declare = f"; or declare `{gap.part}` with a `default` where the schema lacks it" if gap.reason == "closed" else ""
        help = f"{near} Else {ask}" if near.startswith("did you mean") else f"{ask}{declare}"
        return Diagnostic("PC0650", f"{reads}, which may be absent{why}", span, help)

    def _describe_left_out(self, problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
        place = self._show_place(problem.kind.at) if isinstance(problem.kind, NoneType | UndefinedType) else ""
        asked = problem.subject
        if problem.gap is not None:
            asked = _cut_part(problem.subject, problem.gap.part)
            subject = f"{subject}, and {f'`{asked}`' if asked else 'what that is a part of'}"
        else:
            subject = f"{subject}, which"
        message = f"{text.what} reads {subject} may be absent and is then none: it is not required{place} and has no default"
        ask = _show_guard(asked, "is not none", f"{problem.subject} | default('', true)")
        return Diagnostic("PC0650", message, span, f"{ask}, or give it a `default` in the schema")

    def _show_place(self, pointer: str) -> str:
        look_up = self._pack.find_schema_place
        place = look_up(pointer.removeprefix("#")) if look_up is not None else None
        return f" ({place.file}:{place.line})" if place is not None else ""


def _describe_name(name: str, text: UsedText, pack: PackModel, span: Span) -> Diagnostic:
    """Return the finding for a name that does not exist where the text is used."""
    if name in _WHERE:
        help = "did you mean `item.text`?" if name == "text" and "item" in text.names else _WHERE[name]
        lists = [key for key, one in _list_state(pack) if one.get("type") == "array"]
        if name == "this" and ".edits[" in text.what:
            help = "use `item`; to take elements by their place, write `last` with a number of elements"
        if name == "item" and lists:
            help += f"; elsewhere name one element of a list, such as `state.{lists[-1]}[0]`"
        return Diagnostic("PC0631", f"{text.what} reads `{name}`, which does not exist here", span, help)
    if any(let.name == name for let in pack.lets):
        help = (
            "a `let` can use only those above it"
            if text.what.startswith("`let")
            else "asserts are checked before `let`: write the value itself"
        )
        return Diagnostic("PC0631", f"{text.what} reads `{name}`, which does not exist here yet", span, help)
    return Diagnostic("PC0630", f"{text.what} reads `{name}`, which is not defined", span, _suggest_name(name, text, pack))


def _list_state(pack: PackModel) -> list[tuple[str, dict[str, Any]]]:
    """Return the properties that the schema of the state declares, each with its own schema."""
    properties = pack.schema.get("properties", {}) if pack.schema is not None else {}
    return [(key, one) for key, one in properties.items() if isinstance(one, dict)] if isinstance(properties, dict) else []


def _suggest_name(name: str, text: UsedText, pack: PackModel) -> str:
    known, properties = text.names, dict(_list_state(pack))
    source, fields = _list_fields(text, properties)
    if name in fields:
        return f"did you mean `item.{name}`?"
    if name in properties:
        return f"did you mean `state.{name}`?"
    if name in _ORDERS and text.takes is SORTED and source:
        shown = join_some([f"`item.{field}`" for field in sorted(fields)], 6) if fields else "`item.at`"
        turn = f"turn the list round with `from: {source} | reverse | list`" if _ORDERS[name] else "leave `sort` out to keep the order"
        return f"sort by a part of the item, such as {shown}; or {turn}"
    if _ORDERS.get(name) is False and text.what.startswith("`by` of"):
        return "leave `by` out: without it, the oldest go first"
    if name in FOREIGN_NAMES:
        return FOREIGN_NAMES[name]
    if source and source.rpartition(".")[2] in (f"{name}s", f"{name}es"):
        return f"an element of `{source}` is called `item`"
    near = find_near(name, (*known, *(one.name for one in pack.definitions)), cutoff=0.7)
    return f"did you mean `{near}`?" if near is not None else offer_names(known)


def _list_fields(text: UsedText, properties: dict[str, dict[str, Any]]) -> tuple[str, Sequence[str]]:
    """Return the source of a section's items, as it is written, and the keys that the schema declares for the elements of that list."""
    if "item" not in text.names or text.section is None or text.section.items is None:
        return "", ()
    source = text.section.items.source
    written = source.text.strip() if isinstance(source, Expression) else "state.list"
    element = properties.get(written.removeprefix("state."), {}).get("items")
    fields = element.get("properties") if isinstance(element, dict) else None
    return written, list(fields) if isinstance(fields, dict) else ()


def _describe_answer(problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
    if problem.rule == "always":
        message = f"{text.what} uses {problem.wants} on {subject}, which is always defined: if a state leaves it out, it is none"
        help = (
            f"test `{problem.subject} is not none`"
            if "default" not in problem.wants
            else "write `default(..., true)`, which also replaces none"
        )
        return Diagnostic("PC0653", message, span, help, "warn")
    sought = problem.wants.partition("`")[2].partition("`")[2].strip(" `")
    is_text = problem.known and not problem.wants.endswith((" string", " number", " none", " false", " list", " mapping"))
    held = f"it is one of {', '.join(f'`{one}`' for one in problem.known[:6])}" if is_text else f"it is {name_type(problem.kind)}"
    more = ", ..." if is_text and len(problem.known) > 6 else ""
    message = f"{text.what} compares {subject} {problem.wants}, a value that it never has: {held}{more}"
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
        f"{text.what} orders the time {subject}{using} as a string. "
        "With fractions of a second or different offsets, strings do not sort as times do"
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
    return Diagnostic("PC0651", message, span, _advise(problem, kind))


def _describe_printed(problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
    others = [one for one in list_members(problem.kind) if not isinstance(one, NoneType)]
    held = "may be none, and then prints" if others else "is always none, and prints"
    message = f"{text.what} prints {subject}, which {held} as `None`"
    asked, instead = problem.subject or "...", _choose_word(others)
    question = asked
    if any(isinstance(one, NumberType | BoolType) for one in others):  # `or` and `default` would also replace 0 and false
        question = f"{asked} is not none"
        code = f"{asked} if {question} else {instead}"
        code = code if problem.wants == "printed" else f"({code})"
    elif problem.wants == "printed" and problem.subject:
        code = f"{asked} or {instead}"
    else:
        code = f"{asked if problem.subject else '(...)'} | default({instead}, true)"
    shown = f"{{{{ {code} }}}}" if problem.wants == "printed" else code
    help = f"write `{shown}`" + (f", or test first: `{{% if {question} %}}`" if problem.subject else "")
    return Diagnostic("PC0669", message, span, help, "warn")


def _describe_joined(problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
    others = [one for one in list_members(problem.kind) if not isinstance(one, NoneType)]
    message = f"{text.what} joins the elements of {subject}, which may be none, and then print as `None`"
    replaced = f"`map('default', {_choose_word(others)}, true)`" if all(isinstance(one, TextType) for one in others) else ""
    help = f"leave them out before `join`: `reject('none')`{f'; or say what to print instead: {replaced}' if replaced else ''}"
    return Diagnostic("PC0669", message, span, help, "warn")


def _describe_holding(problem: Problem, text: UsedText, subject: str, span: Span) -> Diagnostic:
    message = f"{text.what} prints {subject}, and none in it prints as `None`"
    code = f"{problem.subject or '(...)'} | tojson"
    shown = f"{{{{ {code} }}}}" if problem.wants == "printed" else code
    return Diagnostic("PC0669", message, span, f"print its parts one by one, or write `{shown}`, which prints `null`", "warn")


def _choose_word(others: Sequence[Type]) -> str:
    """Return a literal to print instead of none: a value that the schema lists, else a word."""
    listed = sorted(value for one in others if isinstance(one, TextType) for value in one.values or ())
    return repr(next((value for value in listed if value.isascii() and value.replace(" ", "").isalnum()), "unknown"))


def _cut_part(subject: str, part: str) -> str:
    for ending in (f".{part}", f"[{part!r}]", f"[{part}]"):
        if subject.endswith(ending):
            return subject.removesuffix(ending)
    return ""


def _show_guard(subject: str, question: str, default: str) -> str:
    if not subject:
        return f"test `{question}` first"
    return f"test first: `if {subject} {question}`, or write `{default}`"


def _advise(problem: Problem, kind: str) -> str:
    if problem.rule == "none":
        return _show_guard(problem.subject, "is not none", f"{problem.subject} | default('', true)")
    if problem.rule == "some_kind":
        question = _QUESTIONS.get(type(problem.kind), "")
        return f"test first: `if {problem.subject or 'it'} {question}`" if question else "test its type first"
    if "takes a list" in problem.wants and kind == "a string":
        return "loop over its parts: `.split(...)`, `.splitlines()`"
    if LIKE_OTHER in problem.wants:
        return _advise_pair(problem, kind)
    if kind == "a list" and problem.wants.startswith("`.join()`"):
        return f"write `{problem.subject or '(…)'} | join(', ')`"
    if any(isinstance(one, NumberType) for one in list_members(problem.kind)) and "takes a string" in problem.wants:
        return "make it a string first with `| string`, or leave the filter out"
    return _CORRECT


def _advise_pair(problem: Problem, kind: str) -> str:
    """Return the help for an operator that takes two values of one type, and has two of different types."""
    if problem.wants.startswith("`+`") and kind in ("a string", "a number"):
        return "join the two to a string with `~` instead of `+`"
    if kind == "a string":
        return f"make it a number first: `{problem.subject or '(…)'} | int`" if "takes a number" in problem.wants else _CORRECT
    return f"make it a string first: `{problem.subject or '(…)'} | string`; or write a number in place of the string"


def _describe_part(name: str, part: str, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
    """Return the finding for a part that one of the compiler's own names does not have at this place."""
    parts = text.names.get(name) or frozenset()
    if name == "selected":
        return _describe_selected(part, text, order, span)
    if name == "variant":
        known = suggest(part, parts) if parts else "no axis is chosen before it"
        return Diagnostic("PC0632", f"{text.what} reads `variant.{part}`, but the pack has no such axis", span, known)
    if name == "this" and part in ("id", "tokens", "chars", "form", "held"):
        help = "ids are given after the list is read" if part == "id" else "use it in steps"
        return Diagnostic("PC0632", f"{text.what} reads `this.{part}`, which does not exist here yet", span, help)
    return Diagnostic("PC0632", f"{text.what} reads `{name}.{part}`; `{name}` has no `{part}`", span, suggest(part, parts))


def _describe_selected(part: str, text: UsedText, order: Sequence[str], span: Span) -> Diagnostic:
    if part not in order:
        return Diagnostic("PC0633", f"{text.what} reads `selected.{part}`, which is not a section", span, suggest(part, order))
    where = "fences are made before anything is selected" if "`fence`" in text.what else "move it below that section"
    own = text.section is not None and text.section.id == part
    why = "its own count" if own else f"and `{part}` is selected later"
    return Diagnostic("PC0633", f"{text.what} reads `selected.{part}`, {why}", span, where)


def check_unread(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report, in a single note, what the schema declares and no text of any combination reads."""
    read, whole = _collect(pack, configurations)
    for asking in iter_asked(pack):
        more, entire = _collect(asking, list_configurations(asking))
        read, whole = read | more, whole | entire
    found = list(dict.fromkeys(_iter_unread(configurations.facts.scopes.state, "", read, whole, frozenset())))
    if not found:
        return
    names = join_some([f"`{path}`" for path, _ in found], _SHOWN)
    message = (
        f"the pack never reads these properties of the state: {names}" if len(found) > 1 else f"the pack never reads {names} of the state"
    )
    place = pack.find_schema_place
    span = place(found[0][1].removeprefix("#")) if place is not None else pack.manifest.key_span("state")
    yield Diagnostic(
        "PC0654", message, span, "do nothing if another program uses it; otherwise read it, or remove it from the schema", "note"
    )


def _collect(pack: PackModel, configurations: Configurations) -> tuple[set[tuple[str, str]], set[str]]:
    scopes = configurations.facts.scopes
    read: set[tuple[str, str]] = set()
    whole: set[str] = set()
    passing = {id(let.value) for let in pack.lets}
    for configuration in configurations:
        for text in configuration.iter_texts():
            found = scopes.infer(text)
            read |= found.read
            whole |= found.whole
            if found.kind is not None and id(text.code) not in passing and not _is_source(text):
                _note_whole(found.kind, whole, 0)
    for text in iter_operation_texts(pack, scopes.state):
        found = scopes.infer(text)
        read |= found.read
        whole |= found.whole
        if found.kind is not None:
            _note_whole(found.kind, whole, 0)
    return read | set(_iter_edited(pack, scopes.state)), whole


def _is_source(text: UsedText) -> bool:
    items = text.section.items if text.section is not None else None
    return items is not None and text.code is items.source


def _note_whole(kind: Type, whole: set[str], depth: int) -> None:
    """Note that all of an expression's value is used, as the manifest uses the value as it is."""
    for member in list_members(kind):
        if isinstance(member, MappingType):
            whole.add(member.at)
        elif isinstance(member, ListType) and depth < _DEEPEST:
            _note_whole(join_members(member), whole, depth + 1)


def _iter_edited(pack: PackModel, state: Type) -> Iterator[tuple[str, str]]:
    """Yield the properties that operations edit, which count as used."""
    for operation in pack.operations:
        for edit in operation.edits:
            kind, (_, *way) = state, edit.pointer.split("/")
            for part in way:
                yield from ((member.at, part) for member in list_members(kind) if isinstance(member, MappingType))
                kind = follow_pointer(kind, f"/{part}")


def iter_asked(pack: PackModel) -> Iterator[PackModel]:
    """Yield the packs of the operations' asks, each once. Packs that do not load are skipped, as another rule reports them."""
    asks = {ask.pack: ask for operation in pack.operations for ask in operation.asks}
    for ask in asks.values():
        with suppress(PromptcError):
            yield ask.load_pack()


def _iter_unread(kind: Type, path: str, read: set[tuple[str, str]], whole: set[str], above: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the properties that are not read, the outermost first. Properties inside one that is not read are left out."""
    for member in list_members(kind):
        if isinstance(member, ListType):
            yield from _iter_unread(join_members(member), f"{path}[]", read, whole, above)
        elif isinstance(member, MappingType) and member.at.startswith("#") and member.at not in whole | above and len(above) < _DEEPEST:
            for name in member.names:
                inner = f"{path}.{name}" if path else name
                if (member.at, name) not in read:
                    yield inner, extend_pointer(f"{member.at}/properties", name)
                else:
                    yield from _iter_unread(part_type(member, name), inner, read, whole, above | {member.at})


def check_unused_definitions(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report definitions that no text of any combination uses, directly or through another definition."""
    if configurations.failed:
        return  # one of them may use it
    named = pack.list_named()
    for one in pack.definitions:
        if one.name not in named:
            help = f"use it, or remove it (`{one.name}: null` in a pack that extends this one)"
            removable = one.place.span if configurations.looked == configurations.count else None
            yield Diagnostic("PC0639", f"nothing uses the definition `{one.name}`", one.place.span, help, "warn", removable)


def check_unused_lets(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report values of `let` that nothing reads: no text of any combination, no operation, and no other value that is read."""
    if not pack.lets or configurations.failed:
        return  # one of them may read it
    own = {id(let.expression) for let in pack.lets}
    texts = [text for configuration in configurations for text in configuration.iter_texts()]
    texts += iter_operation_texts(pack, configurations.facts.scopes.state)
    read = {path[0] for text in texts if id(text.code) not in own for path in text.code.reads}
    for let in reversed(pack.lets):
        if let.name in read:
            read |= {path[0] for path in let.expression.reads}
    for let in pack.lets:
        if let.name not in read:
            help = f"use it, or remove it (`{let.name}: null` in a pack that extends this one)"
            yield Diagnostic("PC0667", f"nothing reads the value `{let.name}` of `let`", let.span, help, "warn")


@for_each
def check_unmet(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report conditions of sections and steps that are false in every valid state.

    Other rules report constant conditions and comparisons with a value that never occurs.
    """
    scopes = configuration.facts.scopes
    conditions = set(map(id, _iter_conditions(configuration)))
    before: dict[int, Cases] = {}
    joint: dict[int, list[Diagnostic | None]] = {}
    for text in configuration.iter_texts():
        if id(text.code) not in conditions or not text.code.reads:
            continue
        own = list_cases(read_code(text.code), scopes.make_scope(text))
        clash = find_clash(join_cases(own, before.get(id(text.section), ANYTHING)))
        is_told = clash is not None and not any(one.rule in _TOLD for one in scopes.infer(text).problems)
        told = _describe(text, clash) if clash is not None and is_told else None
        if text.is_joint:
            joint.setdefault(id(text.code), []).append(told)
        elif told is not None:
            yield told
        elif clash is None and _is_first(text):
            before[id(text.section)] = join_cases(before.get(id(text.section), ANYTHING), _forget_this(own))
    yield from (one for found in joint.values() if None not in found for one in found if one is not None)


def _iter_conditions(configuration: Configuration) -> Iterator[Expression]:
    for section in configuration.plan.sections:
        if section.when is not None:
            yield section.when
        if section.items is not None:
            yield from _iter_of_items(section.items)
    for step in (*configuration.list_shared_steps(), *(one for section in configuration.plan.sections for one in section.overflow)):
        if isinstance(step, Ranked):
            yield from step.order
        if isinstance(step, Recap) and step.where is not None:
            yield step.where


def _iter_of_items(items: Items) -> Iterator[Expression]:
    yield from (one.where for one in (*items.keep, *([items.anchors] if items.anchors is not None else [])))
    if items.where is not None:
        yield items.where
    if isinstance(items.source, Segments | Retrieve) and items.source.where is not None:
        yield items.source.where
    if isinstance(items.source, Retrieve):
        yield from (one.where for one in items.source.boosts)


def _describe(text: UsedText, clash: tuple[Demand, ...]) -> Diagnostic:
    span, inside = read_site(text.code, "", clash[0].at if clash else 1)
    asks = " and ".join(f"`{describe_demand(one)}`" for one in clash)
    if not clash:
        why = "it is false for every state"
    elif len(clash) > 1:
        why = f"no value meets {asks}" if all(one.spelled for one in clash) else "two of its conditions exclude each other"
    else:
        subject = f"`{clash[0].spelled}`" if clash[0].spelled else "that"
        why = f"it requires {asks}, but by the schema {subject} is {describe_kind(clash[0].kind)}"
    return Diagnostic("PC0673", f"{text.what} is never true: {why}{inside}", span, "correct the condition or the schema", "warn")


def _is_first(text: UsedText) -> bool:
    """Return whether a text is a section's `when` or the `where` of its items, which hold whenever its other conditions are evaluated."""
    section = text.section
    return section is not None and (text.code is section.when or (section.items is not None and text.code is section.items.where))


def _forget_this(cases: Cases) -> Cases:
    """Return the cases without demands on `this`, which means something else in another condition."""
    return tuple(tuple(demand for demand in case if "this" not in demand.names) for case in cases)
