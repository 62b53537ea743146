"""What `promptc check` believes of what it found before: nothing, once a file or folder that it looked at is another."""

import json
import shutil

import pytest

from promptc.check import registry
from promptc.diag.findings import PromptcError
from promptc.files import reading
from tests.cli.conftest import ROOT

PACK = """\
promptc: 1
name: kept
version: 1.0.0
tokenizer: cl100k_base
budget: 400
state: {schema: state.schema.json}
sections:
  - {id: rules, template: rules.md}
"""
SCHEMA = {"type": "object", "properties": {"turn": {"type": "integer"}}}


@pytest.fixture
def asked(monkeypatch):
    """The packs whose rules were asked."""
    packs = []
    check = registry.check_pack
    monkeypatch.setattr(registry, "check_pack", lambda pack: packs.append(pack.file) or check(pack))
    return packs


@pytest.fixture
def there(monkeypatch, tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "pack/rules.md").write_text("Be brief.\n", encoding="utf-8")
    (tmp_path / "pack/state.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_was_found_is_said_again_without_a_rule_being_asked(there, run, asked):
    first = run("check", "pack", "--verbose")
    assert "PC0654" in first.out or "PC0655" in first.out
    assert [run("check", "pack", "--verbose"), run("check", "--verbose", "pack")] == [first, first]
    assert len(asked) == 1
    assert json.loads(run("check", "pack", "--verbose", "--format", "json").out)
    assert len(asked) == 1


@pytest.mark.parametrize("more", [("--no-cache",), ("--sources",), ("--model", "gpt-4o"), ("--models", "models.toml")], ids=" ".join)
def test_what_was_asked_otherwise_is_asked_anew(more, there, run, asked):
    (there / "models.toml").write_text('as_of = "2026-01-01"\n', encoding="utf-8")
    run("check", "pack")
    run("check", "pack", *more)
    assert len(asked) >= 2


@pytest.mark.parametrize("more", [("--no-cache",), ("--sources",)], ids=" ".join)
def test_what_may_be_another_outside_is_asked_each_time(more, there, run, asked):
    for _ in range(2):
        run("check", "pack", *more)
    assert len(asked) == 2


def test_another_table_of_models_is_noticed(there, run, asked):
    table = there / "models.toml"
    for text in ('as_of = "2026-01-01"\n', 'as_of = "2026-01-02"\n'):
        table.write_text(text, encoding="utf-8")
        first = run("check", "pack", "--models", "models.toml", "--model", "gpt-4o")
        assert run("check", "pack", "--models", "models.toml", "--model", "gpt-4o") == first
    assert len(asked) >= 2


def test_one_that_cannot_be_loaded_is_loaded_each_time(there, run, asked):
    (there / "pack/rules.md").unlink()
    assert run("check", "pack") == run("check", "pack") and run("check", "pack").code == 3
    (there / "pack/rules.md").write_text("Be brief.\n", encoding="utf-8")
    assert run("check", "pack").code == 0


def _copy(there, *folders):
    for name in folders:
        shutil.copytree(ROOT / "fixtures" / name, there / name)
    return [path for name in folders for path in sorted((there / name).rglob("*")) if path.is_file()]


@pytest.mark.dear
@pytest.mark.parametrize("folders", [("ledger/base",), ("tools/base", "tools/child")], ids="-".join)
def test_every_file_that_findings_rest_on_is_looked_at_again(folders, there, run, asked):
    """By one byte more: the pack, what it extends, its questions' packs, its schemas, its tools. All but the states that stand beside."""
    files = _copy(there, *folders)
    first = run("check", folders[-1])
    noticed = []
    for file in files:
        assert run("check", folders[-1]) == first
        before, count = file.read_bytes(), len(asked)
        assert count == 1 + 2 * len(noticed)
        file.write_bytes(before + b"\n")
        run("check", folders[-1])
        file.write_bytes(before)
        noticed += [file] * (len(asked) > count)
        run("check", folders[-1])
    assert noticed == [file for file in files if file.name != "state.json"] != []


def test_a_file_beside_the_tools_is_noticed(there, run, asked):
    _copy(there, "tools/base", "tools/child")
    run("check", "tools/child")
    run("check", "tools/child")
    assert len(asked) == 1
    shutil.copy(next((there / "tools/base/tools").glob("*.json")), there / "tools/base/tools/zz.json")
    run("check", "tools/child")
    assert len(asked) == 2


@pytest.mark.skipif(not hasattr(reading.os, "symlink"), reason="no links")
@pytest.mark.parametrize("name", ["pack.yaml", "rules.md"])
def test_a_link_in_place_of_a_file_is_noticed(name, there, run):
    run("check", "pack")
    (there / "pack" / name).rename(there / "elsewhere")
    (there / "pack" / name).symlink_to(there / "elsewhere")
    assert run("check", "pack").code in (3, 4)


def test_looks_of_which_nothing_is_known_are_never_believed():
    found, looks = reading.note_looks(lambda: reading.note_beyond() or 3)
    assert found == 3 and len(looks) == 1 and not any(map(reading.is_still, looks))


def test_a_look_that_failed_is_still_what_it_was_while_it_fails(tmp_path):
    def look():
        with pytest.raises(FileNotFoundError):
            reading.read_file(tmp_path / "a", 10)

    _, looks = reading.note_looks(look)
    assert all(map(reading.is_still, looks))
    (tmp_path / "a").write_text("a", encoding="utf-8")
    assert not any(map(reading.is_still, looks))


def test_what_is_looked_at_elsewhere_is_not_noted(tmp_path):
    (tmp_path / "a").write_text("a", encoding="utf-8")
    with pytest.raises(PromptcError):
        reading.note_looks(_fail)
    _, looks = reading.note_looks(lambda: None)
    reading.read_file(tmp_path / "a", 10)
    assert looks == () and reading._LOOKS == []


def _fail():
    raise PromptcError([])
