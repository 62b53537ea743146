"""The recall of a section: how well it finds the pages that answer known queries, measured on renders.

Each query becomes a state, and the pack renders it. The final content of the section counts, under the render's own floor, `top`,
conditions, boosts and budgets. Only the floor or the lead may be replaced, to choose a value. For a query whose answer is lost, the result
says where.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from shlex import quote

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, join_names, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.state import set_values
from promptc.model.pack import Choice, PackModel, list_state_reads
from promptc.model.section import MICRO, Retrieve, Section
from promptc.model.state import State
from promptc.sources.retrieval.local import IndexAtHand, LoadedIndex
from promptc.sources.retrieval.retrieve import NO_LEAD, SHARE, Answer, ChunkQuery, KnownAnswer, Retrieved, Retriever
from promptc.template.compile import Expression
from promptc.text.json import join_pointer

Lost = Literal["not found", "idle", "refused", "under the floor", "beyond top", "over the cap"]
"""Where an answer was lost.

- `not found`: no query found it.
- `idle`: the index was not queried, since the first query was idle.
- `refused`: `where`, `version` or `visible` refused it.
- `under the floor`: its score was too low.
- `beyond top`: better ones came first.
- `over the cap`: a budget cut it.
"""

Setting = Literal["floor", "lead"]
"""The setting of an index that may be replaced, to choose a value."""

_QUERY = ("query", "input")
"""Names of state keys that the column of queries is matched with."""

_DEEP = 1000
_WHOLE = "each query goes into an empty state; name one that has this key: add `--state FILE`, or `state: FILE` under `recall` of a case"


@frozen
class RenderedQuery:
    """The result of a known query.

    `lost` says where its answer was lost, and is None if the answer is in the prompt. `score` is the best score of the answer in
    millionths, before boosts (0: not found). `held` is the number of chunks in the section. `has_page` says whether one of them is from the
    file of an answer. `idle` is the idle line that kept the index from being queried, or None.
    """

    known: KnownAnswer
    lost: Lost | None
    score: int
    held: int
    has_page: bool = False
    idle: str | None = None

    @property
    def is_right(self) -> bool:
        """True if the answer is in the prompt; for a query without an answer, if the section is empty."""
        return self.lost is None if self.known.answers else not self.held


@frozen
class RenderedVerdict:
    """All queries at one floor or lead (None: the pack's own)."""

    value: int | None
    judged: tuple[RenderedQuery, ...]

    @property
    def recall(self) -> int:
        """The share, in thousandths, of the queries with an answer whose answer is in the prompt."""
        return _share([one.is_right for one in self.judged if one.known.answers])

    def reaches(self, least: int) -> bool:
        """Return whether the recall is at least this share, in millionths. It is not rounded."""
        right = [one.is_right for one in self.judged if one.known.answers]
        return sum(right) * MICRO >= least * max(len(right), 1)

    @property
    def pages(self) -> int:
        """The share, in thousandths, of the queries with an answer for which any part of the answer's page is in the prompt."""
        return _share([one.has_page for one in self.judged if one.known.answers])

    @property
    def rejected(self) -> int:
        """The share, in thousandths, of the queries without an answer for which the section is empty."""
        return _share([one.is_right for one in self.judged if not one.known.answers])


def _share(right: Sequence[bool]) -> int:
    return SHARE * sum(right) // max(len(right), 1)


def choose_verdicts(verdicts: Sequence[RenderedVerdict], least: int) -> tuple[RenderedVerdict, Sequence[RenderedVerdict]]:
    """Return the verdict to use, and its run of equally good neighbours including itself. `verdicts` are in the order of their values.

    The best verdicts are those with the highest recall among those that reject at least the share `least` of the queries without an answer,
    or, if none does, among those that reject most. Ties go to those that reject most. The middle of the longest run of best neighbours is
    returned, which is farthest from worse values; but 0, which changes nothing, if the run begins with it.
    """
    least = min(least, max(one.rejected for one in verdicts))
    best = max((one.recall, one.rejected) for one in verdicts if one.rejected >= least)
    runs = [[*run] for is_best, run in groupby(verdicts, key=lambda one: (one.recall, one.rejected) == best) if is_best]
    longest = max(runs, key=len)
    return longest[0] if longest[0].value == 0 else longest[(len(longest) - 1) // 2], longest


class RenderedRecall:
    """The section of a pack that queries an index, and the places in the state for the columns of a file of queries."""

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
        """Find the section. Without `section` it is the first one of the manifest that queries the index.

        `columns` maps the names of columns to JSON pointers. Any other column goes to the key of the same name that the section's request
        reads. `state` is the state that every query is put into, by default `{}`. Raises `UsageError` (PC0732) for a section that does not
        query the index.
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
        """True if the section declares a floor itself, which overrides the index's."""
        return self._source.floor is not None

    def judge(
        self, known: Sequence[KnownAnswer], opened: Sequence[LoadedIndex], value: int | None = None, setting: Setting = "floor"
    ) -> RenderedVerdict:
        """Render every query, with `value` as the floor or the lead if it is given.

        Raises `UsageError` (PC0732) for a column without a place in the state, and `PromptcError` for a state that the pack refuses.
        """
        places = self._place_columns(known)
        if not self._right:
            chunks = [chunk for index in opened for chunk in index.store.read_chunks(range(index.store.count))]
            self._right = {
                one.answers: {chunk.id for chunk in chunks if any(answer.is_in(chunk) for answer in one.answers)} for one in known
            }
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
        is_lost = known.answers and not right  # no chunk of the index is the answer
        selected = next((one for one in outcome.fitted.strained.selection.sections if one.section.id == self.section.id), None)
        account = selected.gathered.account if selected is not None and selected.gathered is not None else {}
        lost, score = asked.find_loss(right, {*held}, account) if not is_lost else ("not found", 0)
        has_page = any(answer.is_of(file) for answer in known.answers for file in held.values())
        idle = next((one["line"] for one in account.get("idle", ()) if one["index"] == self._index), None)
        return RenderedQuery(known, lost, score, len(held), has_page, idle)

    def _load_state(self, changes: Sequence[tuple[str, str]]) -> State:
        try:
            return self._pack.load_document(set_values(self._state, changes, "column"))
        except PromptcError as error:
            if not self._is_empty:
                raise
            raise PromptcError(replace(one, help=_WHOLE) if one.code == "PC0303" else one for one in error.diagnostics) from None

    def _place_columns(self, known: Sequence[KnownAnswer]) -> dict[str, str]:
        source = self._source
        conditions = (source.version, source.where, *(boost.where for boost in source.boosts))
        read = self._list_read(*source.queries, *conditions)
        asked = self._list_read(*source.queries)
        names = dict.fromkeys(name for one in known for name in one.columns)
        unknown = [name for name in self._columns if name != "query" and name not in names]
        if unknown:
            raise _refuse(f"the queries have no column `{unknown[0]}`", suggest(unknown[0], [*names]) or "name a column of the first line")
        places = {name: pointer for name in names for pointer in [self._columns.get(name) or _find_named(name, read)] if pointer}
        left = [pointer for pointer in asked if pointer not in places.values()]
        query = self._columns.get("query") or next(filter(None, (_find_named(name, left) for name in _QUERY)), None)
        if query is None and len(left) != 1:
            wrong = (
                f"`{self.section.id}` asks by {join_names(left) or 'nothing of the state'}: it is not clear which of these a query replaces"
            )
            place = left[0] if left else "/input"
            raise _refuse(wrong, f"write `--column {quote(f'query={place}')}`, or `columns: {{query: {place}}}` in a case")
        return {**places, "query": query or left[0]}

    def _locate_version(self) -> str:
        read = self._list_read(self._source.version)
        if len(read) != 1:
            raise _refuse(f"`{self.section.id}` does not read its version from one place of the state", "leave `version` out")
        return read[0]

    def _list_read(self, *expressions: Expression | None) -> list[str]:
        """Return the pointers of what the expressions read from the state, directly or through `let`, sorted."""
        paths = list_state_reads((path for one in expressions if one is not None for path in one.reads), self._pack.model)
        return [join_pointer(path[1:]) for path in sorted(paths) if len(path) > 1]


class _Listener:
    """Stands between a render and its sources: replaces the floor or the lead, and records the requests to the index and their answers.

    Nothing of this is kept in the cache. The settings apply to the one index: other indexes in the same request keep their own. If
    `is_own`, they apply to requests to the index that set a floor themselves.
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
        """Return the index with the settings, and with a fingerprint of its own, since the retriever remembers answers by fingerprint."""
        return replace(index, fingerprint=f"{index.fingerprint} {sorted(self._settings.items())}", **self._settings)

    def find_loss(self, right: set[str], held: set[str], account: Mapping[str, Any]) -> tuple[Lost | None, int]:
        """Return where the answer was lost (None: it is in the prompt), and its best score before boosts.

        Queries once more, without floor and limits, for an answer that was not found. `account` is the report's account of the section's
        source; it identifies the section's requests, since other sections may query the index, too.
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
        told = f"the section `{wanted}` does not retrieve from the index `{index}`" if wanted else f"no section asks the index `{index}`"
        raise _refuse(told, suggest(wanted, [one.id for one in found]) or "name a section with this index under `retrieve`")
    return named[0]


def list_asking(pack: PackModel, index: str) -> tuple[Section, ...]:
    """Return the sections that query the index, in the order of the manifest, without any variant case or patch."""
    sections = pack.load_plan(Choice()).sections
    return tuple(one for one in sections if isinstance(one.source, Retrieve) and index in one.source.indexes)


def _find_named(name: str, pointers: Sequence[str]) -> str | None:
    return next((pointer for pointer in pointers if pointer.rpartition("/")[2] == name), None)


def _refuse(message: str, help: str) -> UsageError:
    return UsageError([Diagnostic("PC0732", message, help=help)])
