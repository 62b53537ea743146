"""The entry point of the library: `load` returns a `Pack`, which renders states, checks itself, runs operations and opens sessions."""

from __future__ import annotations

import os
from _blake2 import blake2b
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike, fspath

from promptc.cache import Cache
from promptc.diag.findings import Diagnostic, FitError, PromptcError, Span, UsageError, check_arguments, sort_diagnostics, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Self
from promptc.files.reading import read_given
from promptc.frontend.json import JsonDocument, decode_json
from promptc.frontend.kept_pack import Inputs, KeptPack, LoadedPack
from promptc.frontend.state import StateSchema, load_document, load_state
from promptc.model.budget import MOST_BYTES, ModelTable, load_models
from promptc.model.messages import CHAT, FORMATS, AnswerCheck, Provider
from promptc.model.pack import Format, PackModel, Plan
from promptc.model.sources import CorpusIndex
from promptc.model.stages import RenderOptions
from promptc.model.state import State
from promptc.operations.results import Listed, OperationResult, Request
from promptc.passes.select import CostlyWork
from promptc.pipeline import Outcome, Prompt, compile_prompt
from promptc.text.counters.counter import Counter, Meter


def load(path: str | PathLike[str], *, models: str | PathLike[str] | None = None) -> Pack:
    """Load a pack.

    - `path`: the folder of the pack, or its manifest.
    - `models`: a TOML file with a table of your own models. Its entries take precedence over those of promptc.

    Load a pack once, when your program starts. Raises `PromptcError` with every finding if the pack is not valid, and `DiskError` if a file
    cannot be read.
    """
    return Pack.load(path, models=models)


