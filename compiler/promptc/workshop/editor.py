"""The language server of `promptc lsp`, over standard input and output. Only this module imports pygls.

Each pack of which a file is open has a task, which examines a change in steps and publishes each result as soon as it is known: first the
errors that keep the pack from loading and the findings in new texts, then everything that `promptc check` finds, then the tokens of each
section in an example. A later change aborts the work on an earlier one. The server writes no files, starts no programs and uses no network.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from pathlib import Path
from urllib.parse import urlsplit

from lsprotocol import types as lsp
from pygls import server as pygls_server
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, json_rpc, language_server
from pygls.protocol.json_rpc import JsonRPCRequestMessage
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

from promptc.diag.findings import Diagnostic, Level, Span, find_code
from promptc.diag.typed import IO, Any, TypeVar
from promptc.files.paths import name_held
from promptc.version import VERSION
from promptc.workshop.desk import Desk, OpenPack, SectionCount, list_related
from promptc.workshop.hints import Cursor, Kind, Offer, complete, describe, list_targets
from promptc.workshop.mend import Replacement, list_fixes

_CALM = 0.25
"""Seconds without a further change before the full check runs."""

_SEVERITIES: Mapping[Level, lsp.DiagnosticSeverity] = {
    "error": lsp.DiagnosticSeverity.Error,
    "warn": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
_KINDS: Mapping[Kind, lsp.CompletionItemKind] = {
    "key": lsp.CompletionItemKind.Property,
    "value": lsp.CompletionItemKind.EnumMember,
    "name": lsp.CompletionItemKind.Variable,
    "part": lsp.CompletionItemKind.Field,
    "filter": lsp.CompletionItemKind.Function,
    "test": lsp.CompletionItemKind.Operator,
    "function": lsp.CompletionItemKind.Function,
    "file": lsp.CompletionItemKind.File,
    "tag": lsp.CompletionItemKind.Keyword,
    "section": lsp.CompletionItemKind.Reference,
}
_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[\w$][\w$.\-/]*|\{[{%#]|\S")
_MEANT = re.compile(r"did you mean `([^`]+)`\?")
_NAMED = re.compile(r"`([^`]+)`(?! \()")
"""A name in a message. One that its place in brackets follows is in another text."""

_WORDS = re.compile(r"[\w$-]+")
_LEAST_ALIKE = 0.6
_WATCHED = "**/*.{yaml,yml,j2,json,md,txt,toml}"
_SECTION = "promptc"
_REFUSED = "promptc/refused"
"""The method to which a request with wrong parameters is led. It is answered by an error."""

_ANNOUNCED = re.compile(rb"Content-Length: ([0-9]+)")
_LONGEST_HEAD = 1_000
_LONGEST_MESSAGE = 64_000_000
"""The most bytes of a message. The text of a file of a pack is far shorter."""

_Answer = TypeVar("_Answer")


class _StaleError(Exception):
    """Raised when a file has changed, so that the check of the old version is abandoned."""


class _Protocol(LanguageServerProtocol):
    """Answers a request with wrong parameters by an error. pygls only logs it, and the editor would wait for ever."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if "method" not in data or not isinstance(data.get("id"), int | str):
                raise
            return JsonRPCRequestMessage(id=data["id"], method=_REFUSED, jsonrpc=self.VERSION, params=None)


