"""Packs in the compile cache: what a render needs of a checked pack, valid as long as no byte of the pack's files changes.

A `KeptPack` is a pack that may come from the cache, together with its cached counts. `find_kept` reads an entry and `keep_pack` writes one.
`load_counting` loads the counter of a pack, whether the pack comes from the cache or from its files.

The key of an entry is the manifest's path as it was given (findings name files by it), the working folder and the user's table of models.
An entry contains a digest of every file and the plans requested so far; for any other plan the pack is loaded from its files again.
Counters are not cached, because which one counts depends on what is installed.
"""

from __future__ import annotations

import os
import stat
from _blake2 import blake2b
from _pickle import dumps, loads
from collections.abc import Callable, Mapping, Sequence

from promptc.cache import Cache, KeptCounts, KeptWords
from promptc.diag.findings import Collecting, Diagnostic, PromptcError
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
"""The most bytes of a file that a pack can consist of."""

_MOST_CHOICES = 64
"""The most choices whose plans, with those of their tiers, are loaded for an entry."""

_LEFT_OUT = ("counting", "load_plan", "read_manifest", "find_schema_place", "list_operations", "load_offers", "list_named", "load_models")
"""Fields of a pack that are not kept: functions, which cannot be pickled, and the counter, which depends on what is installed."""

_FIELDS = tuple(name for name in PackModel.__match_args__ if name not in _LEFT_OUT)
Used = TypeVar("Used")
Seen = tuple[list[tuple[str, str, bytes]], tuple[str, ...]]
"""Folder, path and digest of every file, and the paths that must not be links."""

_COUNTER_MISSING = "PC0181"
"""The only code for which the fallback is used: a counter's file or package is missing, or its digest is wrong."""


@frozen
class Input:
    """The content of a file that was read. `path` is relative to `folder`, or is the path of a manifest if `folder` is empty."""

    folder: str
    path: str
    content: bytes


@frozen
class Inputs:
    """Everything that a pack was made of. `unlinked` are paths on the way to manifests that must not be symbolic links."""

    files: tuple[Input, ...]
    unlinked: tuple[str, ...]


@frozen(eq=False)
class LoadedPack:
    """A pack, the validator of its states (None if the pack declares no schema), its input files and the plans loaded so far."""

    pack: PackModel
    schema: StateSchema | None
    inputs: Inputs
    plans: Mapping[Choice, Plan]


class KeptPack:
    """The pack at a path and the meter of its tokens: from the cache if none of its files has changed, or else from its files."""

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
        """Find the pack in the cache, or load it.

        `load` loads the pack from its files; `load_models` loads the models that the budget of a cached pack may name. Without
        `keeps_counts` the cached counts of texts are neither read nor written. `table` is a digest of the user's table of models, whose
        rules for media are compiled into the pack. A pack that `is_edited` differs from its files, so it is neither looked up in the cache
        nor stored there. `meter` belongs to another pack; its counts are reused if both packs have the same counter.
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
        """Return the result of `act`. If it needs more than was cached, load the pack from its files and call `act` again."""
        try:
            return act(self.loaded)
        except NotKeptError:
            return act(self.load_whole())

    def load_whole(self) -> LoadedPack:
        """Return the pack as loaded from its files; load it unless that was done. Raises what `ReadPack` raises."""
        if self._is_kept:
            self._known = tuple(self.loaded.plans)
            self.loaded = self._load()
            self._is_kept = False
        return self.loaded

    def keep(self) -> None:
        """Store what was compiled and counted, if there is a cache and anything is new."""
        if self._cache is not None and not self._is_kept and not self._is_edited:
            keep_pack(self._cache, self._path, self.loaded, self._known, self._table)
            self._is_kept = True
        if self._counts is not None:
            self._counts.keep()
        if self._words is not None:
            self._words.keep()


class KeptFindings:
    """The cached findings of `check` for the pack at a path, valid as long as everything that the check read from the disk is unchanged."""

    def __init__(self, cache: Cache, path: str, asked: str) -> None:
        """Prepare the lookup. `asked` identifies all that the findings depend on besides the disk: the options and what is installed."""
        self._cache = cache
        self._name = f"findings {_working_folder()}\0{path}\0{asked}"

    def find(self) -> tuple[Diagnostic, ...] | None:
        """Return the findings, or None if none are cached or the disk has changed."""
        content = self._cache.load(self._name)
        if content is None:
            return None
        found: tuple[Diagnostic, ...]
        looks, found = loads(content)
        return found if all(map(is_still, looks)) else None

    def keep(self, check: Callable[[], Sequence[Diagnostic]]) -> tuple[Diagnostic, ...]:
        """Run a check that queries neither stores nor indexes, and return its findings. They are stored if they can be validated later."""
        found, looks = note_looks(lambda: tuple(check()))
        if all(map(is_still, looks)):
            self._cache.keep(self._name, dumps((looks, found), 5))
        return found


class NotKeptError(Exception):
    """The request needs the pack's files, not only what was cached."""


