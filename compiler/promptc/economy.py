"""The savings that a provider's cache brings over the turns of a session.

`read_request` returns the request of a prompt in the order a provider reads it: tools, then the system text, then the messages.
`account_turns` compares the requests of a session in turn, and returns what the provider had cached. `find_break` returns what ended the
common prefix of two requests: the section, the item, the key of the state, the step. `iter_carried` yields what a turn hands on to the
next, and `check_carried` finds pointers that nothing reads.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from promptc.diag.findings import Diagnostic, show_value, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.explain.items import trace_items
from promptc.explain.output import PartTracer
from promptc.model.media import MEDIA_KINDS
from promptc.model.messages import CHAT, Caching
from promptc.model.pack import Choice, PackModel
from promptc.model.section import TOOLS, Section
from promptc.model.stages import Selected
from promptc.model.state import Node
from promptc.passes.fit.result import Part
from promptc.passes.payload.bodies import ContentBlock, read_messages
from promptc.pipeline import Outcome, Prompt
from promptc.template.compile import Expression
from promptc.text.characters import compile_later
from promptc.text.counters.counter import Meter
from promptc.text.diff import count_shared
from promptc.text.json import join_pointer, read_at, render_canonical_json, split_pointer

_NUMBER = compile_later(r"/[0-9]+(?=/|\Z)")
"""The place of an element, in a JSON pointer."""

Kind = Literal["changed", "came", "went", "moved", "shortened"]

ANY = Caching(by="prefix")
"""The rules if no provider is named: any prefix is cached, and nothing has a price."""

_RESPONSE = "response"


@frozen(eq=False)
class RequestRun:
    """A run of a request. Two runs are equal if their `key` and `text` are.

    `lead` are the units before the text (overhead of the prompt, of a tool, of a message), `units` those of the text itself. `parts` are
    the parts of the prompt that the run consists of, in order. A tool that belongs to no section and the schema of the answer have no
    parts; `name` identifies them. `ends` is the section whose cache breakpoint follows the run, or empty. Without `is_counted`, the text is
    not what is counted, such as the base64 of a picture: such a run is shared as a whole or not at all.
    """

    key: tuple[str, ...]
    text: str
    lead: int
    units: int
    parts: tuple[Part, ...] = ()
    name: str = ""
    ends: str = ""
    is_counted: bool = True

    def is_like(self, other: RequestRun) -> bool:
        """Return whether the other run is equal, whatever follows it."""
        return self.key == other.key and self.text == other.text


@frozen(eq=False)
class ReadRequest:
    """A compiled request in the order its provider reads it, the render it was compiled from, and the rules of the provider's cache.

    `least` is the fewest tokens that the provider caches. `model` is the model that the request names, or None.
    """

    runs: tuple[RequestRun, ...]
    meter: Meter
    outcome: Outcome
    caching: Caching
    least: int
    model: str | None = None

    @property
    def tokens(self) -> int:
        """The tokens of the whole request."""
        return self.count(len(self.runs))

    def count(self, runs: int) -> int:
        """Return the tokens of the first `runs` runs."""
        return self.meter.tokens(sum(one.lead + one.units for one in self.runs[:runs]))


@frozen
class Common:
    """The common prefix of two requests: whole `runs`, then `characters` of the next run, and `tokens` in all. Only whole tokens count."""

    runs: int
    characters: int
    tokens: int


@frozen
class Turn:
    """One turn, in tokens: the whole, the prefix it shares with the turn before (`same`), and what is read from and written to the cache.

    `cost` is in hundredths of an uncached token, or None if no price is known.
    """

    tokens: int
    same: int
    read: int
    written: int
    cost: int | None

    @property
    def share(self) -> int:
        """The prefix that the turn shares with the turn before, in per cent, rounded down. An empty turn shares 0."""
        return measure_share(self.same, self.tokens)


def measure_share(part: int, whole: int) -> int:
    """Return `part` in per cent of `whole`, rounded down. 0 if `whole` is 0."""
    return 100 * part // max(1, whole)


def read_request(outcome: Outcome) -> ReadRequest:
    """Return the request of a render that fits, for the provider and the model it was rendered for.

    The request of a text is the text itself. Messages without a provider, or for a chat template, are used unchanged. Raises what
    `Prompt.build_payload` raises.
    """
    emitted, layout = outcome.emitted, outcome.fitted.layout
    assert emitted is not None
    meter = layout.meter
    if layout.format == "text":
        whole = RequestRun(("text",), emitted.text, 0, meter.count(emitted.text), emitted.parts)
        return ReadRequest((whole,), meter, outcome, ANY, 0)
    provider, made = outcome.fitted.strained.selection.bound.provider, _RunMaker(outcome)
    system: Sequence[ContentBlock] = ()
    if provider is None or provider.name == CHAT:
        caching, least, model, messages = ANY, 0, None, read_messages(layout, emitted)
    else:
        asked = Prompt(outcome).build_payload(provider.name).request
        caching, model, system, messages = provider.choose_caching(asked.model), asked.model, asked.system, asked.messages
        least = provider.breakpoints.choose_minimum(model) if caching.by == "marks" else caching.least
    blocks = [("system", system), *((one.role, one.blocks) for one in messages)]
    runs = [*_iter_offered(outcome), *(run for role, own in blocks for run in made.iter_message(role, own))]
    if runs:  # the provider's overhead of any prompt comes first
        runs[0] = replace(runs[0], lead=runs[0].lead + layout.costs.prompt * meter.counter.unit)
    return ReadRequest(tuple(runs), meter, outcome, caching, least, model)


def iter_carried(outcome: Outcome, pointers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield, for each pointer, what a turn hands on to the next turn, as JSON.

    If `strain.previous` reads the pointer, it is the tier. If the `freeze` of a list reads it, these are the ids of the items that the list
    shows, in order; a list that is off yields nothing.
    """
    selection = outcome.fitted.strained.selection
    for pointer in pointers:
        if pointer in _list_previous(selection.bound.pack):
            yield pointer, json.dumps(outcome.facts["strain"])
        for one in selection.sections:
            if one.state != "off" and pointer in _list_shown(one.section):
                fit = outcome.fitted.sections.get(one.section.id)
                yield pointer, json.dumps([entry.item.id for entry in (fit.alive if fit is not None else ())])


