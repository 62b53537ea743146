"""How well a section finds the pages that answer known queries, as rendered: each query becomes a state, and the pack renders it.

What the section holds in the end counts, by the render's own floor, `top`, conditions, boosts and budgets. Only the floor or the lead may
be another, to choose one. Of a query whose answer is lost it is told where.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, join_names, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.state import set_values
from promptc.model.pack import Choice, PackModel
from promptc.model.section import Retrieve, Section
from promptc.model.sources import Chunk
from promptc.model.state import State
from promptc.sources.retrieval.local import IndexAtHand, LoadedIndex
from promptc.sources.retrieval.retrieve import NO_LEAD, SHARE, Answer, ChunkQuery, KnownAnswer, Retrieved, Retriever
from promptc.template.compile import Expression
from promptc.text.json import join_pointer

Lost = Literal["not found", "idle", "refused", "under the floor", "beyond top", "over the cap"]
"""Where an answer was lost: no query proposed it; the first was idle; `where`, `version` or `visible` refused it; its score; better ones;
a budget."""

Setting = Literal["floor", "lead"]
"""What of an index may be another than the pack says, to choose it."""

_QUERY = ("query", "input")
"""The names by which the column of queries finds its place in the state."""

_DEEP = 1000
_WHOLE = "each query goes into an empty state; name one that has this key: add `--state FILE`, or `state: FILE` under `recall` of a case"


@frozen
class RenderedQuery:
    """What a render made of a known query: whether its answer is in the prompt or where it was lost, the answer's best score in millionths
    before boosts (0: not found), how many chunks the section holds, whether one of them is of the file of an answer, and the idle line by
    which the index was not asked.
    """

    known: KnownAnswer
    lost: Lost | None
    score: int
    held: int
    has_page: bool = False
    idle: str | None = None

    @property
    def is_right(self) -> bool:
        """The answer is in the prompt; for a query without one, nothing is."""
        return self.lost is None if self.known.answers else not self.held


@frozen
class RenderedVerdict:
    """All queries at one floor or lead (None: as the pack says)."""

    value: int | None
    judged: tuple[RenderedQuery, ...]

    @property
    def recall(self) -> int:
        """The share, in thousandths, of the queries with an answer whose answer is in the prompt."""
        return _share([one.is_right for one in self.judged if one.known.answers])

    @property
    def pages(self) -> int:
        """The share of those of whose answer's page any part is in the prompt."""
        return _share([one.has_page for one in self.judged if one.known.answers])

    @property
    def rejected(self) -> int:
        """The share of the queries without an answer for which nothing is."""
        return _share([one.is_right for one in self.judged if not one.known.answers])


def _share(right: Sequence[bool]) -> int:
    return SHARE * sum(right) // max(len(right), 1)


