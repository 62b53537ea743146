"""Counting with an encoding of the installed tiktoken (`tiktoken:<encoding>`), including those of its plug-ins.

No other module imports `tiktoken`. This module is imported only if a pack names such a counter.

tiktoken downloads the ranks of an encoding, but promptc opens no connection for them. While an encoding is made, tiktoken's functions that
read files are replaced, for this thread alone, by functions that read local files and write nothing.
"""

from __future__ import annotations

import os
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha1, sha256
from itertools import accumulate
from pathlib import Path
from threading import RLock, get_ident

import tiktoken
import tiktoken_ext
from tiktoken import load, registry

from promptc.diag.findings import PromptcError, Span, fail, suggest
from promptc.diag.typed import Any
from promptc.files.paths import resolve_path
from promptc.files.reading import read_file, read_given
from promptc.text.counters.bpe import VOCABULARIES
from promptc.text.counters.counter import ENCODING, LARGEST, Refusing, TokenCounter, list_token_ends

_SHIPPED_PATTERNS = {
    "cl100k_base": "f021c3d976978e62ee64cdad150cc3405c2e3d6e3b40407850bb9e8d9eb65899",
    "o200k_base": "2d1b8dc11e89af71459b36004f698ab3693f59fd84f63e8ec2b49564ab857420",
}
"""The sha256 of the patterns whose boundaries `splitting` knows, in the form that tiktoken has."""