def check_carried(carry: Sequence[str], pack: PackModel, outcomes: Iterable[Outcome], *, word: str) -> Iterator[Diagnostic]:
    """Yield a finding (PC0759) for each pointer that no turn reads, nor the unchanged `pack`. `word` is what the user wrote before it."""
    plans = [(bound.pack, bound.choice) for bound in (one.fitted.strained.selection.bound for one in outcomes)]
    known = {pointer for model, choice in (*plans, (pack, Choice())) for pointer in _list_carried(model, choice)}
    for one in carry:
        if one not in known:
            help = suggest(one, known) or f"leave `{word}` out, or name the pointer in one of the two"
            why = "neither `strain.previous` nor the `freeze` of a list has this pointer"
            yield Diagnostic("PC0759", f"nothing reads {show_value(one)}: {why}", help=help)


def _list_carried(pack: PackModel, choice: Choice) -> list[str]:
    """Return the pointers in a state from which a plan of the pack reads what the turn before hands on."""
    return [*_list_previous(pack), *(pointer for section in pack.load_plan(choice).sections for pointer in _list_shown(section))]


def _list_previous(pack: PackModel) -> list[str]:
    return _list_pointers(pack.strain.previous if pack.strain is not None else None)


def _list_shown(section: Section) -> list[str]:
    freeze = section.items.freeze if section.items is not None else None
    return _list_pointers(freeze.shown if freeze is not None else None)


