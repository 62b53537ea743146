"""The layout of a plan: where a piece ends, which message it belongs to, what messages and tools cost (contract.md §8, §10)."""

from collections.abc import Callable, Hashable, Mapping, Sequence

from promptc.diag.frozen import frozen
from promptc.model.messages import CHAT, Provider
from promptc.model.pack import Format, Output, Plan, Response
from promptc.model.section import Section, Tool
from promptc.model.stages import Bound
from promptc.passes.layout.ledger import Piece
from promptc.text.counters.counter import Meter
from promptc.text.json import render_canonical_json


@frozen
class Overhead:
    """The tokens that a provider adds.

    It adds tokens to each message (and for the name of its role), to the name of a message's speaker (None: the provider has no place for a
    name), to the whole, to each tool, to any tools together, and to a response schema. The defaults are those of contract.md §8, for
    messages that are not for a provider.

    If a step may defer tools, `tools` includes the tool that searches, even if no tool is deferred in the end. If it did not, the first
    deferred tool could cost more than it saves.
    """

    message: int = 3
    name: int | None = 1
    prompt: int = 3
    counts_role: bool = True
    tool: int = 0
    tools: int = 0
    response: int = 0


@frozen(eq=False)
class Layout:
    """The layout of one plan in one format.

    `messages` maps every section to the index of its message, and `roles` has each message's role. `tools` and `response` are what the
    output offers besides messages and belongs to no section; text output offers nothing. With `is_chat`, a chat template writes the tools,
    and they are counted with the whole.

    Tools that are items are a section. Its pieces come before all messages, each on its own, and none of them is emitted.
    """

    format: Format
    sections: tuple[Section, ...]
    separator: str
    messages: Mapping[str, int]
    roles: tuple[str, ...]
    shared: frozenset[str]
    each: frozenset[str]
    meter: Meter
    costs: Overhead
    tools: tuple[Tool, ...]
    response: Response | None
    is_chat: bool = False

    @property
    def fixed(self) -> int:
        """The units of the whole that belong to no section: tools, the response schema, and what a provider adds to every prompt."""
        if self.format == "text":
            return 0
        return (self.costs.prompt + self.offered) * self.meter.counter.unit

    def count_offered(self, measure: Callable[[str], int], tools: Sequence[Tool]) -> int:
        """Return the tokens of these tools and the response schema.

        They are the tokens of each one's canonical JSON, whose units `measure` counts, and the overhead.
        """
        if self.is_chat:
            return 0
        tokens = self.count_tools_overhead(tools) + self.response_overhead
        for tool in tools:
            tokens += self.meter.tokens(measure(tool.counted))
        return tokens + (self.meter.tokens(measure(render_canonical_json(self.response.schema))) if self.response is not None else 0)

    @property
    def offered(self) -> int:
        """The tokens of the total, by the meter, that tools and a response schema outside any section take."""
        return self.count_offered(self.meter.count, self.tools)

    @property
    def offer(self) -> str:
        """The name of what the output offers besides messages, for findings; empty if it offers nothing."""
        parts = [*(["tools"] if self.tools else []), *(["response"] if self.response is not None else [])]
        return " and ".join(parts)

    def count_tools_overhead(self, tools: Sequence[Tool]) -> int:
        """Return the tokens that a provider adds for these tools; a tool of which nothing is shown adds none."""
        return self.costs.tools + self.costs.tool * sum(tool.shown != "nothing" for tool in tools) if tools else 0

    @property
    def response_overhead(self) -> int:
        """The tokens that a provider adds to the response schema, or 0 if there is none."""
        return self.costs.response if self.response is not None else 0

    def order(self) -> list[int]:
        """Return the sections' indexes in the order of the output."""
        places = range(len(self.sections))
        if self.format == "text":
            return list(places)
        return sorted(places, key=lambda place: (self.messages[self.sections[place].id], place))

    def suffix(self, piece: Piece, follower: Piece | None) -> str:
        """Return the text that follows a piece's body; `follower` is the next piece, or None."""
        if follower is None or follower.message != piece.message:
            return "\n" if self.format == "text" else ""
        if follower.part != piece.part:
            return "\n" + self.separator
        separator = self.sections[piece.part].separator
        if separator is not None and piece.kind == follower.kind == "item":
            return separator
        return "\n"

    def describe_own(self, section: Section) -> tuple[Hashable, ...]:
        """Return what decides the counts of a section's own pieces, besides the section and the pieces themselves."""
        is_each = section.id in self.each
        role = "" if is_each or self.format == "text" else self.roles[self.messages[section.id]]
        return self.format, self.separator, self.costs, role, is_each, section.id in self.shared

    def overhead(self, piece: Piece) -> int:
        """Return the units that a piece adds by opening a message: the message's own, its role's name, and its media beyond their lines."""
        if self.format == "text":
            return 0
        if self.sections[piece.part].is_tools:
            return self._count_beside(piece)
        item = getattr(piece.owner, "item", None)
        role = self.choose_role(self.sections[piece.part], getattr(item, "role", ""))
        return self.count_message(role, getattr(item, "speaker", "")) + piece.beyond

    def _count_beside(self, piece: Piece) -> int:
        """Return the units that a tool takes besides its own, which are rounded up to tokens.

        The first tool includes what a provider adds to any tools.
        """
        is_first = piece.previous is None or piece.previous.part != piece.part
        unit, own = self.meter.counter.unit, self.costs.tool if piece.body else 0
        return (own + (self.costs.tools if is_first else 0)) * unit + -piece.units % unit

    def count_message(self, role: str, speaker: str = "") -> int:
        """Return the units that a message of this role, by a speaker of this name, takes besides its content."""
        named = self.meter.counter.role_tokens(role) if self.costs.counts_role else 0
        units = (self.costs.message + named) * self.meter.counter.unit
        if not speaker or self.costs.name is None:
            return units
        return units + self.costs.name * self.meter.counter.unit + self.meter.count(speaker)

    def choose_role(self, section: Section, item_role: str) -> str:
        """Return the role of the message that a piece of a section belongs to; `item_role` is that of its item, or empty."""
        if section.id in self.each:
            return item_role or section.role
        return self.roles[self.messages[section.id]]

    def endings(self, section: Section) -> tuple[str, ...]:
        """Return the possible ends of the section's last piece: without the separator and, if another section may follow, with it."""
        if self.format == "text":
            return ("\n", "\n" + self.separator)
        return ("", "\n" + self.separator) if section.id in self.shared else ("",)


