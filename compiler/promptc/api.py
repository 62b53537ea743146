"""What the library offers: `load` gives a `Pack`, which loads states, renders them, checks itself, does operations and begins sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike, fspath
from types import MappingProxyType

from promptc.cache import Cache
from promptc.diag.findings import Diagnostic, FitError, PromptcError, Span, UsageError, sort_diagnostics, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Self
from promptc.frontend.json import JsonDocument, decode_json
from promptc.frontend.kept_pack import Inputs, KeptPack, LoadedPack
from promptc.frontend.state import load_document, load_state
from promptc.model.budget import ModelTable
from promptc.model.messages import CHAT, FORMATS, Provider
from promptc.model.pack import Format, PackModel, Plan
from promptc.model.sources import CorpusIndex
from promptc.model.stages import RenderOptions
from promptc.model.state import State
from promptc.operations.results import Listed, OperationResult, Request
from promptc.passes.select import CostlyWork
from promptc.pipeline import Outcome, Prompt, compile_prompt
from promptc.text.counters.counter import Counter, Meter


def load(path: str | PathLike[str], *, models: str | PathLike[str] | None = None) -> Pack:
    """Loads a pack. `path` is its folder or its manifest. `models` is a table of models of your own, which goes before that of promptc.

    Do it once, when your program starts. Raises `PromptcError` with every finding if the pack is not valid, and `DiskError` if a file
    cannot be read.
    """
    return Pack.load(path, models=models)


class Pack:
    """A loaded pack. Several threads may use it at once: rendering changes nothing in it."""

    def __init__(self, kept: KeptPack, cache: Cache | None = None, files: _PackSource | None = None) -> None:
        """Use `load`, which makes one of a path. With a cache, what is read of stores and indexes is kept there. `files` are what `tried`
        compiles anew.
        """
        self._kept = kept
        self._cache = cache
        self._files = files
        self._sources: Any = None
        self._parts: Any = None

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        cache: Cache | None = None,
        *,
        keeps_counts: bool = True,
        models: str | PathLike[str] | None = None,
        tries: Sequence[tuple[str, str]] = (),
    ) -> Self:
        """Loads a pack as `promptc.load` does, and can keep it in a cache.

        With `cache`, the compiled pack is taken from there while none of its files has changed. Use it in a `with` block then: what is new
        is kept at the end of the block. Such a pack is for one thread at a time.

        `models` is a table of models of your own, a TOML file. Its entries go before those of promptc.

        `keeps_counts=False` keeps no counts of texts. Use it for renders by the thousand, whose counts would push out those of others.

        `tries` are for tools that try an edit: pairs of a path in the manifest and a value as YAML, such as
        `("sections.rules.budget", "600")`. The pack is loaded as if its file said so; variants, patches and tiers are laid over that. Such
        a pack is not kept. A path that leads nowhere is a `UsageError`. For more than one, see `tried`.
        """
        table = _ModelFile(None if models is None else fspath(models))
        files = _PackSource(fspath(path), table, {}, tuple(tries))
        kept = KeptPack(
            files.path,
            files.load,
            cache,
            keeps_counts=keeps_counts,
            load_models=table.load,
            table=table.digest() if cache is not None else "",
            is_edited=bool(tries),
        )
        return cls(kept, cache if keeps_counts else None, files)

    def tried(self, tries: Sequence[tuple[str, str]], patches: Mapping[str, str] = MappingProxyType({})) -> Self:
        """Gives the pack with other values in its manifest: as `load` does with the `tries` of this pack, these behind them. `patches` are
        more of what stands under its `patches`: YAML, by name.

        What they do not touch is not read, compiled or counted again, so it takes milliseconds. Its files are what they were when this pack
        first read them. Raises what `load` raises.
        """
        return self._open(self._read_files().change(patches, tries))

    def reload(self) -> Self:
        """Gives the pack as its files are now, as `load` does, but in no cache. Of what is as it was nothing is compiled or counted again.

        Raises what `load` raises; this pack stays as it is.
        """
        return self._open(self._read_files().read_again())

    def _open(self, files: _PackSource) -> Self:
        return type(self)(KeptPack(files.path, files.load, is_edited=True, meter=self._kept.meter), self._cache, files)

    def _read_files(self) -> _PackSource:
        if self._files is None:
            raise ValueError("the pack of a question is loaded with the pack that asks it")
        return self._files

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Keeps in the cache what was compiled and counted, and gives connections back. Never fails for want of either."""
        if self._sources is not None:
            self._sources.close()
        self._kept.keep()

    @property
    def model(self) -> PackModel:
        """The compiled pack."""
        return self._kept.load_whole().pack

    @property
    def name(self) -> str:
        """The name of the pack."""
        return self._kept.loaded.pack.name

    @property
    def file(self) -> str:
        """The path of its manifest, as findings have it."""
        return self._kept.loaded.pack.file

    @property
    def digest(self) -> str:
        """The digest of all its files, and of what is tried of it, as reports have it."""
        return self._kept.loaded.pack.digest

    @property
    def counter(self) -> Counter:
        """The counter of tokens that is in force on this machine."""
        return self._kept.loaded.pack.counting.counter

    @property
    def inputs(self) -> Inputs:
        """Every file that the pack was made of, with its bytes as they were read."""
        return self._kept.loaded.inputs

    @property
    def follows_model(self) -> bool:
        """Whether the budget of the pack, or of one of its variations, names a model."""
        from promptc.frontend.manifest import iter_keys

        budgets = (node for _, key, node in iter_keys(self.model.manifest) if key == "budget")
        return any(node.get("model") is not None for node in budgets)

    def asks_outside(self, given: Collection[str]) -> bool:
        """Tells whether the pack asks what its files do not hold: a store that is not in `given`, or an index in a database.

        What it makes of a state may then change although no file has changed.
        """
        pack = self._kept.loaded.pack
        in_engine = any(isinstance(one, CorpusIndex) and one.engine is not None for one in pack.indexes)
        return in_engine or any(one.name not in given for one in pack.stores)

    def digest_indexes(self) -> bytes | None:
        """Digests the indexes over files: what they were built of, and the documents that they must agree with.

        Gives None where any of it cannot be read.
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
        """Loads a state from JSON bytes or a dict: reads it, holds it to the schema, and fills in defaults.

        - `given`: JSON bytes, a dict, or a `State`, which is given back as it is.
        - `name`: what findings call the state.
        - `changes`: pairs of a JSON pointer and a JSON text, made before the schema is applied.

        Raises `PromptcError` if the state is not valid.
        """
        if isinstance(given, State):
            return given
        schema = self._kept.loaded.schema
        if isinstance(given, bytes):
            text = decode_json(given, name)
            del given  # a large state is not kept twice while its values are made
            return load_state(text, schema, name, changes)
        return load_state(given, schema, name, changes)

    def load_document(self, document: JsonDocument) -> State:
        """Loads a state from a JSON text that was read before, as `load_state` does."""
        return load_document(document, self._kept.loaded.schema)

    def render(
        self,
        state: State | bytes | Mapping[str, Any],
        *,
        budget: int | None = None,
        model: str | None = None,
        variants: Mapping[str, str] | None = None,
        patches: Sequence[str] = (),
        format: str | None = None,
        stores: Mapping[str, str] | None = None,
    ) -> Prompt:
        """Renders a state to a prompt.

        - `state`: a `State`, or what `load_state` takes.
        - `budget`: another total, in tokens.
        - `model`: another model, for a budget that follows one and for the request to a provider.
        - `variants`: a case for an axis, such as `{"mood": "calm"}`.
        - `patches`: the names of patches, in order.
        - `format`: `text`, `messages`, `chat`, or the name of a provider. A provider gives messages, counted by its own rules. `chat`
          gives messages too, and the `text` that the chat template of the pack makes of them.
        - `stores`: another URL for a store, by its name.

        Raises `PromptcError` for a state that is not valid, and `FitError` for a prompt that does not fit. Raises `DiskError` for a store
        or an index that cannot be read, and `UsageError` for a name that the pack does not have.
        """
        outcome = self.compile(state, budget=budget, model=model, variants=variants, patches=patches, format=format, stores=stores)
        if outcome.emitted is None:
            raise FitError(outcome.errors, outcome.report)
        return Prompt(outcome)

    def session(self, name: str = "state.json") -> Any:
        """Gives a `Session`: one conversation, whose states follow each other. What it does for a turn is what changed, and no more. `name`
        is what findings call the state.
        """
        from promptc.session import LocalSchema, Session

        schema = self._kept.loaded.schema
        if schema is not None and self._parts is None:
            self._parts = LocalSchema(schema)
        return Session(self.compile, self._parts, name)

    def compile(
        self,
        state: State | bytes | Mapping[str, Any],
        *,
        budget: int | None = None,
        model: str | None = None,
        variants: Mapping[str, str] | None = None,
        patches: Sequence[str] = (),
        format: str | None = None,
        without: Sequence[str] = (),
        stores: Mapping[str, str] | None = None,
        given: Mapping[str, Any] | None = None,
        memory: CostlyWork | None = None,
        listen: Callable[[Any], Any] | None = None,
    ) -> Outcome:
        """Renders as `render` does. A prompt that does not fit is an outcome with errors, not an exception.

        - `without`: sections to leave out.
        - `given`: the values of names that the pack of a question sees besides the state.
        - `memory`: one for several states, so that what they share is worked out once.
        - `listen`: a call that is given the sources of the render, and gives those that are asked in their place.
        """
        shape, provider = choose_format(format)
        options = RenderOptions(budget, dict(variants or {}), tuple(patches), shape, tuple(without), given or {}, provider, model)
        return self._compile(self.load_state(state), options, dict(stores or {}), memory, listen)

    def _compile(
        self,
        state: State,
        options: RenderOptions,
        urls: Mapping[str, str],
        work: CostlyWork | None,
        listen: Callable[[Any], Any] | None = None,
        change: Callable[[Plan], Plan] | None = None,
    ) -> Outcome:
        def compile_loaded(loaded: LoadedPack) -> Outcome:
            pack = loaded.pack if change is None else loaded.pack.change_plans(change)
            return self._compile_loaded(pack, state, options, urls, work, listen)

        outcome = self._kept.use(compile_loaded)
        later = work.choose_later() if work is not None else None
        outcome.retry = lambda change: self._compile(state, options, urls, later, listen, change)
        outcome.refit = lambda provider, model: self._compile(
            state, replace(options, format="messages", provider=provider, model=model or options.model), urls, later
        )
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

    def check(self, sources: Mapping[str, str] | None = None, *, models: Sequence[str] = ()) -> tuple[Diagnostic, ...]:
        """Lists what is wrong or doubtful in the pack itself, sorted by place. It raises nothing for it.

        - `sources`: a mapping of stores to URLs, which may be empty. With it, stores and indexes are opened and looked at, too.
        - `models`: the models to judge the pack for, in place of those under its `models`.
        """
        from promptc.check.registry import check_pack

        pack = self.model
        asked = tuple((name, pack.manifest.key_span("budget")) for name in models)
        found = check_pack(replace(pack, models=asked) if asked else pack)
        return sort_diagnostics([*found, *self._check_sources(sources)]) if sources is not None else found

    def _check_sources(self, urls: Mapping[str, str]) -> list[Diagnostic]:
        from promptc.check.registry import check_medians
        from promptc.frontend.sources import probe_sources

        probed = probe_sources(self.model, self._open_sources(), urls)
        return [*probed.found, *check_medians(self.model, probed.medians)]

    # --- operations ---

    def read_answer(self, prompt: Prompt, text: str) -> Any:
        """Reads what a model answered to a prompt of this pack: the JSON value in its text, held to the whole `response` of the prompt.

        The JSON may stand in one Markdown fence. Raises `PromptcError` with everything that is wrong, each with its line in the answer,
        and `UsageError` for a prompt that asks for no JSON.
        """
        from promptc.frontend.state import StateSchema
        from promptc.model.messages import AnswerCheck
        from promptc.operations.run import check_answer

        schema = prompt.response
        if schema is None:
            help = 'declare one, such as `response: answer.json`, and render messages: `format="messages"`, or a provider'
            raise UsageError([Diagnostic("PC0816", f"the prompt of `{self.name}` has no `response`", help=help)])
        check = AnswerCheck(Span(self.name, 1, 1), StateSchema(schema, (), b""))
        value, found = check_answer(text, check, Meter(self.counter), "answer")
        if found:
            raise PromptcError(found)
        return value

    def list_operations(self, state: State | bytes | Mapping[str, Any] | None = None) -> tuple[Listed, ...]:
        """Lists the operations of the pack, in the order of the manifest. With a state, each says whether it is due.

        Raises `PromptcError` if the state is not valid.
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
        """Gives the questions of an operation that have no answer yet, each as a prompt.

        - `args`: arguments in place of the defaults.
        - `answers`: the answers that you have, by the names of the questions. If a question reads an earlier answer, give that answer and
          ask again.

        Raises `UsageError` for a name that the operation does not have, `PromptcError` for a state or a question that is not valid, and
        `FitError` for a question that does not fit.
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
        """Does an operation. Gives the new state, and what went to archives. It writes nothing, and leaves the state that you gave as it
        is.

        - `args`: arguments in place of the defaults.
        - `answers`: the texts of a model, by the names of the questions. If one is missing, or fails its check, its `else` takes its place.

        Raises `UsageError` for a name that the operation does not have. Raises `PromptcError` if the state is not valid, if an edit cannot
        be made, or if the new state would not be valid.
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
        """Does an operation on the state in a file, as `promptc apply` does. The file is locked, archives are written first, and then the
        file is replaced in one step.

        - `archive`: the folder of the archives. Unless given, it is `<path>.archive`.
        - `wait`: how many seconds it may wait for the lock.
        - `if_state`: a digest such as `state.digest`. The file must still hold that state.

        Raises what `apply` raises. Raises `DiskError` if the file cannot be read, locked or written, or holds another state. The file is
        then as it was.
        """
        from pathlib import Path

        from promptc.operations.state_file import apply_to_file

        folder = Path(archive) if archive is not None else None
        return apply_to_file(self, fspath(path), operation, args, answers, folder=folder, wait=wait, expected=if_state)

    def render_question(self, asking: PackModel, state: State, given: Mapping[str, Any]) -> Outcome:
        """Renders the messages of a question. Its pack sees the state of this pack, and `given`."""
        loaded = self._kept.loaded
        opened = Pack(KeptPack(asking.file, lambda: LoadedPack(asking, loaded.schema, loaded.inputs, {})))
        return opened.compile(state, format="messages", given=given)