class EditorServer(LanguageServer):
    """A language server for one editor."""

    def __init__(self) -> None:
        super().__init__("promptc", VERSION, text_document_sync_kind=lsp.TextDocumentSyncKind.Full, protocol_cls=_Protocol)
        self.desk = Desk()
        self.state = ""
        """The state for counting sections; if empty, that of the pack's first suitable case."""
        self._tasks: dict[str, tuple[asyncio.Task[None], asyncio.Event]] = {}
        """The task that examines each pack, and the event that wakes the task after a change."""
        self._told: dict[str, frozenset[str]] = {}
        self._loading, self._checking = ThreadPoolExecutor(1), ThreadPoolExecutor(1)

    def choose_state(self, settings: Any) -> None:
        """Set the state for counting sections from an editor's settings: either all of them, or only those of promptc."""
        inner = settings.get(_SECTION, settings) if isinstance(settings, dict) else None
        state = inner.get("state") if isinstance(inner, dict) else None
        if isinstance(state, str) and state != self.state:
            self.state = state
            self.look(self.desk.packs.values())

    # --- what is wrong ---

    def look(self, packs: Iterable[OpenPack]) -> None:
        """Examine packs again, because a file or a setting has changed."""
        for one in packs:
            if one.path not in self._tasks or self._tasks[one.path][0].done():
                changed = asyncio.Event()
                task = asyncio.ensure_future(self._attend(one, changed))
                task.add_done_callback(self._tell_bug)
                self._tasks[one.path] = task, changed
            self._tasks[one.path][1].set()

    async def _attend(self, pack: OpenPack, changed: asyncio.Event) -> None:
        """Examine a pack whenever one of its files has changed, until the task is cancelled.

        A change waits for at most a load of an earlier version, or one step of a check.
        """

        def pause() -> None:
            if changed.is_set() or not self._is_open(pack):
                raise _StaleError

        while await changed.wait():
            changed.clear()
            is_loaded = await self._run(self._loading, pack.load)
            if pack.is_behind:
                changed.set()
            if changed.is_set():
                continue
            self.publish(pack)
            if not is_loaded or not await _is_calm(changed):
                continue
            try:
                await self._run(self._checking, lambda: pack.check(pause))
            except _StaleError:
                continue
            self.publish(pack)
            self._run(self._checking, lambda: pack.count(self.state)).add_done_callback(self._end_count)

    def _run(self, where: ThreadPoolExecutor, work: Callable[[], _Answer]) -> asyncio.Future[_Answer]:
        return asyncio.get_running_loop().run_in_executor(where, work)

    def _end_count(self, counted: asyncio.Future[bool]) -> None:
        self._tell_bug(counted)
        workspace = self.client_capabilities.workspace
        is_new = not counted.cancelled() and counted.exception() is None and counted.result()
        if is_new and workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _tell_bug(self, ended: asyncio.Future[Any]) -> None:
        """Log the exception of a failed task as a bug in promptc. The server goes on."""
        wrong = ended.exception() if not ended.cancelled() else None
        if wrong is not None:
            told = "".join(traceback.format_exception(wrong))
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"a bug in promptc: {told}"))

    def publish(self, pack: OpenPack) -> None:
        """Publish the findings of a pack, each in its file, together with those that other packs have there. Replaces earlier findings.

        A pack that is not open any more has none.
        """
        packs = [*([pack] if self._is_open(pack) else ()), *(one for one in self.desk.packs.values() if one is not pack)]
        files = frozenset({pack.path, *(_name_file(one.span, pack) for one in pack.findings if pack in packs)})
        before, self._told[pack.path] = self._told.get(pack.path, frozenset()), files
        for file in sorted(files | before):
            shown: list[lsp.Diagnostic] = []
            for other in packs:
                found = [one for one in other.findings if _name_file(one.span, other) == file]
                shown += [told for told in (self.describe(one, file, other) for one in found) if told not in shown]
            document = self.find_document(file)
            version = document.version if document is not None else None
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(self.make_uri(file), shown, version))

    def _is_open(self, pack: OpenPack) -> bool:
        return self.desk.packs.get(pack.path) is pack

    def forget(self, pack: OpenPack) -> None:
        """Clear the published findings of a pack that has no open file any more, and stop its task."""
        if pack.path in self._tasks:
            self._tasks.pop(pack.path)[0].cancel()
        self.publish(pack)
        del self._told[pack.path]

    def end(self) -> None:
        """Abort all work, so that it does not keep the process alive."""
        self.desk.packs = {}
        for one in (self._loading, self._checking):
            one.shutdown(wait=False, cancel_futures=True)

    def describe(self, found: Diagnostic, file: str, pack: OpenPack) -> lsp.Diagnostic:
        """Return a finding of a pack as an LSP diagnostic. A finding without a place is shown at the beginning of the file."""
        code = find_code(found.code)
        related = [
            lsp.DiagnosticRelatedInformation(lsp.Location(self.make_uri(span.file), self.place(span)), said)
            for said, span in list_related(found, pack.folder)
            if span.line <= len(self.desk.lines(span.file))
        ]
        return lsp.Diagnostic(
            range=self.place(found.span if found.span is not None else Span(file, 1, 1)),
            message=f"{found.message}\n{found.help}" if found.help else found.message,
            severity=_SEVERITIES[found.level],
            code=found.code,
            code_description=lsp.CodeDescription(code.url) if code is not None else None,
            source=_SECTION,
            related_information=related or None,
        )

    # --- places ---

    def make_uri(self, path: str) -> str:
        """Return the URI of a file, as the editor spells it if the file is open there."""
        document = self.find_document(path)
        return document.uri if document is not None else from_fs_path(path) or path

    def find_document(self, path: str) -> TextDocument | None:
        """Return the document of a file that is open in the editor, or None."""
        return next((one for one in self.workspace.text_documents.values() if one.path == path), None)

    def place(self, span: Span) -> lsp.Range:
        """Return the range of the word, the quoted text or the sign at a place."""
        lines = self.desk.lines(span.file)
        line = min(max(span.line - 1, 0), len(lines) - 1)
        start = min(span.column - 1, len(lines[line]))
        token = _TOKEN.match(lines[line], start)
        return self.make_range(lines[line], line, start, token.end() if token is not None else start)

    def make_range(self, text: str, line: int, start: int, stop: int) -> lsp.Range:
        """Return a range within one line, from offsets in characters."""
        count = self.workspace.position_codec.client_num_units
        return lsp.Range(lsp.Position(line, count(text[:start])), lsp.Position(line, count(text[:stop])))

    def count_characters(self, text: str, column: int) -> int:
        """Convert a column from the editor's units to characters."""
        count, units = self.workspace.position_codec.client_num_units, 0
        for at, character in enumerate(text):
            if units >= column:
                return at
            units += count(character)
        return len(text)

    def find_cursor(self, uri: str, position: lsp.Position) -> Cursor | None:
        """Return the cursor at a position, or None if the file concerns no pack or has no such line."""
        path = read_path(uri)
        pack = self.desk.find_pack(path) if path else None
        lines = self.desk.lines(path) if path and pack is not None else []
        if path is None or pack is None or position.line >= len(lines):
            return None
        return Cursor(pack, path, lines, position.line, self.count_characters(lines[position.line], position.character))


