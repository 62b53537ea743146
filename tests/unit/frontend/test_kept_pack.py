"""What a kept pack has, what it asks its files for, and where it is looked for."""

import contextlib
import shutil
from pathlib import Path

import pytest

from promptc import api
from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.findings import PromptcError
from promptc.frontend.kept_pack import NotKeptError, find_kept, keep_pack
from promptc.frontend.pack import ReadPack
from promptc.model.budget import load_models
from tests.contract.sources import ROOT

SENTINEL = ROOT / "packs" / "sentinel"
TABLE = (ROOT / "fixtures/sentinel/base/table.json").read_bytes()


@pytest.fixture
def cache(tmp_path):
    return Cache(str(tmp_path / "cache"))


def _keep(cache, path):
    loaded = ReadPack(path, load_models).compile((), ())
    keep_pack(cache, str(path), loaded)
    return loaded


@pytest.mark.parametrize("path", sorted((ROOT / "packs").iterdir()), ids=lambda path: path.name)
def test_every_shipped_pack_can_be_kept(path, cache):
    loaded, found = _keep(cache, path), find_kept(cache, str(path))
    assert found is not None
    for name in ("name", "version", "file", "digest", "sections", "patch_names", "warnings", "schema"):
        assert getattr(found.pack, name) == getattr(loaded.pack, name)
    assert found.pack.counting.counter.digest == loaded.pack.counting.counter.digest
    assert set(found.plans) == set(loaded.plans)


@pytest.mark.dear
def test_what_was_not_kept_is_asked_of_the_files(cache):
    _keep(cache, SENTINEL)
    found = find_kept(cache, str(SENTINEL))
    with pytest.raises(NotKeptError):
        _ = found.pack.manifest
    pack = Pack.load(SENTINEL, cache)
    assert pack.model.manifest.get("sections") is not None and pack.check() == Pack.load(SENTINEL).check()


def test_a_path_is_of_its_working_folder(cache, tmp_path):
    """The same words name another pack elsewhere, and another path is told in findings."""
    for name in ("a", "b"):
        shutil.copytree(ROOT / "starters/chat", tmp_path / name / "pack")
    with contextlib.chdir(tmp_path / "a"):
        _keep(cache, Path("pack"))
        assert find_kept(cache, "pack") is not None and find_kept(cache, "pack/pack.yaml") is not None
        assert find_kept(cache, "./pack") is None
    with contextlib.chdir(tmp_path / "b"):
        assert find_kept(cache, "pack") is None


def test_a_counter_that_has_gone_is_told(cache, tmp_path):
    pack = tmp_path / "pack.yaml"
    text = "promptc: 1\nname: p\nversion: 1.0.0\ntokenizer: {}\nbudget: 100\nsections: [{{id: a, text: hello}}]\n"
    pack.write_text(text.format("cl100k_base"))
    _keep(cache, pack)
    assert find_kept(cache, str(pack)) is not None
    from promptc.text.counters import bpe

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bpe, "_FOLDER", str(tmp_path))
        results = []
        for loading in (lambda: Pack.load(pack, cache), lambda: Pack.load(pack)):
            with pytest.raises(PromptcError) as wrong:
                loading().render({})
            results.append(wrong.value.diagnostics)
        assert results[0] == results[1]


def test_a_library_keeps_nothing_by_itself(monkeypatch, tmp_path):
    monkeypatch.setenv("PROMPTC_CACHE", str(tmp_path / "cache"))
    with api.load(SENTINEL) as pack:
        pack.render(TABLE)
    assert not (tmp_path / "cache").exists()


def test_warnings_of_loading_are_kept(cache, tmp_path):
    (tmp_path / "state.schema.json").write_text('{"type": "object", "properties": {"a": {"type": "string", "default": 1}}}')
    (tmp_path / "pack.yaml").write_text(
        "promptc: 1\nname: p\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
        "state: {schema: state.schema.json}\nsections: [{id: a, text: hello}]\n"
    )
    rendered = []
    for _ in range(2):
        with Pack.load(tmp_path, cache) as pack:
            rendered.append(pack.render({"a": "x"}).warnings)
    assert find_kept(cache, str(tmp_path)) is not None
    assert rendered[0] == rendered[1] and "PC0317" in {one.code for one in rendered[0]}


def test_counts_are_kept_and_the_same(cache, monkeypatch):
    with Pack.load(SENTINEL, cache) as pack:
        first = pack.render(TABLE)
    with Pack.load(SENTINEL, cache) as pack:
        counter = pack._kept.meter.counter.__class__
        monkeypatch.setattr(counter, "measure", lambda *_: pytest.fail("counted again"))
        second = pack.render(TABLE)
    assert first.text == second.text and first.tokens == second.tokens and first.report == second.report
