"""What the library offers: `load` gives a `Pack`, which loads states, renders them, checks itself and does operations."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike, fspath

from promptc.cache import Cache
from promptc.diag.findings import Diagnostic, FitError, UsageError, sort_diagnostics, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Self
from promptc.frontend.json import JsonDocument
from promptc.frontend.kept_pack import Inputs, KeptPack, LoadedPack
from promptc.frontend.state import load_document, load_state
from promptc.model.messages import FORMATS, Provider
from promptc.model.pack import Format, PackModel
from promptc.model.sources import CorpusIndex
from promptc.model.stages import RenderOptions
from promptc.model.state import State
from promptc.operations.results import Listed, OperationResult, Request
from promptc.passes.select import CostlyWork
from promptc.pipeline import Outcome, Prompt, compile_prompt
from promptc.text.counters.counter import Counter


def load(path: str | PathLike[str]) -> Pack:
    """Loads the pack at `path`, a file or a folder with `pack.yaml`. Raises `PromptcError` with every finding of the stage that fails."""
    return Pack.load(path)


class Pack:
    """A loaded pack. May be used from several threads; rendering changes nothing but a memory of counts."""

    def __init__(self, kept: KeptPack, cache: Cache | None = None) -> None:
        """`load` makes one of a path. What is read of stores and indexes is kept in the cache."""
        self._kept = kept
        self._cache = cache
        self._sources: Any = None

    @classmethod
    def load(cls, path: str | PathLike[str], cache: Cache | None = None, *, keeps_counts: bool = True) -> Self:
        """Loads the pack at `path`, a file or a folder with `pack.yaml`.

        With a cache it is taken from there as long as none of its files has changed, and its counts are looked up there; at the end of
        a `with` what is new is kept. Without `keeps_counts` counts of texts are left alone: for renders by the thousand, whose counts
        would push out those of others. A pack with a cache is for one thread at a time.
        """
        file = fspath(path)
        return cls(KeptPack(file, lambda: _load_files(file), cache, keeps_counts=keeps_counts), cache if keeps_counts else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Keeps what was compiled and counted in the cache, if there is one, and gives connections back. Never fails for want of either."""
        if self._sources is not None:
            self._sources.close()
        self._kept.keep()

    @property
    def model(self) -> PackModel:
        """The compiled pack, for tools that look into it."""
        return self._kept.load_whole().pack

    @property
    def name(self) -> str:
        """The pack's name."""
        return self._kept.loaded.pack.name

    @property
    def counter(self) -> Counter:
        """What counts its tokens here and now."""
        return self._kept.loaded.pack.counting.counter

    @property
    def inputs(self) -> Inputs:
        """Every file that the pack was made of, with its bytes as they were read."""
        return self._kept.loaded.inputs

    def asks_outside(self, given: Collection[str]) -> bool:
        """Whether it has stores that are not among `given`, or an index in an engine: then what it makes of a state may change though no
        file of it, and none of its indexes' (`digest_indexes`), does.
        """
        pack = self._kept.loaded.pack
        in_engine = any(isinstance(one, CorpusIndex) and one.engine is not None for one in pack.indexes)
        return in_engine or any(one.name not in given for one in pack.stores)

    def digest_indexes(self) -> bytes | None:
        """Digests what its indexes over files are now: their manifests, which hold their fingerprints, and the documents they must be up to
        date with. None where any of it cannot be read.
        """
        pack = self._kept.loaded.pack
        corpora = [one for one in pack.indexes if isinstance(one, CorpusIndex)]
        if not corpora:
            return b""
        from promptc.frontend.corpus import digest_outside

        return digest_outside(corpora)

    # --- states, renders, findings ---

    def load_state(
        self, given: bytes | Mapping[str, Any] | State, name: str = "state.json", *, changes: Sequence[tuple[str, str]] = ()
    ) -> State:
        """Loads a state from JSON bytes or a dict: parsed, validated, defaults filled, digested. This is linear in its size; rendering is
        not.

        `changes` are made before it is validated: JSON pointers and the JSON texts to put there. A loaded state is given back as it is.
        """
        return given if isinstance(given, State) else load_state(given, self._kept.loaded.schema, name, changes)

    def load_document(self, document: JsonDocument) -> State:
        """Loads a state from a JSON text that was read already, as `load_state` does."""
        return load_document(document, self._kept.loaded.schema)

    def render(
        self,
        state: State | bytes | Mapping[str, Any],
        *,
        budget: int | None = None,
        variants: Mapping[str, str] | None = None,
        patches: Sequence[str] = (),
        format: str | None = None,
        stores: Mapping[str, str] | None = None,
    ) -> Prompt:
        """Renders a state. `budget` in tokens, `variants`, `patches` and `format` take the place of the pack's own choice; `stores` are
        URLs in place of those its stores have. A provider's name as `format` gives messages, counted with its overheads.

        Raises `PromptcError` with `.diagnostics` for an invalid state, `FitError` with `.report` when the content does not fit, `DiskError`
        when a store or an index cannot be read.
        """
        outcome = self.compile(state, budget=budget, variants=variants, patches=patches, format=format, stores=stores)
        if outcome.emitted is None:
            raise FitError(outcome.errors, outcome.report)
        return Prompt(outcome)

    def compile(
        self,
        state: State | bytes | Mapping[str, Any],
        *,
        budget: int | None = None,
        variants: Mapping[str, str] | None = None,
        patches: Sequence[str] = (),
        format: str | None = None,
        without: Sequence[str] = (),
        stores: Mapping[str, str] | None = None,
        given: Mapping[str, Any] | None = None,
        memory: CostlyWork | None = None,
        listen: Callable[[Any], Any] | None = None,
    ) -> Outcome:
        """Renders as `render` does, but content that does not fit gives an outcome with errors instead of raising. `given` are the values
        of the names that the pack of a question sees besides the state. `memory` makes renders of states that share parts faster.
        `listen` is given the render's sources and gives those that are asked in their place.
        """
        shape, provider = choose_format(format)
        options = RenderOptions(budget, dict(variants or {}), tuple(patches), shape, tuple(without), given or {}, provider)
        return self._compile(self.load_state(state), options, dict(stores or {}), memory, listen)

    def _compile(
        self,
        state: State,
        options: RenderOptions,
        urls: Mapping[str, str],
        work: CostlyWork | None,
        listen: Callable[[Any], Any] | None = None,
    ) -> Outcome:
        outcome = self._kept.use(lambda loaded: self._compile_loaded(loaded.pack, state, options, urls, work, listen))
        outcome.refit = lambda provider: self._compile(state, replace(options, format="messages", provider=provider), urls, work)
        return outcome

    def _compile_loaded(
        self,
        pack: PackModel,
        state: State,
        options: RenderOptions,
        urls: Mapping[str, str],
        work: CostlyWork | None,
        listen: Callable[[Any], Any] | None,
    ) -> Outcome:
        """With what its sources hold now, if it has any: they are opened when first asked."""

        def run(gather: Callable[[Any], Any] | None = None) -> Outcome:
            return compile_prompt(pack, state, self._kept.meter, options, gather, work)

        if not (pack.stores or pack.indexes or urls):
            return run()
        from promptc.frontend.sources import MovedError, check_urls

        check_urls(pack.stores, urls)
        try:
            return self._run_asking(run, urls, listen, is_kept=True)
        except MovedError:
            return self._run_asking(run, urls, listen, is_kept=False)

    def _run_asking(
        self, run: Callable[[Callable[[Any], Any]], Outcome], urls: Mapping[str, str], listen: Callable[[Any], Any] | None, *, is_kept: bool
    ) -> Outcome:
        from contextlib import closing

        from promptc.passes.gather import Gatherer

        sources = self._open_sources()
        with closing(sources.choose(urls, is_kept=is_kept)) as chosen:
            outcome = run(lambda bound: Gatherer(bound, listen(chosen) if listen else chosen))
        outcome.kept = sources.describe_kept()
        return outcome

    def _open_sources(self) -> Any:
        from promptc.frontend.sources import OpenSources
        from promptc.sources.kept import KeptSources

        if self._sources is None:
            counter = self.counter.digest
            pack = self._kept.loaded.pack
            kept = KeptSources(self._cache, os.path.realpath(pack.file), pack.digest, counter) if self._cache is not None else None
            self._sources = OpenSources(counter, os.environ, kept)
        return self._sources

    def check(self, sources: Mapping[str, str] | None = None) -> tuple[Diagnostic, ...]:
        """Lists what is wrong or doubtful in the pack itself, sorted by place; never raises for it. Findings of rendering are not among
        them.

        With `sources`, URLs by the names of stores (none: as the pack says), stores and indexes are opened and looked at as well.
        """
        from promptc.check.registry import check_pack

        found = check_pack(self.model)
        return sort_diagnostics([*found, *self._check_sources(sources)]) if sources is not None else found

    def _check_sources(self, urls: Mapping[str, str]) -> list[Diagnostic]:
        from promptc.check.registry import check_medians
        from promptc.frontend.sources import probe_sources

        probed = probe_sources(self.model, self._open_sources(), urls)
        return [*probed.found, *check_medians(self.model, probed.medians)]

    # --- operations ---

    def list_operations(self, state: State | bytes | Mapping[str, Any] | None = None) -> tuple[Listed, ...]:
        """Lists the operations of the pack in the manifest's order, and with a state which are due. Raises `PromptcError` for an invalid
        one.
        """
        from promptc.operations.run import list_operations

        return list_operations(self, state)

    def ask(
        self,
        state: State | bytes | Mapping[str, Any],
        operation: str,
        args: Mapping[str, Any] | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> tuple[Request, ...]:
        """Asks: gives the questions of an operation that have no answer in `answers` yet, in the manifest's order, each as a prompt.

        `args` take the place of the operation's own. A question sees the answers that were given: where one reads an earlier answer, give
        that in and ask again. Raises `UsageError` for an unknown operation, argument or answer, `PromptcError` for an invalid state or
        pack of a question, `FitError` for a question that does not fit.
        """
        from promptc.operations.run import ask

        return ask(self, state, operation, args, answers)

    def apply(
        self,
        state: bytes | Mapping[str, Any],
        operation: str,
        args: Mapping[str, Any] | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> OperationResult:
        """Does an operation: gives the state after it, and what it took out. Nothing that is given is changed, and nothing is written.

        `state` is the JSON as it was read, or a dict; `answers` are a model's texts by the names of the asks. Where one is missing or fails
        its check, the ask's `else` stands for it, and `.fallbacks` and `.warnings` tell. Raises `UsageError` for an unknown operation,
        argument or answer, and `PromptcError` where the state is invalid, an edit cannot be made, or the new state would be invalid.
        """
        from promptc.operations.run import run_operation

        return run_operation(self, state, operation, args, answers)

    def apply_to_file(
        self,
        path: str | PathLike[str],
        operation: str,
        args: Mapping[str, Any] | None = None,
        answers: Mapping[str, str] | None = None,
        *,
        archive: str | PathLike[str] | None = None,
        wait: float = 30,
        if_state: str | None = None,
    ) -> OperationResult:
        """Does an operation as `apply` does, on the state in a file, which is replaced as `promptc apply` does: under its
        lock, what was taken out archived first.

        `archive` is the folder of the archives (None: `<path>.archive`); `wait` is how many seconds it may take to get the lock. With
        `if_state`, a digest as `state.digest` is, the file must still hold that state. Raises what `apply` raises, and `DiskError` for a
        file that cannot be read, locked or written, or holds another state; it is then as it was.
        """
        from pathlib import Path

        from promptc.operations.state_file import apply_to_file

        folder = Path(archive) if archive is not None else None
        return apply_to_file(self, fspath(path), operation, args, answers, folder=folder, wait=wait, expected=if_state)

    def render_question(self, asking: PackModel, state: State, given: Mapping[str, Any]) -> Outcome:
        """Renders the messages of a question that an operation asks. Its pack sees this pack's states, and `given` besides."""
        loaded = self._kept.loaded
        opened = Pack(KeptPack(asking.file, lambda: LoadedPack(asking, loaded.schema, loaded.inputs, {})))
        return opened.compile(state, format="messages", given=given)


def _load_files(path: str) -> LoadedPack:
    from pathlib import Path

    from promptc.frontend.pack import load_pack  # late: a pack from the cache needs nothing of what compiles one

    return load_pack(Path(path))


def choose_format(name: str | None) -> tuple[Format | None, Provider | None]:
    """Tells what a format that was asked for is: text or messages, and the provider they are for. `UsageError` (PC0706)
    for an unknown one.
    """
    if name is None or name == "text" or name == "messages":
        return name, None  # type: ignore[return-value]
    if name not in FORMATS:
        raise UsageError([Diagnostic("PC0706", f"there is no format `{name}`", help=suggest(name, FORMATS))])
    from promptc.frontend.output import load_provider

    return "messages", load_provider(name)
