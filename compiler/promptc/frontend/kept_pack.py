"""Packs in the compile cache: what a render needs of a checked pack, found again as long as no byte of its files has changed.

A `KeptPack` is a pack that may come from there, with the counts that are kept beside it; `find_kept` and `keep_pack` are its two ways.
`load_counting` loads what counts the tokens of a pack, whether that comes from there or from its files.

An entry is found by the manifest's path as it was given (findings call files by it), the working folder and the user's table of models.
It holds a digest of every file. It knows the plans that were asked for so far; for another one the pack is loaded from its files again.
Counters are not kept: which one counts depends on what is installed.
"""

from __future__ import annotations

import marshal
import os
import stat
from _blake2 import blake2b
from collections.abc import Callable, Mapping, Sequence

from promptc.cache import Cache, KeptCounts, KeptWords
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, NoReturn, TypeVar
from promptc.files.reading import is_still, note_looks, read_file, read_inside
from promptc.frontend.state import StateSchema
from promptc.model.budget import ModelTable
from promptc.model.pack import MANIFEST, Choice, Counting, PackModel, Plan, choose_tiers
from promptc.model.state import Node
from promptc.text.counters.counter import ENCODING, Meter
from promptc.text.counters.exact import NamedFile, TableCounter, load_counter

_DIGEST_BYTES = 32
_LONGEST_BYTES = 16_000_000
"""A file that is longer is none that a pack is made of."""

_MOST_CHOICES = 64
"""Choices whose plans are kept, those of their tiers aside."""

_LEFT_OUT = ("counting", "load_plan", "read_manifest", "find_schema_place", "list_operations", "load_offers", "list_named", "load_models")
"""Parts of a pack that are not kept: functions, which cannot be written down, and the counter, which depends on what is installed."""

_FIELDS = tuple(name for name in PackModel.__match_args__ if name not in _LEFT_OUT)
Used = TypeVar("Used")
Seen = tuple[list[tuple[str, str, bytes]], tuple[str, ...]]
"""Folder, path and digest of every file, and the paths that must not be links."""

_COUNTER_MISSING = "PC0181"
"""The one finding a fallback stands in for: a counter's file or package is missing, or its digest is wrong."""


@frozen
class Input:
    """A file that was read: `path` inside `folder`, or a manifest's path (`folder` is empty); and its bytes."""

    folder: str
    path: str
    content: bytes


@frozen
class Inputs:
    """All that a pack was made of. `unlinked` are paths to manifests that would have been refused if they were links."""

    files: tuple[Input, ...]
    unlinked: tuple[str, ...]


@frozen(eq=False)
class LoadedPack:
    """A pack, the validator of its states (None when it declares no schema), what it was made of, and the plans found so far."""

    pack: PackModel
    schema: StateSchema | None
    inputs: Inputs
    plans: Mapping[Choice, Plan]


