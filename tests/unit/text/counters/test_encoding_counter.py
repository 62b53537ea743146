"""`tiktoken:<encoding>`: ranks from local files alone, plug-ins that are installed, and the counts of tiktoken itself."""

import socket
import sys
from base64 import b64encode
from hashlib import sha1
from pathlib import Path

import pytest
import tiktoken.load
import tiktoken.registry

from promptc.diag.findings import PromptcError, Span
from promptc.text.counters import tiktoken as counters
from promptc.text.counters.bpe import VOCABULARIES
from promptc.text.counters.exact import NamedFile, load_counter
from promptc.text.json import render_digest
from tests.cases.case import ROOT

SPAN = Span("pack.yaml", 4, 12)
RANKS = ROOT / "tools" / "ranks"
URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
TINY = "https://tiny.example/tiny.tiktoken"
LETTERS = b"".join(b"%b %d\n" % (b64encode(bytes([byte])), byte) for byte in range(256)) + b"%b 256\n" % b64encode(b"ab")
PLUGIN = f"""
from tiktoken.load import load_tiktoken_bpe

def tiny():
    ranks = load_tiktoken_bpe("{TINY}")
    return {{"name": "tiny", "pat_str": r"\\S+|\\s", "mergeable_ranks": ranks, "special_tokens": {{"[TINY]": 257, "<|x|>": 258}}}}

ENCODING_CONSTRUCTORS = {{"tiny": tiny}}
"""


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path):
    """No cache folder but an empty one, nothing that was loaded before, and no connection."""
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(counters, "_LOADED", {})
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection"))
    (tmp_path / "cache").mkdir()


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Installs a plug-in of tiktoken, for the test alone."""

    def write(name, text):
        package = tmp_path / "site" / "tiktoken_ext"
        package.mkdir(parents=True, exist_ok=True)
        (package / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path / "site")
        _forget()

    yield write
    _forget()


def _forget():
    tiktoken.registry.ENCODING_CONSTRUCTORS = None
    tiktoken.registry._available_plugin_modules.cache_clear()
    for name in [name for name in sys.modules if name.startswith("tiktoken_ext.")]:
        del sys.modules[name]


def _name_files(*paths):
    return [NamedFile(path.name, str(path.parent), SPAN) for path in paths]


def _fill(folder, address, content):
    Path(folder, sha1(address.encode()).hexdigest()).write_bytes(content)


def _find_failure(name, *paths, folder=Path()):
    with pytest.raises(PromptcError) as caught:
        load_counter(name, folder=folder, span=SPAN, ranks=_name_files(*paths))
    (found,) = caught.value.diagnostics
    assert found.span == SPAN and found.help
    return found


# contract 8.45
@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", None])
def test_the_ranks_come_from_a_file_of_the_pack_or_from_the_cache(name, variable, monkeypatch, tmp_path):
    file = RANKS / f"{name}.tiktoken"
    if variable:
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
        _fill(tmp_path / "cache", URL.format(name), file.read_bytes())
    counter = load_counter(f"tiktoken:{name}", folder=tmp_path, ranks=[] if variable else _name_files(file))
    assert (counter.name, counter.exact, counter.unit, counter.special_tokens) == (f"tiktoken:{name}", True, 1, ())
    assert counter.measure("hello world") == 2


def test_an_encoding_is_made_once_for_the_same_files():
    files = _name_files(RANKS / "cl100k_base.tiktoken")
    made = [load_counter("tiktoken:cl100k_base", folder=Path(), ranks=files) for _ in range(2)]
    assert made[0] is made[1]


def test_what_is_not_here_is_not_downloaded(tmp_path):
    found = _find_failure("tiktoken:p50k_base")
    assert (found.code, found.message) == (
        "PC0181",
        "the ranks of `tiktoken:p50k_base` are not on this machine, and promptc downloads nothing",
    )
    assert (
        URL.format("p50k_base") in found.help and "`ranks: p50k_base.tiktoken`" in found.help and "get_encoding('p50k_base')" in found.help
    )
    assert not [*(tmp_path / "cache").iterdir()]


def test_a_damaged_file_of_the_cache_is_left_there(tmp_path):
    _fill(tmp_path / "cache", URL.format("cl100k_base"), b"damaged")
    found = _find_failure("tiktoken:cl100k_base")
    assert found.code == "PC0182" and "in tiktoken's cache is damaged" in found.message
    assert [path.read_bytes() for path in (tmp_path / "cache").iterdir()] == [b"damaged"]


def test_a_file_of_another_encoding_is_an_error():
    found = _find_failure("tiktoken:o200k_base", RANKS / "cl100k_base.tiktoken")
    assert found.code == "PC0182" and VOCABULARIES["o200k_base"].sha256 in found.message


def test_the_cache_may_be_turned_off(monkeypatch, tmp_path):
    """As with tiktoken, an empty variable names no folder."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "cache"))
    _fill(tmp_path / "cache", URL.format("cl100k_base"), (RANKS / "cl100k_base.tiktoken").read_bytes())
    assert _find_failure("tiktoken:cl100k_base").code == "PC0181"


