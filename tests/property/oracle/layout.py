"""The layout of a prompt (contract.md §8, §10) and its counts, made whole each time."""

from collections.abc import Sequence
from typing import Any

from tests.property.oracle.counting import MESSAGE, WHOLE, count
from tests.property.oracle.parts import It, Sec


class Layout:
    """How sections become text or messages, and what that counts."""

    def __init__(self, manifest: dict[str, Any], counter: str, format: str, offered: int = 0) -> None:
        """`offered` tokens belong to tools and a response schema."""
        output = manifest.get("output", {})
        self.counter = counter
        self.unit = 4 if counter == "chars/4" else 1
        self.format = format
        self.fixed = WHOLE + offered if format == "messages" else 0
        sections = [section for section in manifest["sections"] if "tool" not in section.get("items", {})]
        self.separator: str = output.get("separator", "\n")
        self.plan = _split(_plan(output.get("messages", "merge"), sections), sections)

    def units(self, text: str) -> int:
        """Tokens, or characters for `chars/4`."""
        return len(text) if self.unit == 4 else count(self.counter, text)

    def tokens(self, units: int) -> int:
        """Rounded up."""
        return -(-units // self.unit)

    # contract 8.16
    def overhead(self, role: str) -> int:
        """Units of a message without its content."""
        return (MESSAGE + (0 if self.unit == 4 else count(self.counter, role))) * self.unit

    # --- one section ---

    # contract 5.21, 10.2 and 10.3
    def body(self, section: Sec) -> str:
        """The section as it stands in text: lines, the last with its end."""
        above, below = ("", section.marker) if section.is_below else (section.marker, "")
        text = "".join(line + "\n" for line in (section.open, section.header, above) if line)
        separator = section.spec.get("separator", "\n")
        is_behind_item = False
        for run in section.iter_runs():
            header = section.headers.get(section.group_of(run[0]), "")
            if header:
                text += ("\n" if is_behind_item else "") + header + "\n"
                is_behind_item = False
            for item in run:
                text += (separator if is_behind_item else "") + item.body
                is_behind_item = True
        return text + "\n" + "".join(line + "\n" for line in (below, section.close) if line)

    # contract 5.1 and 8.18
    def charge(self, section: Sec) -> int:
        """Units of everything the section adds."""
        if not section.alive:
            return 0
        if section.is_tools:
            return sum(self.tokens(self.units(item.text)) for item in section.alive) * self.unit
        if self.format == "text":
            body = self.body(section)
            return max(self.units(body), self.units(body + self.separator))
        if section.is_each:
            return sum(self.overhead(role) + self.units(content) + beyond for role, content, beyond in self._each(section))
        content = self.body(section)[:-1]
        ((role, names),) = [(role, names) for role, names in self.plan if section.id in names]
        longer = self.units(content + "\n" + self.separator) if len(names) > 1 else 0
        return self.overhead(role) + max(self.units(content), longer)

    def _each(self, section: Sec) -> list[tuple[str, str, int]]:
        marker = [(section.role, section.marker, 0)] if section.marker else []
        items = [(item.role or section.role, item.text, 0 if item.made else item.beyond) for item in section.alive]
        return items + marker if section.is_below else marker + items

    # --- the whole ---

    # contract 10.4
    def text(self, sections: Sequence[Sec]) -> str:
        """The prompt as text."""
        return self.separator.join(self.body(section) for section in sections if section.alive and not section.is_tools)

    # contract 8.6
    def messages(self, sections: Sequence[Sec]) -> list[dict[str, Any]]:
        """The prompt as messages."""
        by_id = {section.id: section for section in sections if section.alive}
        messages: list[dict[str, Any]] = []
        for role, names in self.plan:
            held = [by_id[name] for name in names if name in by_id]
            if held and held[0].is_each:
                messages += self._list_each(held[0])
            elif held:
                messages.append({"role": role, "content": self.separator.join(self.body(one) for one in held)[:-1]})
        return messages

    def _list_each(self, section: Sec) -> list[dict[str, Any]]:
        marker = [{"role": section.role, "content": section.marker}] if section.marker else []
        items = [{"role": item.role or section.role, "content": _content(item)} for item in section.alive]
        return items + marker if section.is_below else marker + items

    # contract 8.18
    def total(self, sections: Sequence[Sec]) -> int:
        """Units of the whole prompt."""
        if self.format == "text":
            return self.units(self.text(sections))
        by_id = {section.id: section for section in sections if section.alive}
        units = self.fixed * self.unit + sum(self.charge(section) for section in sections if section.is_tools)
        for role, names in self.plan:
            held = [by_id[name] for name in names if name in by_id]
            if held and held[0].is_each:
                units += self.charge(held[0])
            elif held:
                units += self.overhead(role) + self.units(self.separator.join(self.body(one) for one in held)[:-1])
        return units


def _content(item: It) -> Any:
    return item.parts if item.parts is not None and not item.made else item.text


# contract 8.1
def _plan(messages: Any, sections: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    roles = {section["id"]: section.get("role", "user" if section["id"] == "input" else "system") for section in sections}
    if isinstance(messages, list):
        return [(one["role"], [name for name in roles if name in one["sections"]]) for one in messages]
    plan: list[tuple[str, list[str]]] = []
    for name, role in roles.items():
        if messages == "merge" and plan and plan[-1][0] == role:
            plan[-1][1].append(name)
        else:
            plan.append((role, [name]))
    return plan


# contract 8.4
def _split(plan: list[tuple[str, list[str]]], sections: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Sections of messages stand alone."""
    alone = {section["id"] for section in sections if "message" in section.get("items", {})}
    split: list[tuple[str, list[str]]] = []
    for role, names in plan:
        fresh = True
        for name in names:
            if name in alone or fresh:
                split.append((role, [name]))
            else:
                split[-1][1].append(name)
            fresh = name in alone
    return split