def read_path(uri: str) -> str | None:
    """Return the path of a file of this machine, or None for any other URI, such as that of an earlier version (`git:/x/pack.yaml`)."""
    try:
        is_file = urlsplit(uri).scheme == "file"
        path = to_fs_path(uri) if is_file else None
    except ValueError:
        return None
    return path if path and "\0" not in path else None


def _name_folders(uris: Iterable[str]) -> frozenset[str]:
    return frozenset(name_held(path) for uri in uris if (path := read_path(uri)))


async def _is_calm(changed: asyncio.Event) -> bool:
    """Wait for a short while, and return whether nothing has changed."""
    try:
        await asyncio.wait_for(changed.wait(), _CALM)
    except TimeoutError:
        return True
    return False


def _name_file(span: Span | None, pack: OpenPack) -> str:
    return os.path.normpath(Path(pack.folder, span.file)) if span is not None and span.file else pack.path


class _Frames:
    """Standard input as pygls reads it: what announces a message that is too long ends the input, instead of the memory."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """Return a line of the head of a message, or nothing at the end."""
        line = self._stream.readline(_LONGEST_HEAD)
        announced = _ANNOUNCED.match(line)
        is_short = announced is None or (len(announced[1]) < 10 and int(announced[1]) <= _LONGEST_MESSAGE)
        return line if is_short else b""

    def read(self, size: int) -> bytes:
        """Return the content of a message."""
        return self._stream.read(size)


def serve() -> None:
    """Serve the editor that started this process, over standard input and output, until the editor ends the session or is gone.

    A message that makes no sense is answered, and a message that is too long ends the session. Neither leaves a traceback of pygls.
    """
    told = sys.stdout.buffer
    frames: Any = _Frames(sys.stdin.buffer)
    for module in (json_rpc, language_server, pygls_server):
        module.logger.setLevel("CRITICAL")
    with contextlib.redirect_stdout(sys.stderr):  # only protocol messages may go to standard output
        server = EditorServer()
        for take in (_take_documents, _take_settings, _take_questions):
            take(server)
        try:
            server.start_io(stdin=frames, stdout=told)
        finally:
            server.end()


def _take_documents(server: EditorServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def open_file(params: lsp.DidOpenTextDocumentParams) -> None:
        hold(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def change_file(params: lsp.DidChangeTextDocumentParams) -> None:
        hold(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def save_file(params: lsp.DidSaveTextDocumentParams) -> None:
        hold(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def close_file(params: lsp.DidCloseTextDocumentParams) -> None:
        path = read_path(params.text_document.uri)
        concerned = server.desk.release(path) if path else []
        for one in concerned:
            if one.path not in server.desk.packs:
                server.forget(one)
        server.look(one for one in concerned if one.path in server.desk.packs)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def see_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        for gone in server.desk.renew():
            server.forget(gone)
        paths = [path for one in params.changes if (path := read_path(one.uri))]
        server.look(one for one in server.desk.packs.values() if any(one.concerns(path) for path in paths))

    def hold(uri: str) -> None:
        path = read_path(uri)
        if path:
            server.look(server.desk.hold(path, server.workspace.get_text_document(uri).source))


def _take_settings(server: EditorServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def begin(params: lsp.InitializeParams) -> None:
        folders = [one.uri for one in params.workspace_folders or ()] or [params.root_uri or ""]
        server.desk.roots = _name_folders(folders)
        server.choose_state(params.initialization_options)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def change_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        gone, new = (_name_folders([one.uri for one in folders]) for folders in (params.event.removed, params.event.added))
        server.desk.roots = (server.desk.roots - gone) | new

    @server.feature(lsp.INITIALIZED)
    async def ask(params: lsp.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(_WATCHED)])
            registration = lsp.Registration("promptc-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            with contextlib.suppress(JsonRpcException):  # some editors say that they support this and do not
                await server.client_register_capability_async(lsp.RegistrationParams([registration]))
        await ask_settings()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def change_settings(params: lsp.DidChangeConfigurationParams) -> None:
        if isinstance(params.settings, dict) and _SECTION in params.settings:
            server.choose_state(params.settings)
        else:
            await ask_settings()

    async def ask_settings() -> None:
        workspace = server.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            wanted = lsp.ConfigurationParams([lsp.ConfigurationItem(section=_SECTION)])
            with contextlib.suppress(JsonRpcException):
                server.choose_state(*await server.workspace_configuration_async(wanted))


def _take_questions(server: EditorServer) -> None:
    @server.feature(_REFUSED)
    def refuse(params: Any) -> None:
        raise JsonRpcInvalidParams

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        cursor = server.find_cursor(params.text_document.uri, params.position)
        if cursor is None:
            return None
        here = [one for one in cursor.pack.findings if _covers(server, one, cursor, params.position)]
        note = describe(cursor, here)
        if note is None:
            return None
        asked = server.client_capabilities.text_document
        formats = asked.hover.content_format if asked is not None and asked.hover is not None else None
        return lsp.Hover(_mark(note.text, formats), server.make_range(cursor.text, cursor.line, note.start, note.stop))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "|", " ", "'", '"', "/", ":"]))
    def offer(params: lsp.CompletionParams) -> lsp.CompletionList:
        cursor = server.find_cursor(params.text_document.uri, params.position)
        asked = server.client_capabilities.text_document
        shape = asked.completion.completion_item if asked is not None and asked.completion is not None else None
        formats = shape.documentation_format if shape is not None else None
        items = [
            _make_item(one, at, server.make_range(cursor.text, cursor.line, one.start, one.stop), formats)
            for at, one in enumerate(complete(cursor) if cursor is not None else ())
            if cursor is not None
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def go(params: lsp.DefinitionParams) -> list[lsp.Location]:
        cursor = server.find_cursor(params.text_document.uri, params.position)
        return [lsp.Location(server.make_uri(one.file), server.place(one)) for one in list_targets(cursor)] if cursor is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def count(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        cursor = server.find_cursor(params.text_document.uri, params.range.start)
        return list(_iter_counts(server, cursor, params.range)) if cursor is not None else []

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix], resolve_provider=False)
    )
    def mend(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        cursor = server.find_cursor(params.text_document.uri, params.range.start)
        return list(_iter_actions(server, cursor, params)) if cursor is not None else []


def _iter_actions(server: EditorServer, cursor: Cursor, params: lsp.CodeActionParams) -> Iterator[lsp.CodeAction]:
    """Yield what mends the findings of the request that still stand. A mend that is one of several is not preferred."""
    shown = [(server.describe(one, cursor.path, cursor.pack), one) for one in cursor.pack.findings]
    for told in params.context.diagnostics:
        for found in [one for now, one in shown if (now.code, now.range) == (told.code, told.range)]:
            is_sure = "? Else " not in found.help
            for title, edits in _iter_mends(server, cursor, found):
                edit = lsp.WorkspaceEdit({params.text_document.uri: edits})
                yield lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, diagnostics=[told], edit=edit, is_preferred=is_sure)


def _covers(server: EditorServer, found: Diagnostic, cursor: Cursor, position: lsp.Position) -> bool:
    if found.span is None or name_held(found.span.file) != name_held(cursor.path) or found.span.line != position.line + 1:
        return False
    place = server.place(found.span)
    return place.start.character <= position.character <= place.end.character


def _mark(text: str, formats: Sequence[lsp.MarkupKind] | None) -> lsp.MarkupContent:
    """Return Markdown text, marked as Markdown only if the editor can show it."""
    return lsp.MarkupContent(lsp.MarkupKind.Markdown if lsp.MarkupKind.Markdown in (formats or ()) else lsp.MarkupKind.PlainText, text)


def _make_item(one: Offer, at: int, place: lsp.Range, formats: Sequence[lsp.MarkupKind] | None) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=one.label,
        kind=_KINDS[one.kind],
        detail=one.detail or None,
        documentation=_mark(one.text, formats) if one.text else None,
        sort_text=f"{at:04}",
        filter_text=one.label,
        text_edit=lsp.TextEdit(place, one.insert),
    )


def _iter_counts(server: EditorServer, cursor: Cursor, shown: lsp.Range) -> Iterable[lsp.InlayHint]:
    """Yield the tokens of each section, to show after the line with the section's id."""
    model, counts = cursor.model, cursor.pack.counts
    if model is None or counts is None:
        return
    sections = model.manifest.value["sections"]
    for name, counted in counts.sections.items():
        span = sections.key_span(name) if name in sections.value else None
        if span is None or name_held(_name_file(span, cursor.pack)) != name_held(cursor.path):
            continue
        line = span.line - 1
        if line >= len(cursor.lines) or name not in cursor.lines[line] or not shown.start.line <= line <= shown.end.line:
            continue
        place = server.make_range(cursor.lines[line], line, len(cursor.lines[line]), len(cursor.lines[line])).end
        said = f"with {counts.name}: wants {counted.demand}, takes {counted.charge}"
        yield lsp.InlayHint(place, _show_count(counted), padding_left=True, tooltip=f"{said}; {counted.state}")