class KeptPack:
    """The pack at a path, from the cache as long as none of its files has changed, else from its files; and what counts its tokens."""

    def __init__(
        self,
        path: str,
        load: Callable[[], LoadedPack],
        cache: Cache | None = None,
        *,
        keeps_counts: bool = True,
        load_models: Callable[[], ModelTable] = ModelTable,
        table: str = "",
        is_edited: bool = False,
        meter: Meter | None = None,
    ) -> None:
        """`load` loads the pack from its files, `load_models` the models that the budget of a kept one may name. Without `keeps_counts` the
        cache's counts of texts are neither read nor written. `table` is a digest of the user's table of models, whose rules for media are
        compiled into the pack. One that `is_edited` is not what its files say: it is neither found in the cache nor kept there.
        `meter` is that of another pack, whose counts serve this one where the counter is the same.
        """
        self._path = path
        self._load = load
        self._cache = cache
        self._table = table
        kept = find_kept(cache, path, load_models, table) if cache is not None and not is_edited else None
        self._is_kept = kept is not None
        self._is_edited = is_edited
        self._known: tuple[Choice, ...] = ()
        self.loaded = kept or load()
        counter = self.loaded.pack.counting.counter
        self._counts = KeptCounts(cache, counter.digest) if cache is not None and keeps_counts else None
        self._words = KeptWords(cache, counter) if cache is not None and isinstance(counter, TableCounter) else None
        self.meter = meter if meter is not None and meter.counter.digest == counter.digest else Meter(counter, self._counts)

    def use(self, act: Callable[[LoadedPack], Used]) -> Used:
        """Does what may need more than was kept: then the pack is loaded from its files, and it is done once more."""
        try:
            return act(self.loaded)
        except NotKeptError:
            return act(self.load_whole())

    def load_whole(self) -> LoadedPack:
        """Loads the pack from its files, unless it was. Raises what `ReadPack` raises."""
        if self._is_kept:
            self._known = tuple(self.loaded.plans)
            self.loaded = self._load()
            self._is_kept = False
        return self.loaded

    def keep(self) -> None:
        """Keeps what was compiled and counted, where there is a cache and anything is new."""
        if self._cache is not None and not self._is_kept and not self._is_edited:
            keep_pack(self._cache, self._path, self.loaded, self._known, self._table)
            self._is_kept = True
        if self._counts is not None:
            self._counts.keep()
        if self._words is not None:
            self._words.keep()


class KeptFindings:
    """What `check` found of the pack at a path, from the cache as long as every look at the disk that it took sees the same."""

    def __init__(self, cache: Cache, path: str, asked: str) -> None:
        """`asked` tells all that the findings depend on beside the disk: how they were asked for, and what is installed."""
        self._cache = cache
        self._name = f"findings {_working_folder()}\0{path}\0{asked}"

    def find(self) -> tuple[Diagnostic, ...] | None:
        """What was found; None where nothing is known."""
        content = self._cache.load(self._name)
        if content is None:
            return None
        from _pickle import loads

        found: tuple[Diagnostic, ...]
        looks, found = loads(content)
        return found if all(map(is_still, looks)) else None

    def keep(self, check: Callable[[], Sequence[Diagnostic]]) -> tuple[Diagnostic, ...]:
        """What a check finds that asks neither stores nor indexes. It is kept for as long as it can be known to hold."""
        found, looks = note_looks(lambda: tuple(check()))
        if all(map(is_still, looks)):
            from _pickle import dumps

            self._cache.keep(self._name, dumps((looks, found), 5))
        return found


class NotKeptError(Exception):
    """The pack's files are needed for what was asked."""


def find_kept(cache: Cache, path: str, load_models: Callable[[], ModelTable] = ModelTable, table: str = "") -> LoadedPack | None:
    """The pack at `path`, if it was kept and every file it was made of is as it was; with the models that are given. Raises `PromptcError`
    for a counter that cannot be loaded now, as `ReadPack` does.
    """
    content = cache.load(_name_entry(path, table))
    if content is None:
        return None
    seen, packed = marshal.loads(content)
    inputs = _read_again(seen)
    return _unpack(packed, inputs, load_models) if inputs is not None else None


def _name_entry(path: str, table: str) -> str:
    file = os.path.join(path, MANIFEST) if os.path.isdir(path) else path
    return f"pack {_working_folder()}\0{file}" + (f"\0{table}" if table else "")


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _read_again(seen: Seen) -> Inputs | None:
    """The files, if each is what it was."""
    files, unlinked = seen
    read: list[Input] = []
    try:
        if any(stat.S_ISLNK(os.lstat(path).st_mode) for path in unlinked):
            return None
        for folder, path, digest in files:
            content = _read(folder, path)
            if _digest(content) != digest:
                return None
            read.append(Input(folder, path, content))
    except (OSError, ValueError):
        return None
    return Inputs(tuple(read), unlinked)


