"""An editor that drives `promptc lsp` over standard input and output, as a client of the protocol does.

`python -m tests.cli.editing PACK ...` prints how long a finding takes behind a keystroke.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, START

lsp = pytest.importorskip("lsprotocol.types", reason="needs the extra `lsp`")
pytest_lsp = pytest.importorskip("pytest_lsp", reason="needs pytest-lsp")

_PATIENCE = 30
"""Seconds in which anything must have come."""


class Editor:
    """An editor with one server. It knows its files by path, and sends whole texts."""

    def __init__(self, folder: Path, capabilities: Any = None) -> None:
        self.folder = folder
        self.runner = asyncio.Runner()
        self.client = pytest_lsp.make_test_lsp_client()
        self.refreshed = 0
        self._versions: dict[Path, int] = {}
        self.capabilities = capabilities or lsp.ClientCapabilities(
            text_document=lsp.TextDocumentClientCapabilities(
                publish_diagnostics=lsp.PublishDiagnosticsClientCapabilities(
                    related_information=True, code_description_support=True, data_support=True, version_support=True
                ),
                inlay_hint=lsp.InlayHintClientCapabilities(),
                completion=lsp.CompletionClientCapabilities(
                    completion_item=lsp.ClientCompletionItemOptions(documentation_format=[lsp.MarkupKind.Markdown])
                ),
                hover=lsp.HoverClientCapabilities(content_format=[lsp.MarkupKind.Markdown]),
            ),
            workspace=lsp.WorkspaceClientCapabilities(
                configuration=True, inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
            ),
        )

        @self.client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(params: Any) -> None:
            self.refreshed += 1

    def start(self, command: Sequence[str] = (sys.executable, "-c", START, "lsp"), **options: Any) -> Any:
        """Starts the server, and gives what it says that it can."""

        async def begin() -> Any:
            await self.client.start_io(*command)
            params = lsp.InitializeParams(capabilities=self.capabilities, root_uri=self.folder.as_uri(), **options)
            return await self.client.initialize_session(params)

        return self.runner.run(begin())

    def stop(self) -> int:
        """Ends the server as an editor does. Gives its exit code."""

        async def end() -> int:
            await self.client.shutdown_session()
            code = self.client._server.returncode
            await self.client.stop()
            return int(code)

        code = self.runner.run(end())
        self.runner.close()
        return code

    def open(self, path: Path, text: str | None = None) -> None:
        self._versions[path] = 1
        language = {".yaml": "yaml", ".json": "json"}.get(path.suffix, "jinja")
        document = lsp.TextDocumentItem(path.as_uri(), language, 1, path.read_text(encoding="utf-8") if text is None else text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))

    def change(self, path: Path, text: str) -> int:
        """Puts another text into an open file, which is not saved. Gives its version."""
        self._versions[path] += 1
        document = lsp.VersionedTextDocumentIdentifier(uri=path.as_uri(), version=self._versions[path])
        changes = [lsp.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))
        return self._versions[path]

    def close(self, path: Path) -> None:
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(path.as_uri())))

    def list_found(self, path: Path) -> list[Any]:
        return list(self.client.diagnostics.get(path.as_uri(), ()))

    def await_found(self, path: Path, holds: Callable[[list[Any]], bool]) -> list[Any]:
        """The findings at a file, when they are as they should be."""

        async def wait() -> None:
            for _ in range(_PATIENCE * 100):
                if path.as_uri() in self.client.diagnostics and holds(self.list_found(path)):
                    return
                await asyncio.sleep(0.01)
            raise AssertionError(f"never came: {self.list_found(path)}")

        self.runner.run(wait())
        return self.list_found(path)

    def await_codes(self, path: Path, *codes: str) -> list[Any]:
        return self.await_found(path, lambda found: sorted({one.code for one in found}) == sorted(codes))

    def type(self, path: Path, text: str, name: str) -> float:
        """Puts another text into an open file, and gives the milliseconds until a finding names `name`."""

        async def wait() -> float:
            begun = time.perf_counter()
            self.change(path, text)
            while not any(name in one.message for one in self.list_found(path)):
                if time.perf_counter() - begun > _PATIENCE:
                    raise AssertionError(f"never came: {self.list_found(path)}")
                await asyncio.sleep(0.001)
            return (time.perf_counter() - begun) * 1000

        return self.runner.run(wait())

    def ask(self, method: str, params: Any) -> Any:
        return self.runner.run(asyncio.wait_for(self.client.protocol.send_request_async(method, params), _PATIENCE))

    def ask_all(self, path: Path, line: int, column: int) -> list[Any]:
        """All that can be asked about a place."""
        place = {"text_document": lsp.TextDocumentIdentifier(path.as_uri()), "position": lsp.Position(line, column)}
        return [
            self.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**place)),
            self.ask(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionParams(**place)),
            self.ask(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(**place)),
        ]

    def place(self, path: Path, text: str, mark: str, behind: int = 0) -> Any:
        """The parameters of a question about the place of `mark` in a text, so many characters behind it."""
        at = text.index(mark) + behind
        line = text.count("\n", 0, at)
        units = len(text[text.rfind("\n", 0, at) + 1 : at].encode("utf-16-le")) // 2
        return {"text_document": lsp.TextDocumentIdentifier(path.as_uri()), "position": lsp.Position(line, units)}

    def hover(self, path: Path, text: str, mark: str, behind: int = 0) -> str:
        found = self.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**self.place(path, text, mark, behind)))
        return found.contents.value if found is not None else ""

    def complete(self, path: Path, text: str, mark: str) -> dict[str, Any]:
        """What may stand behind a mark, by its label."""
        params = lsp.CompletionParams(**self.place(path, text, mark, len(mark)))
        return {one.label: one for one in self.ask(lsp.TEXT_DOCUMENT_COMPLETION, params).items}

    def go(self, path: Path, text: str, mark: str, behind: int = 1) -> list[tuple[str, int]]:
        """Where what stands at a mark comes from: the file's name and the line, from 1."""
        found = self.ask(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(**self.place(path, text, mark, behind)))
        return [(one.uri.rpartition("/")[2], one.range.start.line + 1) for one in found]

    def list_hints(self, path: Path) -> dict[int, str]:
        place = lsp.Range(lsp.Position(0, 0), lsp.Position(10_000, 0))
        params = lsp.InlayHintParams(lsp.TextDocumentIdentifier(path.as_uri()), place)
        return {one.position.line + 1: one.label for one in self.ask(lsp.TEXT_DOCUMENT_INLAY_HINT, params)}