def _list_pointers(code: Expression | None) -> list[str]:
    """Return the pointers of what an expression reads from the state, sorted."""
    reads = code.reads if code is not None else ()
    return sorted(join_pointer(path[1:]) for path in reads if path[0] == "state")


def _iter_offered(outcome: Outcome) -> Iterator[RequestRun]:
    """Yield the tools and the schema of the answer. The overhead of all tools counts with the first, that of each tool with the tool."""
    layout, meter = outcome.fitted.layout, outcome.fitted.layout.meter
    unit, tools = meter.counter.unit, outcome.fitted.tools
    own = {part.item.item.id: part for part in outcome.fitted.parts if part.section == TOOLS and part.item is not None}
    for at, tool in enumerate(tools):
        lead = layout.count_tools_overhead(tools[: at + 1]) - layout.count_tools_overhead(tools[:at])
        parts = (own[tool.name],) if tool.name in own else ()
        yield RequestRun((TOOLS,), tool.counted, lead * unit, meter.tokens(meter.count(tool.counted)) * unit, parts, f"{TOOLS}/{tool.name}")
    if layout.response is not None:
        text = render_canonical_json(layout.response.schema)
        yield RequestRun((_RESPONSE,), text, layout.response_overhead * unit, meter.tokens(meter.count(text)) * unit, (), _RESPONSE)


class _RunMaker:
    """Makes the runs of messages, in order. A message is counted as a whole: a block counts what it adds to the blocks before it."""

    def __init__(self, outcome: Outcome) -> None:
        assert outcome.emitted is not None
        self._layout = outcome.fitted.layout
        self._messages = outcome.emitted.messages
        self._message = -1
        self._lines: list[str] = []
        self._counted = 0

    def iter_message(self, role: str, blocks: Sequence[ContentBlock]) -> Iterator[RequestRun]:
        """Yield the runs of one message of the request, which may come from several messages of the prompt."""
        for at, block in enumerate(blocks):
            lead = self._open(block.parts[0].message) if block.parts else 0
            text = block.text if block.part is None else render_canonical_json(dict(block.part))
            key, units = (role, block.kind, "" if at else "opens"), self._count(block)
            yield RequestRun(key, text, lead, units, block.parts, "", block.ends, is_counted=not block.media)

    def _open(self, message: int) -> int:
        """Return the overhead, in units, of a message that begins here, or 0 within a message."""
        if message == self._message:
            return 0
        self._message, self._lines, self._counted = message, [], 0
        head = self._messages[message]
        return self._layout.count_message(str(head["role"]), head.get("name", ""))

    def _count(self, block: ContentBlock) -> int:
        media = sum(one.tokens for one in block.media) * self._layout.meter.counter.unit
        if block.kind in MEDIA_KINDS:
            return media
        is_text = isinstance(self._messages[self._message]["content"], str)
        self._lines.append(block.counted)
        before, self._counted = self._counted, self._layout.meter.count(("" if is_text else "\n").join(self._lines))
        return media + self._counted - before


def compare_requests(before: ReadRequest, after: ReadRequest, ends: dict[int, Sequence[int]] | None = None) -> Common:
    """Return the length of the common prefix, in whole tokens of the later request.

    `ends` remembers the token ends of its runs, for one request that is compared with many.
    """
    runs = 0
    for one, other in zip(before.runs, after.runs, strict=False):
        if not one.is_like(other):
            break
        runs += 1
    tokens = after.count(runs)
    if runs == len(after.runs) or runs == len(before.runs):
        return Common(runs, 0, tokens)
    one, other = before.runs[runs], after.runs[runs]
    if one.key != other.key or not other.is_counted:
        return Common(runs, 0, tokens)
    same = count_shared(one.text, other.text)
    if same == len(other.text):
        units = after.meter.count(other.text)
    else:
        units = after.meter.count(other.text[: _choose_end(after, runs, same, {} if ends is None else ends)]) if other.parts else 0
    passed = sum(run.lead + run.units for run in after.runs[:runs])
    return Common(runs, same, after.meter.tokens(passed + other.lead + units) if units else tokens)