def load_layout(plan: Plan, bound: Bound) -> Layout:
    """Return the layout of a plan in the format of a render: its sections are placed in messages."""
    output: Output = plan.output
    as_messages = bound.format == "messages"
    is_chat = bound.provider is not None and bound.provider.name == CHAT
    tools = frozenset(section.id for section in plan.sections if section.is_tools)
    messages = dict.fromkeys(tools, -1)
    for index, message in enumerate(output.messages):
        messages.update(dict.fromkeys(message.sections, index))
    return Layout(
        format=bound.format,
        sections=plan.sections,
        separator=output.separator,
        messages=messages,
        roles=tuple(message.role for message in output.messages),
        shared=_list_shared(plan),
        each=tools.union(*(message.sections for message in output.messages if message.each)),
        meter=bound.meter,
        costs=_read_overhead(bound.provider, any(one.items.tool.defers for one in plan.sections if one.items and one.items.tool)),
        tools=plan.tools if as_messages else (),
        response=_fit_response(plan, bound) if as_messages and not is_chat else None,
        is_chat=is_chat,
    )


def _fit_response(plan: Plan, bound: Bound) -> Response | None:
    """Return the response as the provider accepts it: the schema that is counted must be the one that is sent."""
    return plan.response.fit(bound.provider.name if bound.provider is not None else None) if plan.response is not None else None


def _read_overhead(provider: Provider | None, defers: bool) -> Overhead:
    if provider is None:
        return Overhead()
    search = provider.search.tokens if provider.search is not None and defers else 0
    return Overhead(
        message=provider.message_tokens,
        name=provider.name_tokens,
        prompt=provider.prompt_tokens,
        counts_role=provider.counts_role,
        tool=provider.tool_tokens,
        tools=provider.tools_tokens + search,
        response=provider.response_tokens,
    )


def _list_shared(plan: Plan) -> frozenset[str]:
    shared: Sequence[tuple[str, ...]] = [message.sections for message in plan.output.messages if len(message.sections) > 1]
    return frozenset(name for names in shared for name in names)