def measure(pack: Path, count: int) -> dict[str, list[float]]:
    """Milliseconds from a keystroke to the finding about it: of wrong keys of the manifest, and of wrong names in a template."""
    editor, manifest, template = Editor(pack), pack / "pack.yaml", min(pack.rglob("*.j2"))
    texts = {path: path.read_text(encoding="utf-8") for path in (manifest, template)}
    editor.start()
    for path in texts:
        editor.open(path)
    editor.await_found(manifest, lambda found: True)
    took: dict[str, list[float]] = {"key": [], "name": []}
    for at in range(count):
        editor.runner.run(asyncio.sleep(0.1 + 0.4 * (at % 4)))  # typing on, or while the rules are asked
        took["key"].append(editor.type(manifest, f"{texts[manifest]}\nkey{at}x: 1\n", f"key{at}x"))
        editor.change(manifest, texts[manifest])
        editor.runner.run(asyncio.sleep(0.1 + 0.4 * (at % 4)))
        took["name"].append(editor.type(template, f"{texts[template]}\n{{{{ name{at}x }}}}\n", f"name{at}x"))
        editor.change(template, texts[template])
    editor.stop()
    return took


def main(packs: list[str]) -> None:
    """Prints the figures of packs."""
    for pack in packs:
        for what, took in measure(ROOT / pack, 20).items():
            print(f"{pack}: a wrong {what}: median {statistics.median(took):.0f} ms, worst of {len(took)} {max(took):.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1:] or ["packs/tidepool", "packs/companion"])
