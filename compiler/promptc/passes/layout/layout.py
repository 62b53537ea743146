"""What stands around items: where a piece ends, which message it belongs to, what messages and tools cost (contract.md §8, §10)."""

from collections.abc import Callable, Mapping, Sequence

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
    """What a provider adds, in tokens: to each message (and the name of its role), to the name of who speaks one (None: it has no place),
    to the whole, to each tool, to any tools, to a response schema. The defaults are those of contract.md §8, for messages that are no
    provider's. Where a step may defer tools, any tools take what the tool that searches does, even if none is deferred in the end:
    otherwise the first one that is could cost more than it saves.
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
    """The layout of one plan in one format. `messages` gives every section the index of its message, `roles` a message's role.

    `tools` and `response` are what the output offers beside messages and belongs to no section: nothing in text output. With `is_chat` a
    chat template writes the tools, and what they take is counted with the whole. Tools that are items are a section. Its pieces stand in
    front of all messages, each by itself, and none is in the output.
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
        """Units of the whole that belong to no section: tools, the response schema, and what a provider adds to every prompt."""
        if self.format == "text":
            return 0
        return (self.costs.prompt + self.offered) * self.meter.counter.unit

    def count_offered(self, measure: Callable[[str], int], tools: Sequence[Tool]) -> int:
        """Tokens of these tools and the response schema: those of the canonical JSON of each, by `measure` (its units), and overhead."""
        if self.is_chat:
            return 0
        tokens = self.count_tools_overhead(tools) + self.response_overhead
        for tool in tools:
            tokens += self.meter.tokens(measure(tool.counted))
        return tokens + (self.meter.tokens(measure(render_canonical_json(self.response.schema))) if self.response is not None else 0)

    @property
    def offered(self) -> int:
        """What tools and response schema that belong to no section take of the total, in tokens by the meter."""
        return self.count_offered(self.meter.count, self.tools)

    @property
    def offer(self) -> str:
        """What the output offers, as a finding calls it; nothing where it offers nothing."""
        parts = [*(["tools"] if self.tools else []), *(["response"] if self.response is not None else [])]
        return " and ".join(parts)

    def count_tools_overhead(self, tools: Sequence[Tool]) -> int:
        """Tokens a provider adds to these tools: nothing to one of which nothing is shown."""
        return self.costs.tools + self.costs.tool * sum(tool.shown != "nothing" for tool in tools) if tools else 0

    @property
    def response_overhead(self) -> int:
        """Tokens a provider adds to the response schema, if there is one."""
        return self.costs.response if self.response is not None else 0

    def order(self) -> list[int]:
        """The sections' indexes in the order of the output."""
        places = range(len(self.sections))
        if self.format == "text":
            return list(places)
        return sorted(places, key=lambda place: (self.messages[self.sections[place].id], place))

    def suffix(self, piece: Piece, follower: Piece | None) -> str:
        """What follows a piece's body, given the piece behind it."""
        if follower is None or follower.message != piece.message:
            return "\n" if self.format == "text" else ""
        if follower.part != piece.part:
            return "\n" + self.separator
        separator = self.sections[piece.part].separator
        if separator is not None and piece.kind == follower.kind == "item":
            return separator
        return "\n"

    def overhead(self, piece: Piece) -> int:
        """Units of the message that a piece opens, and those of its role's name, and of its media beyond the lines that stand for them."""
        if self.format == "text":
            return 0
        if self.sections[piece.part].is_tools:
            return self._count_beside(piece)
        item = getattr(piece.owner, "item", None)
        role = self.choose_role(self.sections[piece.part], getattr(item, "role", ""))
        return self.count_message(role, getattr(item, "speaker", "")) + piece.beyond

    def _count_beside(self, piece: Piece) -> int:
        """Units that a tool takes beside its own: they are rounded up to tokens. The first has what a provider adds to any tools."""
        is_first = piece.previous is None or piece.previous.part != piece.part
        unit, own = self.meter.counter.unit, self.costs.tool if piece.body else 0
        return (own + (self.costs.tools if is_first else 0)) * unit + -piece.units % unit

    def count_message(self, role: str, speaker: str = "") -> int:
        """Units that a message of this role, spoken by one of that name, takes beside its content."""
        named = self.meter.counter.role_tokens(role) if self.costs.counts_role else 0
        units = (self.costs.message + named) * self.meter.counter.unit
        if not speaker or self.costs.name is None:
            return units
        return units + self.costs.name * self.meter.counter.unit + self.meter.count(speaker)

    def choose_role(self, section: Section, item_role: str) -> str:
        """The role of the message that a piece of a section belongs to; `item_role` is the one of its item, empty where it has none."""
        if section.id in self.each:
            return item_role or section.role
        return self.roles[self.messages[section.id]]

    def endings(self, section: Section) -> tuple[str, ...]:
        """How the section's last piece may end where it stands: with the single line end, or with the separator behind it."""
        if self.format == "text":
            return ("\n", "\n" + self.separator)
        return ("", "\n" + self.separator) if section.id in self.shared else ("",)


def load_layout(plan: Plan, bound: Bound) -> Layout:
    """Lay out a plan in the format of a render: place its sections in messages."""
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
    """As the provider takes it: what is counted is what is sent."""
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