class Pack:
    """A loaded pack. Several threads may use one pack at the same time: rendering changes nothing in it."""

    def __init__(self, kept: KeptPack, cache: Cache | None = None, files: _PackSource | None = None) -> None:
        """Wrap an opened pack. Use `load`, which opens the pack at a path.

        With `cache`, what a render reads from stores and indexes is kept there. `files` are the sources that `tried` and `reload` compile
        again; the pack of a question has none.
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
        """Load a pack as `promptc.load` does, optionally through a cache.

        - `cache`: where the compiled pack is kept. An entry is used as long as none of the pack's files has changed. Use the pack in a
          `with` block then: new entries are written at the end of the block. Only one thread at a time may use such a pack.
        - `keeps_counts`: if false, the token counts of texts are neither read from the cache nor written to it. Use this to render
          thousands of states, whose counts would push out all others.
        - `models`: a TOML file with a table of your own models. Its entries take precedence over those of promptc.
        - `tries`: for tools that try an edit: pairs of a path in the manifest and a value as YAML, such as
          `("sections.rules.budget", "600")`. The pack is loaded as if its manifest said so; variants, patches and tiers apply on top. To
          try several edits of one pack, see `tried`.

        A pack with `tries` is not kept in the cache. Raises what `promptc.load` raises, and `UsageError` if a path of `tries` leads
        nowhere.
        """
        check_arguments(path=path, models=models, tries=tries)
        table = _ModelFile(None if models is None else fspath(models))
        files = _PackSource(fspath(path), table, (), tuple(tries))
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

    def tried(self, tries: Sequence[tuple[str, str]], edits: Sequence[str] = ()) -> Self:
        """Return this pack with other values in its manifest.

        - `tries`: pairs of a path and a value, as in `load`. They apply after the `tries` that this pack has already.
        - `edits`: YAML to merge over the manifest, as a pack is merged that extends it. Variants, patches and tiers apply on top.

        Parts that the edits do not touch are not read, compiled or counted again, so this takes milliseconds. The new pack uses the files
        as this pack first read them. Raises what `load` raises.
        """
        check_arguments("tried", tries=tries, edits=edits)
        return self._open(self._read_files().change(edits, tries))

    def reload(self) -> Self:
        """Return the pack as its files are now, without a cache for the compiled pack.

        Parts that did not change are not compiled or counted again. Raises what `load` raises. This pack does not change.
        """
        return self._open(self._read_files().read_again())

    def load_at(self, path: str | PathLike[str]) -> Self:
        """Return the pack at another path, with the values and edits that this pack tries.

        Nothing of this pack is reused: the files are read, and what is installed is found, as they are now. Raises what `load` raises.
        """
        check_arguments(path=path)
        files = self._read_files().move(fspath(path))
        return type(self)(KeptPack(files.path, files.load, is_edited=True), self._cache, files)

    def _open(self, files: _PackSource) -> Self:
        return type(self)(KeptPack(files.path, files.load, is_edited=True, meter=self._kept.meter), self._cache, files)

    def _read_files(self) -> _PackSource:
        if self._files is None:
            raise ValueError("the pack of a question is loaded with the pack that asks it")
        return self._files

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write what was compiled and counted to the cache, and close connections. A cache or a connection that fails raises nothing."""
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
        """The path of the manifest, as findings show it."""
        return self._kept.loaded.pack.file

    @property
    def digest(self) -> str:
        """The digest of all files of the pack and of its `tries`, as reports show it."""
        return self._kept.loaded.pack.digest

    @property
    def counter(self) -> Counter:
        """The token counter that is in use on this machine."""
        return self._kept.loaded.pack.counting.counter

    @property
    def inputs(self) -> Inputs:
        """Every file that the pack was made from, with the bytes that were read."""
        return self._kept.loaded.inputs

    @property
    def follows_model(self) -> bool:
        """True if the budget of the pack, or of one of its variations, names a model."""
        from promptc.frontend.manifest import iter_keys

        budgets = (node for _, key, node in iter_keys(self.model.manifest) if key == "budget")
        return any(node.get("model") is not None for node in budgets)

    def asks_outside(self, given: Collection[str]) -> bool:
        """Return whether the pack reads anything outside its own files: a store that is not in `given`, or an index in a database.

        The prompt for a state may then change although no file has changed.
        """
        pack = self._kept.loaded.pack
        in_engine = any(isinstance(one, CorpusIndex) and one.engine is not None for one in pack.indexes)
        return in_engine or any(one.name not in given for one in pack.stores)

    def digest_indexes(self) -> bytes | None:
        """Return a digest of the indexes over files: the files of what was built, and the documents that it must match.

        Returns None if any of these cannot be read, and empty bytes if the pack has no such index.
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
        """Load a state from JSON bytes or a dict: parse it, validate it against the schema, and fill in defaults.

        - `given`: JSON bytes, a dict, or a `State`, which is returned unchanged.
        - `name`: the name of the state in findings.
        - `changes`: pairs of a JSON pointer and a JSON text, applied before the schema.

        Raises `PromptcError` if the state is not valid.
        """
        check_arguments(name=name, changes=changes)
        if isinstance(given, State):
            return given
        schema = self._kept.loaded.schema
        if isinstance(given, bytes):
            text = decode_json(given, name)
            del given  # do not keep the text of a large state twice while its values are made
            return load_state(text, schema, name, changes)
        return load_state(given, schema, name, changes)

    def load_document(self, document: JsonDocument) -> State:
        """Load a state from a parsed JSON text, as `load_state` does."""
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
        """Render a state to a prompt.

        - `state`: a `State`, or anything that `load_state` accepts.
        - `budget`: the total budget in tokens, in place of the pack's own.
        - `model`: the model to use for a budget that follows a model, and in the request to a provider.
        - `variants`: the case to choose for each variant axis, such as `{"mood": "calm"}`.
        - `patches`: the names of the patches to apply, in order.
        - `format`: `text`, `messages`, `chat`, or the name of a provider. A provider means messages, counted by the rules of that provider.
          `chat` means messages, too, and the `text` that the chat template of the pack makes from them.
        - `stores`: URLs to use in place of the declared ones, by the names of the stores.

        Raises `PromptcError` for a state that is not valid, and `FitError` for a prompt that does not fit. Raises `DiskError` for a store
        or an index that cannot be read, and `UsageError` for a name that the pack does not have.
        """
        outcome = self.compile(state, budget=budget, model=model, variants=variants, patches=patches, format=format, stores=stores)
        if outcome.emitted is None:
            raise FitError(outcome.errors, outcome.report)
        return Prompt(outcome)

    def session(self, name: str = "state.json") -> Any:
        """Open a `Session`: one conversation, rendered turn after turn. Each turn costs only the work for what changed.

        - `name`: the name of the state in findings.
        """
        from promptc.session import LocalSchema, Session

        check_arguments(name=name)
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
        """Render a state as `render` does, but return a prompt that does not fit as an outcome with errors, without an exception.

        - `without`: the sections to leave out.
        - `given`: the values of the names that the pack of a question sees in addition to the state.
        - `memory`: shared work for several states: what the states have in common is computed once.
        - `listen`: a function that receives the sources of the render and returns the sources to query in their place.
        """
        check_arguments(budget=budget, model=model, variants=variants, patches=patches, format=format)
        check_arguments(without=without, stores=stores, given=given)
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
        """Compile with the current content of the pack's sources, if it has any. Sources are opened when they are first queried."""

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
        """Return what is wrong or doubtful in the pack itself, sorted by place. Findings are returned and never raised.

        - `sources`: a mapping of stores to URLs, which may be empty. If it is given, stores and indexes are opened and checked, too.
        - `models`: the models to check the pack for, in place of those under its `models`.
        """
        from promptc.check.registry import check_pack

        check_arguments("check", sources=sources, models=models)
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
        """Return the JSON value in a model's answer to a prompt of this pack, validated against the whole `response` of the prompt.

        The JSON may be inside one Markdown fence. Raises `PromptcError` with everything that is wrong, each finding with its line in the
        answer, and `UsageError` for a prompt that does not ask for JSON.
        """
        from promptc.operations.run import check_answer

        check_arguments(prompt=prompt, text=text)
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
        """Return the operations of the pack, in the order of the manifest. With a state, each operation says whether it is due.

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
        """Return the questions of an operation that have no answer yet, each as a prompt.

        - `state`: a `State`, or anything that `load_state` accepts.
        - `args`: arguments in place of the defaults.
        - `answers`: the answers that you have, by the names of the questions. If a question reads an earlier answer, pass that answer and
          call `ask` again.

        Raises `UsageError` for a name that the operation does not have, `PromptcError` for a state or a question that is not valid, and
        `FitError` for a question that does not fit.
        """
        from promptc.operations.run import ask

        check_arguments(operation=operation, args=args, answers=answers)
        return ask(self, state, operation, args, answers)

    def apply(
        self,
        state: bytes | Mapping[str, Any],
        operation: str,
        args: Mapping[str, Any] | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> OperationResult:
        """Run an operation on a state. Return the new state and what went to archives.

        - `state`: the state as it is written, in JSON bytes or a dict. A `State` has defaults filled in, so it is refused.
        - `args`: arguments in place of the defaults.
        - `answers`: the answers of a model, by the names of the questions. The `else` of a question replaces an answer that is missing or
          that fails its check.

        Nothing is written, and the state that you pass does not change. Raises `UsageError` for a name that the operation does not have,
        and for a `State`. Raises `PromptcError` if the state is not valid, if an edit cannot be made, or if the new state would not be
        valid.
        """
        from promptc.operations.run import run_operation

        check_arguments(operation=operation, args=args, answers=answers)
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
        """Run an operation on the state in a file, as `promptc apply` does.

        - `archive`: the folder of the archives. The default is `<path>.archive`.
        - `wait`: how many seconds to wait for the lock at most.
        - `if_state`: a digest such as `state.digest`. The file must still contain the state with this digest.

        The file is locked, archives are written first, and then the file is replaced in one step. Raises what `apply` raises. Raises
        `DiskError` if the file cannot be read, locked or written, or if it contains another state. After an error the file is unchanged.
        """
        from pathlib import Path

        from promptc.operations.state_file import apply_to_file

        check_arguments(path=path, operation=operation, args=args, answers=answers, archive=archive, wait=wait, if_state=if_state)
        folder = Path(archive) if archive is not None else None
        return apply_to_file(self, fspath(path), operation, args, answers, folder=folder, wait=wait, expected=if_state)

    def render_question(self, asking: PackModel, state: State, given: Mapping[str, Any]) -> Outcome:
        """Render the messages of a question. The pack of the question, `asking`, sees the state of this pack and the names in `given`."""
        loaded = self._kept.loaded
        opened = Pack(KeptPack(asking.file, lambda: LoadedPack(asking, loaded.schema, loaded.inputs, {})))
        return opened.compile(state, format="messages", given=given)


class _ModelFile:
    """The model table of a pack: promptc's own and the entries of the user's file. Read when a budget first names a model."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._table: ModelTable | None = None

    def digest(self) -> str:
        """Return a digest of the user's file, or an empty string without a file.

        A file that cannot be read has the digest of its name; its error is reported when the table is needed.
        """
        if self._file is None:
            return ""
        try:
            content = read_given(self._file, MOST_BYTES)
        except (OSError, ValueError):
            content = os.fsencode(self._file)
        return blake2b(content, digest_size=16).hexdigest()

    def read_again(self) -> _ModelFile:
        """Return a table that reads the file again."""
        return _ModelFile(self._file)

    def load(self) -> ModelTable:
        """Return the table. Raises what `load_models` raises."""
        if self._table is None:
            self._table = load_models(self._file)
        return self._table