_FOLDERS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
_DEFAULT_FOLDER = "data-gym-cache"
_COVERS_ALL = "use an encoding that covers all bytes, and a shorter text: tiktoken gives up on a million spaces"
_BUGS = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""The errors that a faulty plug-in may raise. A package that it needs may be missing, too."""

_LOCK = RLock()


class EncodingCounter(TokenCounter):
    """Counts as `encode_ordinary` of an encoding does.

    An encoding can have any pattern, and so no boundary is known to be safe. The exception is an encoding with the ranks and the pattern of
    a shipped vocabulary (`o200k_harmony` has those of `o200k_base`): it splits texts as the vocabulary does.
    """

    def __init__(self, name: str, encoding: tiktoken.Encoding, digest: str, shipped: str) -> None:
        """Make a counter; `shipped` names the shipped vocabulary that splits texts at the same places, or is empty."""
        super().__init__(name, digest, shipped)
        self.special_tokens: Sequence[str] = tuple(sorted(one for one in encoding.special_tokens_set if not _is_usual(one)))
        self._encoding = encoding

    def measure(self, text: str) -> int:
        """Return the number of tokens."""
        return len(self._encode(text))

    def iter_starts(self, text: str) -> Sequence[int]:
        """Return the offset of every token in UTF-8 bytes."""
        return [0, *self._ends(text)][:-1]

    def token_ends(self, text: str) -> Sequence[int]:
        """Return the token ends as character offsets."""
        return list_token_ends(text, self._ends(text))

    def _ends(self, text: str) -> list[int]:
        return list(accumulate(map(len, self._encoding.decode_tokens_bytes(self._encode(text)))))

    def _encode(self, text: str) -> list[int]:
        with Refusing("PC0184", f"`{self.name}` cannot count a text of {len(text)} characters", None, _COVERS_ALL):
            return self._encoding.encode_ordinary(text)


def _is_usual(token: str) -> bool:
    """Return whether a special token has the form `<|name|>`, which every guard knows."""
    return token.startswith("<|") and token.endswith("|>")


def load_encoding_counter(name: str, ranks: Mapping[str, bytes], span: Span | None = None) -> EncodingCounter:
    """Return the counter `tiktoken:<encoding>`, the same object for the same files. `ranks` maps paths to the files that the pack names.

    Raises `PromptcError`: PC0180 for an encoding that no plug-in has, PC0181 for ranks that are not on this machine, PC0182 for ranks or a
    plug-in that cannot be used.
    """
    with _LOCK:
        constructors = _load_constructors(name, span)
        wanted = name.removeprefix(ENCODING)
        if wanted not in constructors:
            known = sorted(constructors)
            help = suggest(wanted, known) if known else "tiktoken has no plug-in here: install tiktoken again"
            raise fail("PC0180", f"the installed tiktoken has no encoding `{wanted}`", span, help=help)
        files = _RankFiles(name, ranks, span)
        key = (name, tuple(sorted((path, sha256(content).hexdigest()) for path, content in ranks.items())), files.folder)
        counter = _LOADED.get(key)
        if counter is None:
            counter = _LOADED[key] = _make_counter(name, constructors[wanted], files, span)
    return counter


_LOADED: dict[tuple[object, ...], EncodingCounter] = {}


def _load_constructors(name: str, span: Span | None) -> Mapping[str, Callable[[], dict[str, Any]]]:
    """Return the functions with which the plug-ins of tiktoken make encodings. tiktoken imports the whole package `tiktoken_ext`."""
    here = Path.cwd()
    stray = [folder for folder in tiktoken_ext.__path__ if resolve_path(Path(folder).parent) == here]
    if stray:  # as with `python -m promptc` in a clone: the user did not install this package
        message = f"`{name}` would run the code of `tiktoken_ext` in the current folder, which is not installed"
        raise fail("PC0182", message, span, help="run promptc in another folder, or as `promptc` in place of `python -m promptc`")
    try:
        registry.list_encoding_names()
    except _BUGS as error:
        raise _refuse_plugin(f"`{name}`: the plug-ins of tiktoken cannot be loaded", error, span) from error
    return registry.ENCODING_CONSTRUCTORS or {}


def _make_counter(name: str, construct: Callable[[], dict[str, Any]], files: _RankFiles, span: Span | None) -> EncodingCounter:
    message = f"`{name}`: the encoding cannot be made"
    try:
        with files.in_place():
            made = construct()
            encoding = tiktoken.Encoding(**made)
        pattern, ranks = made["pat_str"].encode(), made["mergeable_ranks"]
        written = b"".join(b"%b %d\n" % (b64encode(token), rank) for token, rank in sorted(ranks.items(), key=lambda one: one[1]))
    except _BUGS as error:
        raise _refuse_plugin(message, error, span) from error
    known = (sha256(written).hexdigest(), sha256(pattern).hexdigest())
    shipped = [one for one, pattern in _SHIPPED_PATTERNS.items() if known == (VOCABULARIES[one].sha256, pattern)]
    digest = sha256(pattern + b"\n" + written).hexdigest()
    return EncodingCounter(name, encoding, f"sha256:{digest}", shipped[0] if shipped else "")


def _refuse_plugin(message: str, error: Exception, span: Span | None) -> PromptcError:
    return fail("PC0182", f"{message}: {str(error)[:200] or type(error).__name__}", span, help="correct the plug-in, or install it again")


class _RankFiles:
    """The local files with the ranks of an encoding: those that the pack names, then those in tiktoken's cache."""

    def __init__(self, name: str, ranks: Mapping[str, bytes], span: Span | None) -> None:
        self._name, self._ranks, self._span = name, ranks, span
        named = [os.environ[one] for one in _FOLDERS if one in os.environ]
        self._is_own = bool(named)
        self.folder = named[0] if named else f"{tempfile.gettempdir()}/{_DEFAULT_FOLDER}"

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Make tiktoken read these files in this thread while the context lasts. Other threads read as usual."""
        own, read_cached, read = get_ident(), load.read_file_cached, load.read_file

        def read_local(blobpath: str, expected_hash: str | None = None) -> bytes:
            return self._find(blobpath, expected_hash) if get_ident() == own else read_cached(blobpath, expected_hash)

        def refuse(blobpath: str) -> bytes:  # called by a plug-in that does not use the cache
            return self._find(blobpath, None) if get_ident() == own else read(blobpath)

        load.read_file_cached, load.read_file = read_local, refuse
        try:
            yield
        finally:
            load.read_file_cached, load.read_file = read_cached, read

    def _find(self, address: str, expected: str | None) -> bytes:
        """Return the content of the file for `address`, or of the local file if a plug-in gives a path. `expected` is its sha256."""
        if "://" not in address:
            return read_given(address, LARGEST)
        for path, content in self._ranks.items():
            if sha256(content).hexdigest() == expected if expected else path.rpartition("/")[2] == address.rpartition("/")[2]:
                return content
        kept = self._find_kept(address, expected)
        if kept is None:
            raise self._refuse(address, expected)
        if expected and sha256(kept).hexdigest() != expected:
            message = f"`{self._name}`: the file for `{address}` in tiktoken's cache is damaged: its sha256 is not {expected}"
            raise fail("PC0182", message, self._span, help="delete it, and fill the cache again")
        return kept

    def _find_kept(self, address: str, expected: str | None) -> bytes | None:
        """Return the file in tiktoken's cache, or None. Anyone may write to the temporary folder, so a file from there needs a sha256."""
        path = f"{self.folder}/{sha1(address.encode()).hexdigest()}"  # tiktoken's own name for it
        if not self.folder or not (self._is_own or expected):
            return None
        try:
            return read_given(path, LARGEST) if self._is_own else read_file(path, LARGEST)
        except OSError:
            return None

    def _refuse(self, address: str, expected: str | None) -> PromptcError:
        file, wanted = address.rpartition("/")[2], self._name.removeprefix(ENCODING)
        if expected and self._ranks:
            message = f"`{self._name}`: no file under `ranks` is the right `{file}`, which has the sha256 {expected}"
            return fail("PC0182", message, self._span, help=f"download it from {address}")
        message = f"the ranks of `{self._name}` are not on this machine, and promptc downloads nothing"
        help = (
            f"download {address} into the pack, and name it: `ranks: {file}`; or fill tiktoken's cache once: "
            f"`python -c \"import tiktoken; tiktoken.get_encoding('{wanted}')\"`"
        )
        return fail("PC0181", message, self._span, help=help)