def find_kept(cache: Cache, path: str, load_models: Callable[[], ModelTable] = ModelTable, table: str = "") -> LoadedPack | None:
    """Return the pack at `path` from the cache, or None if it was not stored or one of its files has changed.

    `load_models` loads the models for its budget. Raises `PromptcError` for a counter that cannot be loaded now, as `ReadPack` does.
    """
    found = cache.load_plain(_name_entry(path, table))
    if found is None:
        return None
    seen, packed = found
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
    """Return the files if none has changed, or None."""
    files, unlinked = seen
    read: list[Input] = []
    try:
        if any(stat.S_ISLNK(os.lstat(path).st_mode) for path in unlinked):
            return None
        for folder, path, digest in files:
            content = read_inside(folder, path, _LONGEST_BYTES) if folder else read_file(path, _LONGEST_BYTES)
            if _digest(content) != digest:
                return None
            read.append(Input(folder, path, content))
    except (OSError, ValueError):
        return None
    return Inputs(tuple(read), unlinked)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _unpack(packed: bytes, inputs: Inputs, load_models: Callable[[], ModelTable]) -> LoadedPack:
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
    """Store a pack that was loaded from its files.

    Stored with it are the plans loaded so far, the plans that were `known` before, and the plans of all strain tiers, because the next
    state may be in any tier.
    """
    for choice in list(dict.fromkeys((*loaded.plans, *known)))[:_MOST_CHOICES]:
        _load_tiers(loaded.pack, choice)
    files = [(one.folder, one.path, _digest(one.content)) for one in loaded.inputs.files]
    cache.keep_plain(_name_entry(path, table), ((files, loaded.inputs.unlinked), _pack(loaded)))


def _load_tiers(pack: PackModel, choice: Choice) -> None:
    tiers = pack.strain.tiers if pack.strain is not None else ()
    choices = [choose_tiers(choice, tiers[:count]) for count in range(1, len(tiers) + 1)]
    for one in (choice, *choices):
        try:
            pack.load_plan(one)
        except PromptcError:
            continue  # whoever needs the plan gets the error


def _pack(loaded: LoadedPack) -> bytes:
    pack = loaded.pack
    values = [getattr(pack, name) for name in _FIELDS]
    return dumps((values, pack.manifest.value["tokenizer"], loaded.schema, dict(loaded.plans)), 5)


def load_counting(node: Node, findings: list[Diagnostic]) -> Counting | None:
    """Return the counter in force, or None if neither it nor its fallback can be loaded; the errors are then added to `findings`."""
    use, ranks = node.get("use") or node, node.get("ranks")
    wanted = str(use.value)
    if ranks is not None and not any(str(one.value).startswith(ENCODING) for one in (use, node.get("fallback")) if one is not None):
        message = f"`ranks` needs an encoding of tiktoken, and `{wanted}` is not one"
        findings.append(Diagnostic("PC0189", message, ranks.span, "leave `ranks` out, or write `use: tiktoken:o200k_base`"))
        return None
    try:
        return Counting(load_counter(wanted, folder=use.folder, span=use.span, ranks=_list_ranks(node)), node.span, wanted=wanted)
    except PromptcError as error:
        fallback = node.get("fallback")
        if fallback is None or any(one.code != _COUNTER_MISSING for one in error.diagnostics):
            with Collecting(findings):
                raise
            return None
        return _load_fallback(node, fallback, wanted, error.diagnostics[0].message, findings)


def _load_fallback(node: Node, fallback: Node, wanted: str, reason: str, findings: list[Diagnostic]) -> Counting | None:
    with Collecting(findings):
        counter = load_counter(str(fallback.value), folder=fallback.folder, span=fallback.span, ranks=_list_ranks(node))
        return Counting(counter, node.span, node.number("margin", 0), wanted, reason)
    return None


def _list_ranks(node: Node) -> Sequence[NamedFile]:
    """Return the files that `tokenizer: {ranks}` names."""
    ranks = node.get("ranks")
    named = () if ranks is None else ranks.value if isinstance(ranks.value, tuple) else (ranks,)
    return [NamedFile(str(one.value), one.folder, one.span) for one in named]