class _PackSource:
    """The sources of a pack: its files, read when they are first needed, and the edits to try on them."""

    def __init__(self, path: str, table: _ModelFile, edits: Sequence[str], tries: Sequence[tuple[str, str]], read: Any = None) -> None:
        self.path = path
        self._table, self._edits, self._tries = table, edits, tries
        self._read = read

    def load(self) -> LoadedPack:
        """Compile the pack with its edits. Raises what `ReadPack` raises."""
        loaded: LoadedPack = self._open().compile(self._edits, self._tries)
        return loaded

    def change(self, edits: Sequence[str], tries: Sequence[tuple[str, str]]) -> _PackSource:
        """Return a source of the same files with further edits."""
        return _PackSource(self.path, self._table, (*self._edits, *edits), (*self._tries, *tries), self._open())

    def read_again(self) -> _PackSource:
        """Return a source with the same edits and the files as they are now."""
        table = self._table.read_again()
        return _PackSource(self.path, table, self._edits, self._tries, _read_pack(self.path, table, self._open().made))

    def move(self, path: str) -> _PackSource:
        """Return a source with the same edits, of the files at another path."""
        return _PackSource(path, self._table, self._edits, self._tries)

    def _open(self) -> Any:
        if self._read is None:
            self._read = _read_pack(self.path, self._table)
        return self._read


def _read_pack(path: str, table: _ModelFile, made: Any = None) -> Any:
    from pathlib import Path

    from promptc.frontend.pack import ReadPack  # late: a pack from the cache does not need the compiler

    return ReadPack(Path(path), table.load, made)


def choose_format(name: str | None) -> tuple[Format | None, Provider | None]:
    """Return what a format means: text or messages, and the provider whose rules count the messages. None means that nothing is chosen.

    Raises `UsageError` (PC0706) for an unknown format.
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