def _choose_end(request: ReadRequest, run: int, most: int, ends: dict[int, Sequence[int]]) -> int:
    """Return the last token end of a run that is at most at the character `most`, or 0."""
    if run not in ends:
        ends[run] = request.meter.counter.token_ends(request.runs[run].text)
    at = bisect_right(ends[run], most)
    return ends[run][at - 1] if at else 0


# --- the provider's cache ---


def account_turns(requests: Sequence[ReadRequest], gap: int = 1) -> list[Turn]:
    """Return what each turn reads and writes, with `gap` minutes between turns. The cache is empty before the first.

    Any earlier request may help, not only the last, as long as the beginning that it wrote or read is alive. To read a beginning is to use
    the shorter ones in it, too. A provider with breakpoints caches the prefixes that end at a breakpoint. Such a prefix is read if it ends
    at the end of a block of the new request, within `lookback` blocks of a breakpoint.
    """
    turns: list[Turn] = []
    kept: list[set[int]] = []  # by request: the runs in each beginning up to a breakpoint that it wrote or read
    for at, request in enumerate(requests):
        ends: dict[int, Sequence[int]] = {}
        common = {at - 1: compare_requests(requests[at - 1], request, ends)} if at else {}
        limit = request.caching.minutes
        alive = [old for old in range(at) if not limit or (at - old) * gap <= limit]
        common |= {old: compare_requests(requests[old], request, ends) for old in alive if old not in common}
        if request.caching.by == "prefix":
            read = _count_read(request, max((common[old].tokens for old in alive), default=0))
        else:
            shared = {end for old in alive for end in kept[old] if end <= common[old].runs}
            found = _choose_read(request, shared)
            read = request.count(found)
            kept.append({*_list_marks(request), *(end for end in shared if end <= found)})
        written = _count_written(request, read)
        turns.append(Turn(request.tokens, common[at - 1].tokens if at else 0, read, written, _count_cost(request, read, written)))
    return turns


def _count_read(request: ReadRequest, common: int) -> int:
    """Return how many of the tokens that a request has in common with a live one a provider without breakpoints reads."""
    tokens = common // request.caching.step * request.caching.step
    return tokens if tokens >= request.least else 0


def _choose_read(request: ReadRequest, shared: Collection[int]) -> int:
    """Return the runs in the longest live beginning that a provider with breakpoints reads, or 0."""
    marks, lookback = _list_marks(request), request.caching.lookback
    for end in sorted(shared, reverse=True):
        is_near = request.caching.has_own_mark or any(end <= mark and (not lookback or mark - end < lookback) for mark in marks)
        if is_near and request.count(end) >= request.least:
            return end
    return 0


def _list_marks(request: ReadRequest) -> list[int]:
    """Return the number of runs before each breakpoint, in rising order."""
    marks = [at + 1 for at, run in enumerate(request.runs) if run.ends]
    own = [len(request.runs)] if request.caching.has_own_mark else []
    return sorted({*marks, *own})


def _count_written(request: ReadRequest, read: int) -> int:
    end = _list_marks(request)[-1] if request.caching.by == "marks" and _list_marks(request) else 0
    tokens = request.tokens if request.caching.by == "prefix" else request.count(end)
    return max(0, tokens - read) if tokens >= request.least else 0


def _count_cost(request: ReadRequest, read: int, written: int) -> int | None:
    caching = request.caching
    if caching.read is None or caching.write is None:
        return None
    return 100 * (request.tokens - read - written) + caching.read * read + caching.write * written