def _show_count(counted: SectionCount) -> str:
    cap = f" / {counted.cap:,}".replace(",", " ") if counted.cap is not None else ""
    return f"▸ {counted.charge:,}".replace(",", " ") + f"{cap} tokens"


def _iter_mends(server: EditorServer, cursor: Cursor, found: Diagnostic) -> Iterator[tuple[str, list[lsp.TextEdit]]]:
    """Yield the fixes of a finding, each with a title: remove what the pack does not use, or replace a misspelled name."""
    for fix in list_fixes(cursor.pack.path, [found], server.desk.held):
        if name_held(fix.change.file) == name_held(cursor.path):
            yield "Take it out: every prompt stays as it is", [_make_edit(server, cursor.lines, one) for one in fix.change.edits]
    meant = _MEANT.search(found.help)
    is_here = found.span is not None and name_held(found.span.file) == name_held(cursor.path)
    place = _locate_name(found, cursor.lines, meant[1]) if meant is not None and is_here else None
    if meant is not None and place is not None:
        line, start, stop = place
        yield f"Change to `{meant[1]}`", [lsp.TextEdit(server.make_range(cursor.lines[line], line, start, stop), meant[1])]


def _make_edit(server: EditorServer, lines: Sequence[str], one: Replacement) -> lsp.TextEdit:
    places = ((one.line, one.column), (one.end_line, one.end_column))
    ends = [
        server.make_range(lines[line - 1] if line <= len(lines) else "", line - 1, column - 1, column - 1).start for line, column in places
    ]
    return lsp.TextEdit(lsp.Range(*ends), one.new)


def _locate_name(found: Diagnostic, lines: Sequence[str], meant: str) -> tuple[int, int, int] | None:
    """Return the line and the columns of the name that is to be `meant`, or None if it is not certain where the name is.

    It is the name in the message, or a part of one, that is most like `meant`. It is at the finding, or only once in its line.
    """
    if found.span is None or found.span.line > len(lines):
        return None
    text, start = lines[found.span.line - 1], found.span.column - 1
    named = [(name, quoted) for quoted in _NAMED.findall(found.message) for name in (quoted, *_WORDS.findall(quoted)) if name != meant]
    alike = [(SequenceMatcher(None, name, meant).ratio(), name, quoted) for name, quoted in named]
    for ratio, name, quoted in sorted(alike, key=lambda one: -one[0]):
        if ratio < _LEAST_ALIKE and not meant.endswith(f".{name}"):
            continue
        places = [one.start() for one in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
        at = next((one for one in places if start <= one <= start + len(quoted)), places[0] if len(places) == 1 else None)
        if at is not None:
            return found.span.line - 1, at, at + len(name)
    return None
