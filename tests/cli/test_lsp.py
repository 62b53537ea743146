"""`promptc lsp`, driven by a client over standard input and output, as an editor drives it."""

import asyncio
import json
import re
import shutil
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT
from tests.cli.editing import Editor
from tools.make_pictures import BLOCK

lsp = pytest.importorskip("lsprotocol.types", reason="needs the extra `lsp`")
pytest_lsp = pytest.importorskip("pytest_lsp", reason="needs pytest-lsp")
JsonRpcException = pytest.importorskip("pygls.exceptions").JsonRpcException

_PATIENCE = 30
"""Seconds in which anything must have come."""


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One editor for all tests of this module, each with packs of its own."""
    editor = Editor(tmp_path_factory.mktemp("work"))
    editor.start()
    yield editor
    assert editor.stop() == 0


@pytest.fixture
def chat(editor: Editor, tmp_path: Path) -> Path:
    """A copy of the starter `chat`, with its cases."""
    return _copy(tmp_path, "chat")


def _copy(folder: Path, name: str) -> Path:
    target = folder / name
    shutil.copytree(ROOT / "starters" / name, target)
    return target


def test_findings_come_while_a_manifest_is_typed(editor, chat):
    manifest = chat / "pack.yaml"
    text = manifest.read_text(encoding="utf-8")
    editor.open(manifest)
    assert editor.await_codes(manifest) == []

    version = editor.change(manifest, text.replace("pinned: true", "pined: true", 1))
    (found,) = editor.await_codes(manifest, "PC0201")
    line = text[: text.index("pinned: true")].count("\n")
    assert (found.range.start.line, found.range.start.character, found.range.end.character) == (line, 4, 9)
    assert found.severity == lsp.DiagnosticSeverity.Error
    assert found.source == "promptc"
    assert found.code_description.href.endswith("/reference/codes.html#pc0201")
    assert "did you mean `pinned`?" in found.message
    assert version == 2

    editor.change(manifest, text)
    assert editor.await_codes(manifest) == []
    assert manifest.read_text(encoding="utf-8") == text, "nothing is ever written"


def test_columns_are_counted_as_the_editor_counts_them(editor, chat):
    manifest, rules = chat / "pack.yaml", chat / "templates" / "rules.md.j2"
    editor.open(manifest)
    editor.open(rules, "\U0001f409\U0001f409 né {{ state.nobody }}\n")
    (found,) = editor.await_codes(rules, "PC0635")
    assert (found.range.start.line, found.range.start.character) == (0, 17), "each dragon is two units of UTF-16"
    assert found.range.end.character == 17 + len("nobody")


def test_what_is_open_goes_before_what_is_on_the_disk(editor, chat):
    manifest, rules, schema = chat / "pack.yaml", chat / "templates" / "rules.md.j2", chat / "state.schema.json"
    declared = schema.read_text(encoding="utf-8")
    editor.open(manifest)
    editor.open(rules, rules.read_text(encoding="utf-8") + "{{ state.weather }}\n")
    editor.await_codes(rules, "PC0635")
    editor.open(schema, declared.replace('"properties": {', '"properties": {"weather": {"type": "string", "default": "fog"},', 1))
    editor.await_codes(rules)
    assert schema.read_text(encoding="utf-8") == declared
    editor.close(schema)
    editor.await_codes(rules, "PC0635")
    editor.close(rules)
    editor.await_codes(rules)


def test_a_broken_file_is_told_of_and_the_last_good_pack_serves_the_rest(editor, chat):
    manifest, rules = chat / "pack.yaml", chat / "templates" / "rules.md.j2"
    text = manifest.read_text(encoding="utf-8")
    editor.open(manifest)
    editor.open(rules)
    editor.await_codes(manifest)
    editor.change(manifest, text + "tools: [\n")
    editor.await_codes(manifest, "PC0110")
    template = rules.read_text(encoding="utf-8")
    assert "Who answers" in editor.hover(rules, template, "guide.name", 2)
    broken = template + "{% if state.facts %}"
    editor.change(rules, broken)
    editor.change(manifest, text)
    (found,) = editor.await_codes(rules, "PC0401")
    assert found.range.start.line == broken.count("\n")


def test_everything_that_check_finds_is_told_with_its_places(editor, tmp_path):
    """Also what takes long to find, at the level that `promptc check` gives it, and what another line has to do with it."""
    folder = _copy(tmp_path, "chat")
    manifest = folder / "pack.yaml"
    text = manifest.read_text(encoding="utf-8").replace("  - id: input\n", "  - id: recent\n")
    editor.open(manifest, text)
    found = editor.await_codes(manifest, "PC0240")
    (related,) = found[0].related_information
    assert related.location.uri == manifest.as_uri()
    assert related.location.range.start.line == text[: text.index("- id: recent")].count("\n")

    text = manifest.read_text(encoding="utf-8").replace("\nsections:", "\ndefine: {shout: state.input | upper}\nsections:", 1)
    editor.change(manifest, text)
    (found,) = editor.await_found(manifest, lambda found: bool(found) and found[0].code > "PC06")
    assert found.severity == lsp.DiagnosticSeverity.Warning
    assert "shout" in found.message


def test_hovers_tell_of_keys_properties_filters_and_rules(editor, chat):
    manifest, rules = chat / "pack.yaml", chat / "templates" / "rules.md.j2"
    text = manifest.read_text(encoding="utf-8")
    editor.open(manifest)
    editor.await_codes(manifest)
    assert "The cap of the section" in editor.hover(manifest, text, "budget: 80", 2)
    assert "How far back the section looks" in editor.hover(manifest, text, "window:", 2)
    assert "What is kept for the reply" in editor.hover(manifest, text, "reserve:", 2) or "reply" in editor.hover(
        manifest, text, "reserve:", 2
    )
    assert "What is known. The facts of greatest weight stay longest." in editor.hover(manifest, text, "state.facts", 8)
    assert "a number" in editor.hover(manifest, text, "item.weight", 7)

    template = "{% for fact in state.facts %}{{ fact.text | truncate_at('word', chars=40) }}{% endfor %}\n"
    editor.open(rules, template)
    assert editor.hover(rules, template, "fact.text", 6).startswith("**`fact.text`** a string")
    assert "truncate_at(" in editor.hover(rules, template, "truncate_at", 3)
    editor.change(rules, "{{ state.nobody }}\n")
    editor.await_codes(rules, "PC0635")
    assert "[PC0635](" in editor.hover(rules, "{{ state.nobody }}\n", "nobody", 2)


def test_completion_of_a_manifest_knows_the_place(editor, chat):
    manifest = chat / "pack.yaml"
    text = manifest.read_text(encoding="utf-8")
    editor.open(manifest)
    editor.await_codes(manifest)

    def complete(written: str, mark: str) -> dict[str, Any]:
        editor.change(manifest, written)
        return editor.complete(manifest, written, mark)

    found = complete(text.replace("    role: user\n    header", "    role: user\n    wh\n    header", 1), "    wh")
    assert {"when", "budget", "pinned"} <= found.keys()
    assert not {"role", "header", "id", "items", "tokenizer"} & found.keys(), "neither what is there, nor what belongs elsewhere"
    assert found["when"].text_edit.new_text == "when: "
    assert {"limit", "sort", "dedupe", "where"} <= complete(text.replace("      window:", "      li\n      window:"), "      li").keys()
    found = complete(text.replace("{last: 12}", "{last: 12, }"), "{last: 12, ")
    assert {"min", "step"} <= found.keys()
    assert "last" not in found
    assert {"strain", "pools", "output"} <= complete(text + "\nst", "\nst").keys()
    assert {"true", "false"} <= complete(text.replace("pinned: true", "pinned: ", 1), "pinned: ").keys()
    assert {"rules", "facts", "recent", "input"} <= complete(text + "  - \n", "facts\n  - ").keys()
    assert "templates/rules.md.j2" in complete(text.replace("templates/rules.md.j2", "te", 1), "template: te")
    assert {"item", "turn", "group"} & complete(text.replace("evict: {}", "evict: {whole: }"), "evict: {whole: ").keys()
    editor.change(manifest, text)


def test_completion_inside_code_goes_by_the_states_schema(editor, chat):
    manifest, rules = chat / "pack.yaml", chat / "templates" / "rules.md.j2"
    editor.open(manifest)
    editor.open(rules)
    editor.await_codes(manifest)

    def complete(written: str) -> dict[str, Any]:
        editor.change(rules, written)
        return editor.complete(rules, written, written.rstrip("\n"))

    assert complete("{{ state.").keys() == {"input", "guide", "facts", "turns"}
    assert complete("{{ state.guide.").keys() == {"name", "manner"}
    assert "a string" in complete("{{ state.guide.")["name"].detail
    assert complete("{% for fact in state.facts | sort(attribute='weight') %}{{ fact.").keys() == {"name", "text", "weight"}
    assert complete("{% set who = state.guide %}{{ who.").keys() == {"name", "manner"}
    assert {"truncate_at", "join", "mentions"} <= complete("{{ state.input | ").keys()
    assert {"defined", "none"} <= complete("{% if state.input is ").keys()
    assert {"state", "section", "range"} <= complete("{{ ").keys()
    assert {"if", "for", "include"} <= complete("{% ").keys()
    assert complete("plain text state.") == {}
    assert "templates/rules.md.j2" in complete("{% include '")

    text = manifest.read_text(encoding="utf-8")
    written = text.replace("by: item.weight", "by: item.")
    editor.change(manifest, written)
    assert editor.complete(manifest, written, "by: item.").keys() == {"name", "text", "weight"}
    written = text.replace("{{ item.who }}", "{{ item. }}")
    editor.change(manifest, written)
    assert editor.complete(manifest, written, 'text: "{{ item.').keys() == {"who", "text"}


def test_definitions_lead_to_files_properties_and_sections(editor, tmp_path):
    folder = _copy(tmp_path, "chat")
    manifest, rules = folder / "pack.yaml", folder / "templates" / "rules.md.j2"
    text = manifest.read_text(encoding="utf-8").replace(
        "\nsections:", "\ndefine:\n  polite(who): who.manner ~ '!'\nlet:\n  guide: state.guide\nsections:", 1
    )
    template = "{% include 'templates/tail.j2' %}{{ state.guide.manner }} {{ polite(guide) }}\n"
    (folder / "templates" / "tail.j2").write_text("bye\n", encoding="utf-8")
    schema = (folder / "state.schema.json").read_text(encoding="utf-8").split("\n")
    editor.open(manifest, text)
    editor.open(rules, template)
    editor.await_codes(manifest)
    assert editor.go(manifest, text, "templates/rules.md.j2", 3) == [("rules.md.j2", 1)]
    assert editor.go(manifest, text, "state.schema.json", 3) == [("state.schema.json", 1)]
    facts = next(at for at, line in enumerate(schema, 1) if '"facts": {' in line)
    assert editor.go(manifest, text, "from: state.facts", 13) == [("state.schema.json", facts)]
    manner = next(at for at, line in enumerate(schema, 1) if '"manner": {' in line)
    assert editor.go(rules, template, "state.guide.manner", 14) == [("state.schema.json", manner)]
    assert editor.go(rules, template, "templates/tail", 3) == [("tail.j2", 1)]
    assert editor.go(rules, template, "polite", 2) == [("pack.yaml", text[: text.index("polite(who)")].count("\n") + 1)]
    assert editor.go(manifest, text, "  - recent ", 6) == [("pack.yaml", text[: text.index("- id: recent")].count("\n") + 1)]


def test_hints_tell_what_each_section_takes(editor, chat):
    manifest = chat / "pack.yaml"
    text = manifest.read_text(encoding="utf-8")
    editor.open(manifest)
    editor.await_codes(manifest)
    shown = _await_hints(editor, manifest)
    line = text[: text.index("- id: facts")].count("\n") + 1
    assert shown[line].startswith("▸ ")
    assert shown[line].endswith(" / 80 tokens")
    editor.change(manifest, "\n" + text.replace("budget: 80 ", "budget: 20 "))
    shown = _await_hints(editor, manifest, lambda shown: shown.get(line + 1, "").endswith(" / 20 tokens"))
    assert line not in shown


def test_hints_are_of_the_state_that_the_settings_name(tmp_path):
    folder, editor = _copy(tmp_path, "chat"), Editor(tmp_path)
    (folder / "cases").rename(tmp_path / "cases")
    manifest = folder / "pack.yaml"
    editor.client.set_configuration({"promptc": {"state": "long.json"}})
    editor.start()
    editor.open(manifest)
    long = _await_hints(editor, manifest)
    editor.client.set_configuration({"promptc": {"state": "state.json"}})
    editor.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    short = _await_hints(editor, manifest, lambda shown: shown != long)
    assert short.keys() == long.keys()
    editor.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams({"promptc": {"state": "../outside.json"}}))
    editor.change(manifest, manifest.read_text(encoding="utf-8") + "\n")
    assert editor.await_codes(manifest) == [] and editor.list_hints(manifest) == short
    assert editor.stop() == 0


def _await_hints(editor: Editor, path: Path, holds: Callable[[dict[int, str]], bool] = bool) -> dict[int, str]:
    for _ in range(_PATIENCE * 10):
        shown = editor.list_hints(path)
        if holds(shown):
            return shown
        editor.runner.run(asyncio.sleep(0.1))
    raise AssertionError(f"never came: {shown}")


def _mend(editor: Editor, path: Path, text: str, found: Any) -> tuple[str, str]:
    """The title of the one action that a finding offers, and the text with its edits made."""
    params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(path.as_uri()), found.range, lsp.CodeActionContext(diagnostics=[found]))
    (action,) = editor.ask(lsp.TEXT_DOCUMENT_CODE_ACTION, params)
    ((uri, edits),) = action.edit.changes.items()
    assert uri == path.as_uri() and [*action.diagnostics] == [found]
    starts = [0, *(at + 1 for at, one in enumerate(text) if one == "\n")]
    for one in sorted(edits, key=lambda one: -one.range.start.line):
        start, stop = (starts[place.line] + place.character for place in (one.range.start, one.range.end))
        text = text[:start] + one.new_text + text[stop:]
    return action.title, text


def test_a_name_that_is_nearly_right_is_mended_by_an_action(editor, chat):
    manifest, rules = chat / "pack.yaml", chat / "templates" / "rules.md.j2"
    text = manifest.read_text(encoding="utf-8")
    wrong = text.replace("header:", "heeder:", 1)
    editor.open(manifest, wrong)
    (found,) = editor.await_codes(manifest, "PC0201")
    assert _mend(editor, manifest, wrong, found) == ("Change to `header`", text)
    editor.change(manifest, text)
    editor.await_codes(manifest)
    editor.open(rules, "{{ state.guide.nmae }}\n")
    (found,) = editor.await_codes(rules, "PC0635")
    assert _mend(editor, rules, "{{ state.guide.nmae }}\n", found) == ("Change to `name`", "{{ state.guide.name }}\n")


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("{% endif %}", "{% ednif %}", "PC0401"),
        ("{{ state.input | truncate_at('word', chars=40) }}", "{{ state.input | truncate_at('word', chasr=40) }}", "PC0424"),
        ("{% if state.guide is defined %}{% endif %}", "{% if state.guide is dfeined %}{% endif %}", "PC0407"),
        ("{{ state.guide.manner }} {{ state.guide.name }}", "{{ state.guide.manner }} {{ state.guide.nmae }}", "PC0635"),
    ],
)
def test_only_the_name_is_mended(right, wrong, code, editor, chat):
    rules = chat / "templates" / "rules.md.j2"
    whole = rules.read_text(encoding="utf-8").replace("{% endif %}\n", "")
    text = f"{whole}{wrong}\n" if code == "PC0401" else f"{wrong}\n"
    editor.open(rules, text)
    (found,) = editor.await_codes(rules, code)
    assert _mend(editor, rules, text, found)[1] == text.replace(wrong, right)


def test_a_name_that_is_wrong_elsewhere_is_not_changed_where_it_is_used(editor, chat):
    """The definition has the misspelt name, and the finding is at its use."""
    manifest, rules = chat / "pack.yaml", chat / "templates" / "rules.md.j2"
    define = "\ndefine: {my_name: state.guide.nmae}\nsections:"
    editor.open(manifest, manifest.read_text(encoding="utf-8").replace("\nsections:", define, 1))
    editor.open(rules, "{{ my_name }}\n")
    (found,) = editor.await_codes(rules, "PC0635")
    assert "did you mean `name`?" in found.message
    params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(rules.as_uri()), found.range, lsp.CodeActionContext(diagnostics=[found]))
    assert not editor.ask(lsp.TEXT_DOCUMENT_CODE_ACTION, params)


def test_a_path_with_spaces_and_signs_is_told_as_the_editor_spells_it(editor, tmp_path):
    folder = _copy(tmp_path / "a b%41é", "chat")
    rules = folder / "templates" / "rules.md.j2"
    editor.open(rules, "{{ state.guide.nmae }}\n")
    (found,) = editor.await_codes(rules, "PC0635")
    assert _mend(editor, rules, "{{ state.guide.nmae }}\n", found)[1] == "{{ state.guide.name }}\n"


def test_what_a_pack_has_no_use_for_is_taken_out_by_an_action(editor, tmp_path):
    """As `promptc check --fix` takes it out, of the text that is typed and not of the file."""
    folder = tmp_path / "mend"
    shutil.copytree(ROOT / "fixtures" / "mend" / "definition", folder)
    manifest = folder / "pack.yaml"
    text = "# typed\n" + manifest.read_text(encoding="utf-8")
    editor.open(manifest, text)
    first, *_ = editor.await_codes(manifest, "PC0639")
    title, mended = _mend(editor, manifest, text, first)
    assert title == "Take it out: every prompt stays as it is"
    gone = [line for line in text.split("\n") if line not in mended.split("\n")]
    assert gone and all("old" in line for line in gone)
    editor.change(manifest, mended)
    editor.await_found(manifest, lambda found: [one.message for one in found] != [one.message for one in (first, *_)])


def test_what_makes_no_sense_is_answered_and_the_server_goes_on(editor, chat):
    manifest = chat / "pack.yaml"
    text = manifest.read_text(encoding="utf-8")
    editor.open(manifest)
    editor.await_codes(manifest)
    strange = {"text_document": lsp.TextDocumentIdentifier("untitled:new"), "position": lsp.Position(9_999, 9_999)}
    assert editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**strange)) is None
    far = {"text_document": lsp.TextDocumentIdentifier(manifest.as_uri()), "position": lsp.Position(9_999, 9_999)}
    assert editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**far)) is None
    assert not editor.ask(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionParams(**far)).items
    assert editor.ask(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(**far)) in (None, (), [])
    object.__setattr__(far["position"], "line", -1)
    with pytest.raises(JsonRpcException):
        editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**far))
    for broken in (
        "",
        "\0",
        "\ufeff",
        "{",
        "- -\n -",
        "promptc: 1\nsections:\n  - {",
        "a: |\n b\n  c",
        "\u2028x:\x0c",
        "&a [*a]",
        "? x\n: y",
        "🐉: 🐉",
    ):
        editor.change(manifest, broken)
        for line in range(broken.count("\n") + 1):
            place = {"text_document": lsp.TextDocumentIdentifier(manifest.as_uri()), "position": lsp.Position(line, 3)}
            editor.ask(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionParams(**place))
            editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**place))
            editor.ask(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(**place))
    editor.change(manifest, text)
    editor.await_codes(manifest)


def test_only_a_file_of_this_machine_is_one(editor, chat):
    """An editor opens an earlier version beside the file, and closes it again: that is not the file."""
    manifest = chat / "pack.yaml"
    editor.open(manifest, manifest.read_text(encoding="utf-8").replace("header:", "heeder:", 1))
    editor.await_codes(manifest, "PC0201")
    for uri in (f"git:{manifest}", f"untitled:{manifest}", "file://[::1", "file:///a%00b", "http://[", ""):
        document = lsp.TextDocumentIdentifier(uri)
        assert editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(document, lsp.Position(0, 0))) is None
        editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
    editor.change(manifest, manifest.read_text(encoding="utf-8").replace("header:", "heeder:", 1))
    editor.await_codes(manifest, "PC0201")
    place = {"text_document": lsp.TextDocumentIdentifier(f"git:{manifest}"), "position": lsp.Position(0, 2)}
    assert editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**place)) is None


@pytest.mark.parametrize("is_added", [False, True])
def test_no_pack_is_looked_for_above_the_folder_of_the_editor(is_added, tmp_path):
    folder = _copy(tmp_path, "chat")
    inner = folder / "templates"
    editor = Editor(folder / "cases" if is_added else inner)
    editor.start()
    if is_added:
        event = lsp.WorkspaceFoldersChangeEvent([lsp.WorkspaceFolder(inner.as_uri(), "inner")], [])
        editor.client.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))
    rules = folder / "templates" / "rules.md.j2"
    text = "{{ state.nobody }}"
    editor.open(rules, text)
    other = _copy(tmp_path / "other", "chat") / "pack.yaml"
    editor.open(other, other.read_text(encoding="utf-8").replace("header:", "heeder:", 1))
    editor.await_codes(other, "PC0201")  # by then, a pack of `rules` would be loaded
    assert editor.hover(rules, text, "nobody", 2) == "" and editor.list_found(rules) == []
    assert editor.stop() == 0


def test_a_pack_whose_files_are_all_closed_is_let_go_of(editor, chat):
    manifest = chat / "pack.yaml"
    editor.open(manifest, manifest.read_text(encoding="utf-8").replace("header:", "heeder:", 1))
    editor.await_codes(manifest, "PC0201")
    editor.close(manifest)
    assert editor.await_codes(manifest) == []


def test_a_manifest_that_comes_and_goes_beside_an_open_template_is_seen(editor, chat):
    manifest, rules = chat / "pack.yaml", chat / "templates" / "rules.md.j2"
    text = manifest.read_text(encoding="utf-8")

    def tell(kind: Any) -> None:
        event = lsp.FileEvent(manifest.as_uri(), kind)
        editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))

    manifest.unlink()
    editor.open(rules, "{{ state.nobody }}\n")
    manifest.write_text(text, encoding="utf-8")
    tell(lsp.FileChangeType.Created)
    editor.await_codes(rules, "PC0635")
    manifest.unlink()
    tell(lsp.FileChangeType.Deleted)
    assert editor.await_codes(rules) == []
    assert editor.await_codes(manifest) == []


@pytest.mark.parametrize("how", ["forget", "end"])
def test_a_check_that_nobody_waits_for_is_aborted(how, monkeypatch):
    """A closed pack must not keep others waiting, and no work must keep the process alive."""
    from promptc.workshop.desk import Desk, OpenPack
    from promptc.workshop.editor import EditorServer

    server, begun, ended = EditorServer(), threading.Event(), threading.Event()
    pack = OpenPack("/nowhere/pack.yaml", Desk())
    server.desk.packs[pack.path] = pack

    def check(pause: Callable[[], None]) -> None:
        begun.set()
        try:
            last = time.monotonic() + _PATIENCE
            while time.monotonic() < last:
                pause()
                time.sleep(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(pack, "load", lambda: True)
    monkeypatch.setattr(pack, "check", check)
    monkeypatch.setattr(server, "publish", lambda pack: server._told.setdefault(pack.path, frozenset()))

    async def open_and_leave() -> None:
        server.look([pack])
        while not begun.is_set():
            await asyncio.sleep(0.01)
        if how == "forget":
            server.forget(server.desk.packs.pop(pack.path))
            await asyncio.to_thread(ended.wait, _PATIENCE / 3)

    asyncio.run(open_and_leave())
    server.end()
    assert ended.wait(_PATIENCE / 3)


@pytest.mark.parametrize("body", [b"{", b"[1]", b"5", b"\xff", b"[" * 50_000, b'{"jsonrpc": "2.0", "id": {}, "method": "x"}'])
@pytest.mark.parametrize("head", [b"", b"Content-Length: 99999999999999\r\n\r\n", b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n"])
def test_a_broken_frame_ends_the_session_or_is_answered(start, tmp_path, head, body):
    frame = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    done = start("lsp", stdin=frame + head + b"{}", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")


def test_a_server_whose_editor_is_gone_ends(tmp_path):
    editor = Editor(tmp_path)
    editor.start()
    server = editor.client._server

    async def leave() -> int:
        server.stdin.close()
        return await asyncio.wait_for(server.wait(), _PATIENCE)

    assert editor.runner.run(leave()) == 0
    editor.runner.run(editor.client.stop())
    editor.runner.close()


@pytest.mark.parametrize(
    ("title", "read", "words"),
    [
        (".vscode/settings.json", json.loads, lambda told: [told["glspc.server.command"], *told["glspc.server.commandArguments"]]),
        (".helix/languages.toml", tomllib.loads, lambda told: [(one := told["language-server"]["promptc"])["command"], *one["args"]]),
        (
            ".zed/settings.json",
            json.loads,
            lambda told: [(one := told["lsp"]["yaml-language-server"]["binary"])["path"], *one["arguments"]],
        ),
        ("init.lua", str, lambda told: re.findall(r'"([^"]+)"', re.search(r"cmd = \{([^}]*)\}", told)[1])),
    ],
)
def test_each_editor_of_the_guide_starts_the_server(title, read, words):
    guide = (ROOT / "docs" / "guides" / "editors.md").read_text(encoding="utf-8")
    (content,) = (content for _, name, content in BLOCK.findall(guide) if name == title)
    assert words(read(content)) == ["promptc", "lsp"]