class _ModelFile:
    """The table of models of a pack, with those of the user's file: read when a budget first names one."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._table: ModelTable | None = None

    def digest(self) -> str:
        """A digest of the user's file; empty where there is none. One that cannot be read has that of its name: it is told when it is
        needed.
        """
        if self._file is None:
            return ""
        from _blake2 import blake2b

        from promptc.files.reading import read_given
        from promptc.model.budget import MOST_BYTES

        try:
            content = read_given(self._file, MOST_BYTES)
        except (OSError, ValueError):
            content = os.fsencode(self._file)
        return blake2b(content, digest_size=16).hexdigest()

    def read_again(self) -> _ModelFile:
        """The table as the file is now."""
        return _ModelFile(self._file)

    def load(self) -> ModelTable:
        """The table. Raises what `load_models` raises."""
        if self._table is None:
            from promptc.model.budget import load_models

            self._table = load_models(self._file)
        return self._table


class _PackSource:
    """What a pack is compiled of: its files, read when that is first needed, and the edits of it that are tried."""

    def __init__(
        self, path: str, table: _ModelFile, patches: Mapping[str, str], tries: Sequence[tuple[str, str]], read: Any = None
    ) -> None:
        self.path = path
        self._table, self._patches, self._tries = table, patches, tries
        self._read = read

    def load(self) -> LoadedPack:
        """The pack with its edits. Raises what `ReadPack` raises."""
        loaded: LoadedPack = self._open().compile(self._patches, self._tries)
        return loaded

    def change(self, patches: Mapping[str, str], tries: Sequence[tuple[str, str]]) -> _PackSource:
        """With more edits, of the same files."""
        return _PackSource(self.path, self._table, {**self._patches, **patches}, (*self._tries, *tries), self._open())

    def read_again(self) -> _PackSource:
        """With the same edits, of the files as they are now."""
        table = self._table.read_again()
        return _PackSource(self.path, table, self._patches, self._tries, _read_pack(self.path, table, self._open().made))

    def _open(self) -> Any:
        if self._read is None:
            self._read = _read_pack(self.path, self._table)
        return self._read


def _read_pack(path: str, table: _ModelFile, made: Any = None) -> Any:
    from pathlib import Path

    from promptc.frontend.pack import ReadPack  # late: a pack from the cache needs nothing of what compiles one

    return ReadPack(Path(path), table.load, made)


def choose_format(name: str | None) -> tuple[Format | None, Provider | None]:
    """Tells what a format is: text or messages, and the provider that they are for.

    Raises `UsageError` (PC0706) for an unknown one.
    """
    if name is None or name == "text" or name == "messages":
        return name, None  # type: ignore[return-value]
    if name == CHAT:
        from promptc.passes.payload.chat import PROVIDER

        return "messages", PROVIDER
    if name not in FORMATS:
        raise UsageError([Diagnostic("PC0706", f"there is no format `{name}`", help=suggest(name, FORMATS))])
    from promptc.frontend.output import load_provider

    return "messages", load_provider(name)