@pytest.mark.parametrize("name", ["tiktoken:", "tiktoken:cl100k", "tiktoken:os", "tiktoken:tiktoken_ext.openai_public", "tiktoken:../x"])
def test_an_encoding_that_no_plugin_has_is_an_error(name):
    before = set(sys.modules)
    found = _find_failure(name)
    assert found.code == "PC0180"
    assert (found.help == "did you mean `cl100k_base`?") == (name == "tiktoken:cl100k")
    assert not {module for module in set(sys.modules) - before if not module.startswith("tiktoken")}


# contract 8.44
def test_a_missing_package_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    monkeypatch.delitem(sys.modules, "promptc.text.counters.tiktoken")
    found = _find_failure("tiktoken:o200k_base")
    assert (found.code, found.help) == ("PC0181", "install it: `pip install 'promptc-compiler[tiktoken]'`")


# contract 8.47
def test_ranks_stand_inside_the_pack(tmp_path):
    (tmp_path / "link").symlink_to(RANKS / "cl100k_base.tiktoken")
    for path in ("../x", "/x", "link"):
        with pytest.raises(PromptcError, match="PC0183"):
            load_counter("tiktoken:cl100k_base", folder=tmp_path, ranks=[NamedFile(path, str(tmp_path), SPAN)])


# contract 8.46
def test_a_plugin_counts(install, tmp_path):
    install("tiny", PLUGIN)
    _fill(tmp_path / "cache", TINY, LETTERS)
    counter = load_counter("tiktoken:tiny", folder=tmp_path)
    text = "abé ab\r\n<|x|>"
    assert counter.measure(text) == 12 and counter.measure("") == 0
    assert counter.iter_starts(text) == [0, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13]
    assert counter.token_ends(text)[-1] == len(text) and counter.token_ends("") == counter.iter_starts("") == []
    assert counter.special_tokens == ("[TINY]",)
    assert (counter.is_safe("a\n", "b"), counter.is_safe("", "b"), counter.find_inner("a\nb\nc"), counter.list_runs("a" * 999)) == (
        False,
        True,
        None,
        [],
    )
    assert counter.role_tokens("abab") == 2


def test_a_file_of_the_pack_stands_for_the_address_that_ends_in_its_name(install, tmp_path):
    install("tiny", PLUGIN)
    (tmp_path / "tiny.tiktoken").write_bytes(LETTERS)
    (tmp_path / "other").write_bytes(LETTERS)
    assert load_counter("tiktoken:tiny", folder=tmp_path, ranks=_name_files(tmp_path / "tiny.tiktoken")).measure("abc") == 2
    assert _find_failure("tiktoken:tiny", tmp_path / "other").code == "PC0181"


def test_ranks_without_a_known_digest_are_not_taken_from_where_everybody_may_write(install, monkeypatch, tmp_path):
    install("tiny", PLUGIN)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "data-gym-cache").mkdir()
    _fill(tmp_path / "data-gym-cache", TINY, LETTERS)
    _fill(tmp_path / "data-gym-cache", URL.format("cl100k_base"), (RANKS / "cl100k_base.tiktoken").read_bytes())
    assert _find_failure("tiktoken:tiny").code == "PC0181"
    assert load_counter("tiktoken:cl100k_base", folder=tmp_path).measure("a") == 1


