"""What is known of a pack's texts without a state: constant conditions and constant sections."""

from promptc.diag.findings import PromptcError
from promptc.model.pack import PackModel
from promptc.model.section import Section
from promptc.template.compile import Expression, Template
from promptc.template.runtime.run import RUN
from promptc.text.meter import Meter

_SLACK = 16


class SettledTexts:
    """Answers about one pack. Each text is evaluated at most once, however many combinations share it."""

    def __init__(self, pack: PackModel) -> None:
        self._run = pack.open_account()
        self._meter = Meter(pack.counting.counter)
        self._truths: dict[int, tuple[Expression, bool | None]] = {}
        self._texts: dict[tuple[int, str, str, str], tuple[Template, str | None]] = {}

    def is_always(self, expression: Expression | None, truth: bool) -> bool:
        """True when the expression reads nothing and its value is true (or false, by `truth`)."""
        if expression is None or expression.reads:
            return False
        if id(expression) not in self._truths:
            self._truths[id(expression)] = (expression, self._evaluate(expression))
        return self._truths[id(expression)][1] is truth

    def is_off(self, section: Section) -> bool:
        """True when the section's `when` is constantly false."""
        return self.is_always(section.when, False)

    def find_static(self, template: Template | None, section: Section) -> str | None:
        """What the template renders to in any state, or None when that depends on it. No template is an empty text."""
        if template is None:
            return ""
        key = (id(template), section.id, section.title, section.role)
        if key not in self._texts:
            self._texts[key] = (template, self._render(template, section))
        return self._texts[key][1]

    def find_content(self, section: Section) -> str | None:
        """The content of a section that is the same in any state; None for all others, and for lists."""
        text = self.find_static(section.text, section) if section.text is not None else None
        return text.strip("\r\n") if text is not None else None

    def count(self, text: str) -> int:
        """The text's tokens."""
        return self._meter.tokens(self._meter.count(text))

    def find_most(self, section: Section, separator: str) -> int | None:
        """At least as many tokens as a section of constant content is ever charged, or None when its content depends on the state."""
        fence = section.fence
        parts = (
            self.find_static(fence.open if fence else None, section),
            self.find_static(section.header, section),
            self.find_content(section),
            self.find_static(fence.close if fence else None, section),
        )
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        count = self.count("\n".join(part for part in known if part) + "\n" + separator)
        return count + count // 20 + _SLACK  # room for what the guard escapes and for a message's frame

    def _evaluate(self, expression: Expression) -> bool | None:
        try:
            return bool(expression.evaluate({RUN: self._run}))
        except PromptcError:
            return None

    def _render(self, template: Template, section: Section) -> str | None:
        if any(path[0] != "section" for path in template.reads):
            return None
        shown = {"id": section.id, "title": section.title, "role": section.role}
        try:
            return template.render({"section": shown, RUN: self._run})
        except PromptcError:
            return None


def is_share(section: Section) -> bool:
    """True when what the section is granted depends on what others leave."""
    return not section.pinned and section.budget is not None and section.budget.is_share
