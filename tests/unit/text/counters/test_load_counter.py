import os
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from promptc.diag.findings import PromptcError, Span
from promptc.text.counters import bpe
from promptc.text.counters.bpe import VOCABULARIES, look_in, vocabulary_path
from promptc.text.counters.exact import load_counter
from promptc.text.json import render_digest

SPAN = Span("pack.yaml", 4, 12)


@pytest.fixture
def tables(tmp_path):
    """A folder in which the tables are looked for."""
    before = look_in(tmp_path)
    yield tmp_path
    look_in(before)


def _read_table(name):
    return Path(bpe.__file__).parents[2].joinpath("vocabularies", f"{name}.tokens").read_bytes()


def _find_failure(name, folder=Path()):
    with pytest.raises(PromptcError) as caught:
        load_counter(name, folder=folder, span=SPAN)
    (found,) = caught.value.diagnostics
    assert found.span == SPAN
    assert found.help
    return found


def _write_tokenizer(path):
    words = {"[UNK]": 0, "one": 1, "two": 2}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(path))


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_shipped_vocabulary_is_the_one_written_down(name):
    counter = load_counter(name, folder=Path())
    assert (counter.name, counter.exact, counter.unit) == (name, True, 1)
    assert counter.digest == f"sha256:{VOCABULARIES[name].sha256}"
    assert render_digest(Path(vocabulary_path(name)).read_bytes()) == f"sha256:{VOCABULARIES[name].table}"


def test_a_counter_is_made_once():
    assert load_counter("cl100k_base", folder=Path("a")) is load_counter("cl100k_base", folder=Path("b"))


def test_an_unknown_name_is_an_error_with_a_suggestion():
    found = _find_failure("cl100k")
    assert (found.code, found.help) == ("PC0180", "did you mean `cl100k_base`?")


@pytest.mark.parametrize("name", ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "o200k_harmony"])
def test_an_encoding_without_its_prefix_is_an_error_with_the_prefix(name):
    assert _find_failure(name).help == f"`{name}` is an encoding of tiktoken: write `tiktoken:{name}`"


def test_a_missing_vocabulary_is_an_error(tables):
    found = _find_failure("o200k_base")
    assert found.code == "PC0181"
    assert "missing" in found.message


def test_a_vocabulary_of_another_size_is_an_error(tables):
    damaged = tables / "cl100k_base.tokens"
    damaged.write_bytes(_read_table("cl100k_base") + b"\n")
    found = _find_failure("cl100k_base")
    assert found.code == "PC0181"
    assert render_digest(damaged.read_bytes()) in found.message


@pytest.mark.parametrize("place", [0, 20, 64, 700_000, -1])
def test_a_vocabulary_with_another_byte_counts_nothing(place, tables):
    content = bytearray(_read_table("cl100k_base"))
    content[place] ^= 1
    (tables / "cl100k_base.tokens").write_bytes(content)
    counter = load_counter("cl100k_base", folder=Path())
    with pytest.raises(PromptcError, match=r"PC0181.*not the vocabulary of `cl100k_base`: its digest is sha256:"):
        counter.measure("a")


def test_a_vocabulary_that_goes_before_it_is_opened_is_an_error(tables):
    copy = tables / "o200k_base.tokens"
    copy.write_bytes(_read_table("o200k_base"))
    counter = load_counter("o200k_base", folder=Path())
    copy.unlink()
    with pytest.raises(PromptcError, match=r"PC0181.*is missing"):
        counter.measure("a")


def test_a_missing_package_is_an_error_that_says_what_to_install(tmp_path, monkeypatch):
    _write_tokenizer(tmp_path / "t.json")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.delitem(sys.modules, "promptc.text.counters.huggingface", raising=False)
    found = _find_failure("hf:t.json", tmp_path)
    assert (found.code, found.help) == ("PC0181", "install it: `pip install 'promptc-compiler[hf]'`")


@pytest.mark.parametrize("name", ["hf:", "hf:../t.json", "hf:/t.json", "hf:a//t.json", "hf:./t.json", "hf:a\\t", "hf:C:t", "hf:a\0"])
def test_a_tokenizer_stands_inside_the_pack(name, tmp_path):
    assert _find_failure(name, tmp_path).code == "PC0183"


def test_a_link_is_no_file_of_a_pack(tmp_path):
    _write_tokenizer(tmp_path / "t.json")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "link.json").symlink_to(tmp_path / "t.json")
    (tmp_path / "pack" / "folder").symlink_to(tmp_path)
    assert _find_failure("hf:link.json", tmp_path / "pack").code == "PC0183"
    assert _find_failure("hf:folder/t.json", tmp_path / "pack").code == "PC0183"


def test_only_a_file_is_read(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("hf:none.json", "hf:folder", "hf:pipe"):
        assert _find_failure(name, tmp_path).code == "PC0181"


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[1]", b'{"version": "1.0", "model": {"type": "BPE"}}'])
def test_a_file_that_is_no_tokenizer_is_an_error(content, tmp_path):
    (tmp_path / "t.json").write_bytes(content)
    found = _find_failure("hf:t.json", tmp_path)
    assert found.code == "PC0182"


def test_a_tokenizer_file_counts(tmp_path):
    _write_tokenizer(tmp_path / "t.json")
    counter = load_counter("hf:t.json", folder=tmp_path, span=SPAN)
    assert (counter.name, counter.exact, counter.unit) == ("hf:t.json", True, 1)
    assert counter.digest == render_digest((tmp_path / "t.json").read_bytes())
    assert counter.measure("one two three") == 3