# contract 8.46
def test_a_plugin_of_the_current_folder_is_not_run(install, monkeypatch, tmp_path):
    """As with `python -m promptc` in a clone."""
    install("evil", "raise SystemExit('it ran')")
    monkeypatch.chdir(tmp_path / "site")
    found = _find_failure("tiktoken:cl100k_base")
    assert found.code == "PC0182" and "in the current folder" in found.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_package", "No module named 'no_such_package'"),
        ("", "does not define ENCODING_CONSTRUCTORS"),
        ("ENCODING_CONSTRUCTORS = {'cl100k_base': None}", "Duplicate encoding name"),
    ],
)
def test_a_plugin_that_is_wrong_is_an_error(install, text, told):
    install("wrong", text)
    found = _find_failure("tiktoken:wrong")
    assert found.code == "PC0182" and told in found.message


@pytest.mark.parametrize(
    "made",
    ["{}['ranks']", "1 / 0", "{'name': 'wrong'}", "dict(name='wrong', pat_str='(', mergeable_ranks={b'a': 0}, special_tokens={})", "None"],
)
def test_an_encoding_that_cannot_be_made_is_an_error(install, made):
    install("wrong", f"ENCODING_CONSTRUCTORS = {{'wrong': lambda: {made}}}")
    assert _find_failure("tiktoken:wrong").code == "PC0182"


# contract 8.46
@pytest.mark.parametrize("call", ["load_tiktoken_bpe", "read_file_cached", "read_file"])
def test_a_plugin_cannot_download_by_the_functions_of_tiktoken(install, call, tmp_path):
    install("net", f"from tiktoken import load\nENCODING_CONSTRUCTORS = {{'net': lambda: load.{call}('https://net.example/x')}}")
    assert _find_failure("tiktoken:net").code == "PC0181"
    assert not [*(tmp_path / "cache").iterdir()]


def test_a_plugin_may_bring_its_ranks_along(install, tmp_path):
    file = tmp_path / "brought.tiktoken"
    file.write_bytes(LETTERS)
    install("tiny", PLUGIN.replace(TINY, str(file)))
    assert load_counter("tiktoken:tiny", folder=tmp_path).measure("abc") == 2


def test_a_text_that_an_encoding_does_not_cover_is_refused(install, tmp_path):
    install("tiny", PLUGIN)
    _fill(tmp_path / "cache", TINY, b"%b 0\n" % b64encode(b"a"))
    counter = load_counter("tiktoken:tiny", folder=tmp_path)
    assert counter.measure("aa") == 2
    with pytest.raises(PromptcError, match="PC0184"):
        counter.measure("b")


# contract 8.47
def test_the_digest_is_that_of_ranks_and_pattern(install, tmp_path):
    install("tiny", PLUGIN)
    _fill(tmp_path / "cache", TINY, LETTERS)
    assert load_counter("tiktoken:tiny", folder=tmp_path).digest == render_digest(rb"\S+|\s" + b"\n" + LETTERS)


SLOW = """
import threading
from tiktoken import load

seen = []

def read_elsewhere():
    try:
        load.read_file_cached("/no/such/file")
    except OSError as error:
        seen.append(type(error))

def make():
    other = threading.Thread(target=read_elsewhere)
    other.start()
    other.join()
    return load.read_file_cached("https://slow.example/x")

ENCODING_CONSTRUCTORS = {"slow": make}
"""


def test_other_threads_read_as_ever(install):
    """A program may use tiktoken beside promptc."""
    install("slow", SLOW)
    before = tiktoken.load.read_file_cached
    assert _find_failure("tiktoken:slow").code == "PC0181"
    assert sys.modules["tiktoken_ext.slow"].seen == [FileNotFoundError]
    assert tiktoken.load.read_file_cached is before
