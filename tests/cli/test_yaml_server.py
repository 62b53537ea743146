"""What `promptc init` writes for editors, by the YAML language server that they use: the schemas of packs and cases explain every key."""

import json
import shutil

import pytest

from tests.cli.conftest import ROOT

pytest.importorskip("pytest_lsp", reason="needs pytest-lsp")
SERVER = shutil.which("yaml-language-server")
if SERVER is None:
    pytest.skip("needs yaml-language-server: `npm install -g yaml-language-server`", allow_module_level=True)

from tests.cli.editing import Editor  # noqa: E402

TEMPLATES = sorted(path.parent.name for path in (ROOT / "starters").glob("*/pack.yaml"))


@pytest.fixture
def editor(run, tmp_path):
    """A server for a new pack whose files do not name their schemas: the settings of its `.vscode` do."""
    assert run("init", str(tmp_path / "named")).code == 0
    settings = json.loads((tmp_path / "named" / ".vscode" / "settings.json").read_text(encoding="utf-8"))
    schemas = {(tmp_path / "named" / name).as_uri(): f"named/{pattern}" for name, pattern in settings["yaml.schemas"].items()}
    told = {"schemaStore": {"enable": False}, "hover": True, "completion": True, "validate": True, "schemas": schemas}
    editor = Editor(tmp_path)
    editor.client.set_configuration({"yaml": told})
    editor.start([SERVER, "--stdio"])
    yield editor
    editor.stop()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_pack_has_no_findings(template, editor, run, tmp_path):
    assert run("init", str(tmp_path / "pack"), "--template", template).code == 0
    for path in sorted((tmp_path / "pack").rglob("*.yaml")):
        if path.name in ("pack.yaml", "case.yaml"):
            editor.open(path)
            assert editor.await_found(path, lambda found: True) == []


def test_a_key_is_explained_and_a_wrong_one_told(editor, run, tmp_path):
    assert run("init", str(tmp_path / "pack")).code == 0
    manifest = tmp_path / "pack" / "pack.yaml"
    text = manifest.read_text(encoding="utf-8")
    editor.open(manifest)
    editor.await_found(manifest, lambda found: True)
    assert "The cap of the section" in editor.hover(manifest, text, "budget: 80", 2)
    assert "How far back the section looks" in editor.hover(manifest, text, "window:", 2)
    editor.change(manifest, text.replace("header:", "heeder:", 1))
    (found,) = editor.await_found(manifest, bool)
    assert "heeder" in found.message


def test_what_names_no_schema_goes_by_the_settings_of_the_folder(editor, tmp_path):
    for path, mark, said in (
        (tmp_path / "named" / "pack.yaml", "budget: 80", "The cap of the section"),
        (tmp_path / "named" / "cases" / "first" / "case.yaml", "golden:", "The outputs that are compared"),
    ):
        head, _, text = path.read_text(encoding="utf-8").partition("\n")
        assert head.startswith("# yaml-language-server")
        editor.open(path, text)
        assert editor.await_found(path, lambda found: True) == []
        assert said in editor.hover(path, text, mark, 2)
