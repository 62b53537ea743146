"""What is known of a pack's texts without a state: constant conditions and constant sections."""

from promptc.diag.errors import PromptcError
from promptc.model.pack import Pack
from promptc.model.section import Section
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template
from promptc.text.meter import Meter

_COUNTER = "__counter__"


def is_always(expression: Expression | None, truth: bool, pack: Pack) -> bool:
    """True when the expression reads nothing and its value is true (or false, by `truth`)."""
    if expression is None or expression.reads:
        return False
    try:
        return bool(expression.evaluate({_COUNTER: pack.counting.counter})) is truth
    except PromptcError:
        return False


def is_off(section: Section, pack: Pack) -> bool:
    """True when the section's `when` is constantly false."""
    return is_always(section.when, False, pack)


def is_share(section: Section) -> bool:
    """True when what the section is granted depends on what others leave."""
    return not section.pinned and section.budget is not None and section.budget.is_share


def find_static(template: Template | None, section: Section, pack: Pack) -> str | None:
    """What the template renders to in any state, or None when that depends on it. No template is an empty text."""
    if template is None:
        return ""
    if any(path[0] != "section" for path in template.reads):
        return None
    shown = {"id": section.id, "title": section.title, "role": section.role}
    try:
        return template.render({"section": shown, _COUNTER: pack.counting.counter})
    except PromptcError:
        return None


def find_content(section: Section, pack: Pack) -> str | None:
    """The content of a section that is the same in any state; None for all others, and for lists."""
    text = find_static(section.text, section, pack) if section.text is not None else None
    return text.strip("\r\n") if text is not None else None


def find_most(section: Section, separator: str, pack: Pack) -> int | None:
    """More tokens than a section of constant content can ever be charged, or None when its content depends on the state."""
    fence = section.fence
    parts = (
        find_static(fence.open if fence else None, section, pack),
        find_static(section.header, section, pack),
        find_content(section, pack),
        find_static(fence.close if fence else None, section, pack),
    )
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    meter = Meter(pack.counting.counter)
    count = meter.tokens(meter.count("\n".join(part for part in known if part) + "\n" + separator))
    return count + count // 20 + 16  # room for what the guard escapes and for a message's frame