def choose_verdicts(verdicts: Sequence[RenderedVerdict], least: int) -> tuple[RenderedVerdict, Sequence[RenderedVerdict]]:
    """The one to use of `verdicts`, which are in the order of their values; and its neighbours that do as well, with itself.

    Those do best that find most of all that reject at least the share `least` of what has no answer, else of all that reject most; of
    them, those that reject most. Of the longest run of such neighbours it is the middle one, which is farthest from values that do worse;
    but 0, which changes nothing, where that is among them.
    """
    least = min(least, max(one.rejected for one in verdicts))
    best = max((one.recall, one.rejected) for one in verdicts if one.rejected >= least)
    runs = [[*run] for is_best, run in groupby(verdicts, key=lambda one: (one.recall, one.rejected) == best) if is_best]
    longest = max(runs, key=len)
    return longest[0] if longest[0].value == 0 else longest[(len(longest) - 1) // 2], longest


class RenderedRecall:
    """The section of a pack that asks an index, and the places of the state where the columns of a file of queries go."""

    def __init__(
        self,
        pack: Pack,
        index: str,
        section: str = "",
        version: str | None = None,
        columns: Mapping[str, str] | None = None,
        retriever: Retriever | None = None,
        state: JsonDocument | None = None,
    ) -> None:
        """Without `section` it is the first of the manifest that asks the index. `columns` gives pointers by the names of columns; another
        column goes where the section's request reads a key of its name. `state` is what every query is put into; without, `{}`. Raises
        `UsageError` (PC0732) for a section that does not ask it.
        """
        self._pack = pack
        self._index = index
        self._version = version
        self._columns = dict(columns or {})
        self._is_empty = state is None
        self._state = state or load_json(b"{}", "state")
        self._right: dict[tuple[Answer, ...], set[str]] = {}
        self._retriever = retriever or Retriever()
        self.section = _choose_section(pack.model, index, section)
        assert self.section.items is not None and isinstance(self.section.items.source, Retrieve)
        self._source = self.section.items.source

    @property
    def has_own_floor(self) -> bool:
        """Whether the section says its floor itself, so that the index's does not count."""
        return self._source.floor is not None

    def judge(
        self, known: Sequence[KnownAnswer], opened: Sequence[LoadedIndex], value: int | None = None, setting: Setting = "floor"
    ) -> RenderedVerdict:
        """Renders every query, with `value` as the floor or the lead where it is given. Raises `UsageError` (PC0732) where a column has no
        place, `PromptcError` for what a render refuses.
        """
        places = self._place_columns(known)
        if not self._right:
            chunks = [chunk for index in opened for chunk in index.store.read_chunks(range(index.store.count))]
            self._right = {one.answers: _list_right(one, chunks) for one in known}
        settings: dict[str, Any] = {setting: value} if value is not None else {}
        is_own = setting == "floor" and self.has_own_floor
        return RenderedVerdict(value, tuple(self._judge(one, places, settings, is_own=is_own) for one in known))

    def _judge(self, known: KnownAnswer, places: Mapping[str, str], settings: Mapping[str, Any], *, is_own: bool) -> RenderedQuery:
        asked = _Listener(self._index, settings, self._retriever, is_own=is_own)
        given = {"query": known.query, **known.columns}
        changes = [(pointer, json.dumps(given[name])) for name, pointer in places.items()]
        if self._version is not None:
            changes.append((self._locate_version(), json.dumps(self._version)))
        outcome = self._pack.compile(self._load_state(changes), listen=asked.listen)
        fit = outcome.fitted.sections.get(self.section.id) if outcome.emitted is not None else None
        held = {entry.item.value["id"]: entry.item.value["file"] for entry in fit.alive} if fit is not None else dict[str, str]()
        right = self._right[known.answers]
        is_lost = known.answers and not right  # an answer that no chunk of the index is
        selected = next((one for one in outcome.fitted.strained.selection.sections if one.section.id == self.section.id), None)
        account = selected.gathered.account if selected is not None and selected.gathered is not None else {}
        lost, score = asked.find_loss(right, {*held}, account) if not is_lost else ("not found", 0)
        has_page = any(answer.is_of(file) for answer in known.answers for file in held.values())
        idle = next((one["line"] for one in account.get("idle", ()) if one["index"] == self._index), None)
        return RenderedQuery(known, lost, score, len(held), has_page, idle)

    def _load_state(self, changes: Sequence[tuple[str, str]]) -> State:
        try:
            return self._pack.load_document(set_values(self._state, changes))
        except PromptcError as error:
            if not self._is_empty:
                raise
            raise PromptcError(replace(one, help=_WHOLE) if one.code == "PC0303" else one for one in error.diagnostics) from None

    def _place_columns(self, known: Sequence[KnownAnswer]) -> dict[str, str]:
        read = [join_pointer(path[1:]) for path in sorted(set(_iter_paths(self._source, self._pack.model)))]
        asked = [join_pointer(path[1:]) for path in sorted(set(_iter_reads(self._source.queries, self._pack.model)))]
        names = dict.fromkeys(name for one in known for name in one.columns)
        unknown = [name for name in self._columns if name != "query" and name not in names]
        if unknown:
            raise _refuse(f"the queries have no column `{unknown[0]}`", suggest(unknown[0], [*names]) or "name a column of the first line")
        places = {name: pointer for name in names for pointer in [self._columns.get(name) or _find_named(name, read)] if pointer}
        left = [pointer for pointer in asked if pointer not in places.values()]
        query = self._columns.get("query") or next(filter(None, (_find_named(name, left) for name in _QUERY)), None)
        if query is None and len(left) != 1:
            wrong = f"`{self.section.id}` asks by {join_names(left) or 'nothing of the state'}: which of it a query stands for is not said"
            place = left[0] if left else "/input"
            raise _refuse(wrong, f"write `--column query={place}`, or `columns: {{query: {place}}}` in a case")
        return {**places, "query": query or left[0]}

    def _locate_version(self) -> str:
        version = self._source.version
        paths = sorted(set(_iter_reads([version] if version is not None else [], self._pack.model)))
        if len(paths) != 1:
            raise _refuse(f"`{self.section.id}` does not read its version from one place of the state", "leave `version` out")
        return join_pointer(paths[0][1:])


def _list_right(known: KnownAnswer, chunks: Sequence[Chunk]) -> set[str]:
    return {chunk.id for chunk in chunks if any(answer.is_in(chunk) for answer in known.answers)}


class _Listener:
    """Stands between a render and its sources: changes the floor or the lead, and holds what was asked of the index and answered. Of all
    that nothing is kept in the cache.

    The settings are those of the index: another index that is asked beside it keeps its own. If `is_own`, they are those of the requests
    to the index that say their floor themselves.
    """

    def __init__(self, index: str, settings: Mapping[str, Any], retriever: Retriever, *, is_own: bool) -> None:
        self._index = index
        self._settings = settings
        self._is_own = is_own
        self._retriever = retriever
        self._asked: list[tuple[Sequence[LoadedIndex], ChunkQuery, Retrieved]] = []
        self._inner: Any = None

    def listen(self, sources: Any) -> Any:
        self._inner = sources
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def ask(self, indexes: Sequence[IndexAtHand], request: ChunkQuery) -> Retrieved:
        if not any(index.name == self._index for index in indexes):
            return self._inner.ask(indexes, request)  # type: ignore[no-any-return]
        loaded = [index.load() for index in indexes]
        if self._settings and not self._is_own:
            loaded = [self._change(index) if index.name == self._index else index for index in loaded]
        elif request.floor is not None:
            request = replace(request, **self._settings)
        found = self._retriever.ask(loaded, request)
        self._asked.append((loaded, request, found))
        return found

    def _change(self, index: LoadedIndex) -> LoadedIndex:
        """With a fingerprint of its own, since the retriever remembers answers by it."""
        return replace(index, fingerprint=f"{index.fingerprint} {sorted(self._settings.items())}", **self._settings)

    def find_loss(self, right: set[str], held: set[str], account: Mapping[str, Any]) -> tuple[Lost | None, int]:
        """Where the answer was lost (None: it stands in the prompt), and its best score before boosts. Asks once more for what was not
        found, without floor and bounds. `account` is what the report says of the section's source: others may ask the index, too.
        """
        told = [one["id"] for one in account.get("chunks", ())]
        own = [one for one in self._asked if [*one[2].queries] == account.get("queries") and [at.chunk.id for at in one[2].found] == told]
        if not own:
            return ("not found", 0) if right else (None, 0)
        indexes, request, found = own[-1]
        ask = partial(self._retriever.ask, indexes)
        free = replace(request, floor=0, top=_DEEP, candidates=_DEEP, lead=NO_LEAD)
        deep = ask(free).found
        best = max((one.score.fused for one in deep if one.chunk.id in right), default=0)
        if right & held or not right:
            return None, best
        if right & {one.chunk.id for one in found.found}:
            return "over the cap", best
        if best and any(one["index"] == self._index for one in account.get("idle", ())):
            return "idle", best
        if best:
            floors = [index.floor if request.floor is None else request.floor for index in indexes]
            return ("under the floor" if best < min(floors) else "beyond top"), best
        all_of_it = ask(replace(free, version=None, where=None, shows=None)).found
        return ("refused" if any(one.chunk.id in right for one in all_of_it) else "not found"), 0


def _choose_section(pack: PackModel, index: str, wanted: str) -> Section:
    found = list_asking(pack, index)
    named = [one for one in found if one.id == wanted] if wanted else found
    if not named:
        told = f"the section `{wanted}` does not ask the index `{index}`" if wanted else f"no section asks the index `{index}`"
        raise _refuse(told, suggest(wanted, [one.id for one in found]) or "name a section that retrieves from it")
    return named[0]


def list_asking(pack: PackModel, index: str) -> tuple[Section, ...]:
    """The sections of the pack that ask the index, in the manifest's order, with neither a variant's case nor a patch."""
    sections = ((one, one.items.source) for one in pack.load_plan(Choice()).sections if one.items is not None)
    return tuple(one for one, source in sections if isinstance(source, Retrieve) and index in source.indexes)


def _iter_paths(source: Retrieve, pack: PackModel) -> Iterator[tuple[str, ...]]:
    conditions = [source.version, source.where, *(boost.where for boost in source.boosts)]
    return _iter_reads([*source.queries, *(one for one in conditions if one is not None)], pack)


def _iter_reads(expressions: Sequence[Expression], pack: PackModel) -> Iterator[tuple[str, ...]]:
    """The paths of the state that they read, those of `let` by what it reads itself."""
    lets = {let.name: let.expression for let in pack.lets}
    for expression in expressions:
        for path in expression.reads:
            if path[0] == "state" and len(path) > 1:
                yield path
            elif path[0] in lets:
                yield from _iter_reads([lets[path[0]]], pack)


def _find_named(name: str, pointers: Sequence[str]) -> str | None:
    return next((pointer for pointer in pointers if pointer.rpartition("/")[2] == name), None)


def _refuse(message: str, help: str) -> UsageError:
    return UsageError([Diagnostic("PC0732", message, help=help)])