def _read(folder: str, path: str) -> bytes:
    return read_inside(folder, path, _LONGEST_BYTES) if folder else read_file(path, _LONGEST_BYTES)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _unpack(packed: bytes, inputs: Inputs, load_models: Callable[[], ModelTable]) -> LoadedPack:
    from _pickle import loads

    values: list[Any]
    tokenizer: Node
    schema: StateSchema | None
    plans: dict[Choice, Plan]
    values, tokenizer, schema, plans = loads(packed)
    findings: list[Diagnostic] = []
    counting = load_counting(tokenizer, findings)
    if counting is None:
        raise PromptcError(findings)

    def load_plan(choice: Choice) -> Plan:
        return plans[choice] if choice in plans else _refuse()

    named = dict(zip(_FIELDS, values, strict=True))
    pack = PackModel(
        **named, counting=counting, load_plan=load_plan, read_manifest=_refuse, list_operations=_refuse, load_models=load_models
    )
    return LoadedPack(pack, schema, inputs, plans)


def _refuse() -> NoReturn:
    raise NotKeptError


def keep_pack(cache: Cache, path: str, loaded: LoadedPack, known: Sequence[Choice] = (), table: str = "") -> None:
    """Keeps a pack that was loaded from its files, with the plans found so far, those that were `known` before, and those of all strain
    tiers: the next state may be under any.
    """
    for choice in list(dict.fromkeys((*loaded.plans, *known)))[:_MOST_CHOICES]:
        _load_tiers(loaded.pack, choice)
    files = [(one.folder, one.path, _digest(one.content)) for one in loaded.inputs.files]
    cache.keep(_name_entry(path, table), marshal.dumps(((files, loaded.inputs.unlinked), _pack(loaded))))


def _load_tiers(pack: PackModel, choice: Choice) -> None:
    tiers = pack.strain.tiers if pack.strain is not None else ()
    choices = [choose_tiers(choice, tiers[:count]) for count in range(1, len(tiers) + 1)]
    for one in (choice, *choices):
        try:
            pack.load_plan(one)
        except PromptcError:
            continue  # it is told to whoever comes to need it


def _pack(loaded: LoadedPack) -> bytes:
    from _pickle import dumps

    pack = loaded.pack
    values = [getattr(pack, name) for name in _FIELDS]
    return dumps((values, pack.manifest.value["tokenizer"], loaded.schema, dict(loaded.plans)), 5)


def load_counting(node: Node, findings: list[Diagnostic]) -> Counting | None:
    """The counter in force; None where neither it nor its fallback can be loaded, and why is added to `findings`."""
    use, ranks = node.get("use") or node, node.get("ranks")
    wanted = str(use.value)
    if ranks is not None and not any(str(one.value).startswith(ENCODING) for one in (use, node.get("fallback")) if one is not None):
        message = f"`ranks` are for an encoding of tiktoken, and `{wanted}` is none"
        findings.append(Diagnostic("PC0189", message, ranks.span, "leave `ranks` out, or write `use: tiktoken:o200k_base`"))
        return None
    try:
        return Counting(load_counter(wanted, folder=use.folder, span=use.span, ranks=_list_ranks(node)), node.span, wanted=wanted)
    except PromptcError as error:
        fallback = node.get("fallback")
        if fallback is None or any(one.code != _COUNTER_MISSING for one in error.diagnostics):
            findings.extend(error.diagnostics)
            return None
        return _load_fallback(node, fallback, wanted, error.diagnostics[0].message, findings)


def _load_fallback(node: Node, fallback: Node, wanted: str, reason: str, findings: list[Diagnostic]) -> Counting | None:
    try:
        counter = load_counter(str(fallback.value), folder=fallback.folder, span=fallback.span, ranks=_list_ranks(node))
    except PromptcError as error:
        findings.extend(error.diagnostics)
        return None
    return Counting(counter, node.span, node.number("margin", 0), wanted, reason)


def _list_ranks(node: Node) -> Sequence[NamedFile]:
    """The files that `tokenizer: {ranks}` names."""
    ranks = node.get("ranks")
    named = () if ranks is None else ranks.value if isinstance(ranks.value, tuple) else (ranks,)
    return [NamedFile(str(one.value), one.folder, one.span) for one in named]