def measure_cost(turns: Sequence[Turn]) -> int | None:
    """Return the cost of the turns in per cent of their cost without a cache, rounded up, or None if no price is known."""
    costs = [one.cost for one in turns if one.cost is not None]
    return -(-sum(costs) // max(1, sum(one.tokens for one in turns))) if len(costs) == len(turns) else None


# --- what broke it ---


@frozen
class Break:
    """What ended the common prefix of two turns.

    `section` and `item` are empty if the text belongs to none. `what` says what happened to it; `why` names the step, stage or state key
    that did it, `at` the place where that is declared. `tier` names a change of the tier: `normal → high`.
    """

    section: str
    item: str
    what: Kind
    why: str
    at: str = ""
    tier: str = ""

    @property
    def cause(self) -> tuple[str, str, str, str]:
        """The key under which the breaks of a session are counted. It has no item and no number of one: these differ from turn to turn."""
        return self.section, self.what, _NUMBER.sub("/*", self.why) if self.item else self.why, self.tier

    def describe(self) -> str:
        """Return a short description: what happened to which section or item, and why."""
        name = f"{self.section}/{self.item}" if self.item else self.section
        return ", ".join([f"{name} {self.what}", *([self.why] if self.why else []), *([f"tier {self.tier}"] if self.tier else [])])


def find_break(before: ReadRequest, after: ReadRequest) -> Break | None:
    """Return why `after` does not begin with the whole of `before`, or None if it does."""
    common = compare_requests(before, after)
    if common.runs == len(before.runs):
        return None
    old, new = (_pass_separator(request, _find_part(request, common)) for request in (before, after))
    if old is not None and new is not None and _is_same(old, new) and old.text.rstrip("\n") == new.text.rstrip("\n"):
        old, new = _find_next(before, old), _find_next(after, new)  # they differ only in the line end after them
    tier = _describe_tier(before.outcome, after.outcome)
    if old is None and new is None:
        return _describe_nameless(before, after, common, tier)
    named = new if old is None or (new is not None and not _stands(before, new)) else old
    assert named is not None
    section, item = named.section, _name_listed(after.outcome, named)
    if old is not None and new is not None and _is_same(old, new):
        return _describe_change(before, after, old, new, common, tier)
    if named is new:
        return Break(section, item, "came", _explain_coming(before.outcome, section, item), tier=tier)
    why, at = _explain_going(after.outcome, section, item)
    return Break(section, item, "moved" if _stands(after, named) else "went", why, at, tier)


def _find_part(request: ReadRequest, common: Common) -> Part | None:
    """Return the part of the prompt in which the common prefix ends, or None."""
    if common.runs >= len(request.runs):
        return None
    run = request.runs[common.runs]
    left = common.characters
    for part in run.parts:
        if left < len(part.text) or run.key[0] == TOOLS:
            return part
        left -= len(part.text)
    return run.parts[-1] if run.parts else None


def _find_next(request: ReadRequest, part: Part) -> Part | None:
    """Return the next part that is not a separator, or None after the last."""
    parts = _iter_parts(request)
    return _pass_separator(request, next((next(parts, None) for one in parts if one is part), None))


def _pass_separator(request: ReadRequest, part: Part | None) -> Part | None:
    """Return the part, or the next one if it is a separator, which only depends on its neighbours."""
    return _find_next(request, part) if part is not None and part.owner == "separator" else part


def _describe_nameless(before: ReadRequest, after: ReadRequest, common: Common, tier: str) -> Break:
    """Describe a break at a tool that belongs to no section, or at the schema of the answer."""
    runs = [request.runs[common.runs] for request in (before, after) if common.runs < len(request.runs)]
    names = [run.name for run in runs]
    if len(names) == 2 and names[0] == names[1]:
        return Break(names[0], "", "changed", "", tier=tier)
    known = {run.name for run in before.runs}
    came = len(names) == 2 and names[1] not in known
    return Break(names[-1] if came else names[0], "", "came" if came else "went", "", tier=tier)


def _name_item(part: Part) -> str:
    return part.item.item.id if part.item is not None else ""


def _name_listed(outcome: Outcome, part: Part) -> str:
    """Return the id of an item of a list, or an empty string for the text of a section."""
    selected = outcome.fitted.strained.selection.find_selected(part.section)
    return _name_item(part) if selected is None or selected.section.items is not None else ""


def _is_same(old: Part, new: Part) -> bool:
    return (old.section, old.owner, _name_item(old)) == (new.section, new.owner, _name_item(new))


def _stands(request: ReadRequest, wanted: Part) -> bool:
    """Return whether a request contains a part with the same section, owner and item."""
    return any(_is_same(part, wanted) for part in _iter_parts(request))


def _iter_parts(request: ReadRequest) -> Iterator[Part]:
    for run in request.runs:
        yield from run.parts


def _describe_tier(before: Outcome, after: Outcome) -> str:
    old, new = before.fitted.strained.tier, after.fitted.strained.tier
    plan = after.fitted.strained.selection.bound.pack.strain
    if plan is None or old == new:
        return ""
    return f"{plan.tiers[old].name} → {plan.tiers[new].name}"


def _describe_change(before: ReadRequest, after: ReadRequest, old: Part, new: Part, common: Common, tier: str) -> Break:
    """Describe an item, a header or the text of a section that changed: by a cut, in another form, or for another value in the state."""
    section, item = new.section, _name_listed(after.outcome, new)
    if new.item is not None and old.item is not None and new.item.form != old.item.form:
        return Break(section, item, "shortened", f"form {old.item.form + 1} → {new.item.form + 1}", tier=tier)
    key, why, at = _read_key(before, after, new, common), "", ""
    if not key and item:
        why, at = _explain_going(after.outcome, section, item)
    if not key and not why:
        key = _read_key(after, before, old, common)  # the text only lost something, which only the turn before has
    if key:
        return Break(section, item, "changed", f"state key {key}", tier=tier)
    own = "its text" if new.owner == "item" else f"its {new.owner}"
    return Break(section, item, "changed", why or ("" if item else own), at, tier)


def _read_key(before: ReadRequest, after: ReadRequest, part: Part, common: Common) -> str:
    """Return the first changed key of the state that the text of `after` at the break was made from, or an empty string."""
    emitted = after.outcome.emitted
    assert emitted is not None
    at = next((place for place, one in enumerate(emitted.parts) if one is part), None)
    if at is None:
        return ""
    run = after.runs[common.runs]
    first = next((place for place, one in enumerate(run.parts) if one is part), None)
    is_text = first is not None and sum(len(one.text) for one in run.parts) == len(run.text)  # or else it is the JSON of a part
    left = common.characters - sum(len(one.text) for one in run.parts[:first]) if is_text else -1
    old, new = (one.outcome.fitted.strained.selection.bound.state.value for one in (before, after))
    pieces = PartTracer(after.outcome.fitted, emitted.parts).trace(at)
    for piece in pieces:
        left -= len(piece.text)
        for pointer in piece.made.pointers if left < 0 and piece.made is not None else ():
            way = split_pointer(pointer)
            if read_at(old, way) != read_at(new, way):
                return pointer
    return ""


def _explain_coming(before: Outcome, section: str, item: str) -> str:
    """Return why an item or a section was not in the prompt before, or an empty string."""
    why, _ = _explain_going(before, section, item)
    if not why or why == _GONE:
        return ""
    return f"{why.replace('it is', 'it was')} before" if why.startswith("it is") else f"left out before {why}"


_GONE = "the state no longer has it"


def _explain_going(outcome: Outcome, section: str, item: str) -> tuple[str, str]:
    """Return what cut a section or an item or kept it out of a prompt, and where that is declared.

    If no step did it, the render is traced.
    """
    for _, ladder in outcome.fitted.iter_runs():
        for cut in reversed(ladder.applied):
            if cut.section == section and (not item or any(name == item for name, _, _ in cut.changes)):
                return f"by {cut.step.label}", str(cut.step.span)
    selected = outcome.fitted.strained.selection.find_selected(section)
    if selected is None:
        return "", ""
    if not item:
        return "" if selected.state == "present" else f"it is {selected.state}", str(selected.section.span)
    return _explain_selection(outcome, selected, item)


def _explain_selection(outcome: Outcome, selected: Selected, item: str) -> tuple[str, str]:
    if selected.state == "off":
        return "it is off", str(selected.section.span)
    if selected.section.items is None or any(one.id == item for one in selected.items):
        return "", ""
    trace = trace_items(outcome.fitted.strained.selection, selected)
    places = trace.list_places(item)
    stage = next((one for one in trace.stages if places and places[0] in one.left_out), None)
    if stage is None:
        return (_GONE, "") if not places else ("", "")
    return f"by {stage.name}", stage.at


# --- flaps ---


@frozen
class Flap:
    """A tier or an item that came back after it had gone. `turn` is the turn of its return, from 0."""

    turn: int
    what: str


def list_flaps(requests: Sequence[ReadRequest]) -> list[Flap]:
    """Return what came back within the session, in order: a return to the tier before the last change, or the return of a list's item."""
    flaps: list[Flap] = []
    left: dict[tuple[str, str], bool] = {}
    before_last, last = "", ""
    for at, request in enumerate(requests):
        tier = _read_tier(request.outcome)
        if at and tier != last:
            if tier == before_last:
                flaps.append(Flap(at, f"tier {tier}"))
            before_last = last
        last = tier
        held = dict.fromkeys((part.section, _name_item(part)) for part in _iter_parts(request) if _is_listed(request.outcome, part))
        flaps += [Flap(at, f"{section}/{item}") for section, item in held if left.get((section, item))]
        left = {**dict.fromkeys(left, True), **dict.fromkeys(held, False)}
    return flaps


def _is_listed(outcome: Outcome, part: Part) -> bool:
    return part.item is not None and not part.item.is_made and outcome.fitted.sections[part.section].section.items is not None


def _read_tier(outcome: Outcome) -> str:
    strain: Mapping[str, Any] = outcome.fitted.strained.selection.strain
    return str(strain.get("tier", ""))


# --- edits that may help ---


@frozen
class Trial:
    """An edit to try.

    `edit` describes it by the keys of a pack, `at` is the place for these keys. `patch` is YAML as under `patches`, to be merged over the
    manifest. Edits with the same `target` replace each other.
    """

    target: str
    edit: str
    at: str
    patch: str


_STEPS = (2, 4, 6, 8, 12, 16)


def list_trials(requests: Sequence[ReadRequest]) -> list[Trial]:
    """Return edits that may mend what breaks the prefixes of a session, in the order of the sections.

    The edits are steps for windows and cuts that moved, another place for a section that changed before others, a breakpoint if the
    provider supports breakpoints, and a lower threshold to leave a tier.
    """
    causes = [one for pair in pairwise(requests) if (one := find_break(*pair)) is not None]
    manifest: Node = requests[-1].outcome.fitted.strained.selection.bound.pack.manifest
    broken = {one.section for one in causes}
    found = [
        *_iter_windows(manifest, broken),
        *_iter_cuts(manifest, broken),
        *_iter_moves(requests[-1], causes),
        *_iter_marks(manifest, requests[-1]),
        *(_iter_leaves(manifest) if any(one.what.startswith("tier ") for one in list_flaps(requests)) else ()),
    ]
    return [Trial(*one) for one in found]


_Found = tuple[str, str, str, str]
"""Target, edit, place and patch."""


def _iter_sections(manifest: Node, wanted: Collection[str]) -> Iterator[tuple[str, Node]]:
    return ((name, node) for name, node in manifest.value["sections"].items() if name in wanted)


def _iter_windows(manifest: Node, broken: Collection[str]) -> Iterator[_Found]:
    for name, section in _iter_sections(manifest, broken):
        items = section.get("items")
        window = items.get("window") if items is not None else None
        if window is None or window.get("step") is not None:
            continue
        last, least = window.get("last"), window.number("min", 0)
        most = last.value if last is not None and isinstance(last.value, int) else 2 * _STEPS[-1]
        for step in _STEPS:
            if step <= most - least and step < most:
                patch = {"sections": {name: {"items": {"window": {"step": step}}}}}
                target = f"`window` of `{name}`"
                yield target, f"`step: {step}` in {target}", str(window.span), render_canonical_json(patch)


def _iter_cuts(manifest: Node, broken: Collection[str]) -> Iterator[_Found]:
    """Yield a step for each `evict` without one, in the ladders of sections and in `truncate`."""
    for name, section in _iter_sections(manifest, broken):
        for ladder, patch, at in _iter_stepped(section.get("overflow"), {name}):
            target = f"`overflow` of `{name}`"
            yield target, f"{ladder} in {target}", at, render_canonical_json({"sections": {name: {"overflow": patch}}})
    for ladder, patch, at in _iter_stepped(manifest.get("truncate"), broken):
        yield "`truncate`", f"{ladder} in `truncate`", at, render_canonical_json({"truncate": patch})


def _iter_stepped(ladder: Node | None, broken: Collection[str]) -> Iterator[tuple[str, list[Any], str]]:
    steps = ladder.value if ladder is not None and isinstance(ladder.value, tuple) else ()
    for place, node in enumerate(steps):
        evict = node.get("evict")
        if evict is None or evict.get("step") is not None:
            continue
        named = {str(one.value) for one in (*evict.list("section"), *evict.list("sections"))}
        if named and not named & set(broken):
            continue
        for step in _STEPS:
            whole = [one.plain() for one in steps]
            whole[place] = {"evict": {**whole[place]["evict"], "step": step}}
            yield f"`step: {step}` in `evict`", whole, str(evict.span)


def _iter_moves(request: ReadRequest, causes: Sequence[Break]) -> Iterator[_Found]:
    """Yield a move to the end for each section whose own text changed."""
    layout = request.outcome.fitted.layout
    order = [section for section in layout.sections if not section.is_tools]
    changed = {
        one.section for one in causes if (one.what in ("changed", "came", "went") and not one.item) or one.why.startswith("state key")
    }
    for section in order[:-1]:
        if section.id in changed and section.items is None:
            last = order[-1].id
            patch = render_canonical_json({"sections": {section.id: {"after": last}}})
            yield f"place of `{section.id}`", f"move `{section.id}` after `{last}`", str(section.span), patch


def _iter_marks(manifest: Node, request: ReadRequest) -> Iterator[_Found]:
    """Yield `cache: true` for each section without it, if the provider supports breakpoints."""
    if request.caching.by != "marks":
        return
    shown = dict.fromkeys(part.section for part in _iter_parts(request))
    for name, section in _iter_sections(manifest, shown):
        if not section.flag("cache"):
            edit = f"`cache: true` on `{name}`"
            yield edit, edit, str(section.span), render_canonical_json({"sections": {name: {"cache": True}}})


def _iter_leaves(manifest: Node) -> Iterator[_Found]:
    """Yield the tiers with each `leave` 5, 10 or 20 points below its `at`. A tier that begins at 0 is left at 0."""
    strain = manifest.get("strain")
    tiers = strain.value["tiers"] if strain is not None else None
    if tiers is None:
        return
    for points in (5, 10, 20):
        whole = [one.plain() for one in tiers.value]
        for tier in whole:
            at = tier["at"]
            tier["leave"] = max(0, round(at - points / 100, 4)) if at else at
        if any(tier["at"] for tier in whole):
            yield (
                "`tiers`",
                f"`leave` {points} points below `at` in `tiers`",
                str(tiers.span),
                render_canonical_json({"strain": {"tiers": whole}}),
            )
