"""Counters by name (`load_counter`), and the exact ones: OpenAI's tokenizers over the shipped vocabularies, in the standard library alone.

This module reads the files that a pack names for a tokenizer of its own (`hf:<file>`, and the ranks of `tiktoken:<encoding>`). The modules
`huggingface` and `tiktoken` count with them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail, suggest
from promptc.diag.typed import NamedTuple
from promptc.files.reading import IrregularError, LinkError, TooLongError, note_beyond, read_inside
from promptc.text.characters import compile_later
from promptc.text.counters.bpe import VOCABULARIES, PieceEncoder, check_vocabulary, open_table, vocabulary_path
from promptc.text.counters.counter import ENCODING, LARGEST, CharacterCounter, Counter, TokenCounter, list_token_ends
from promptc.text.counters.splitting import load_splitter

_LINE_END = compile_later(r"\n(?=[^\s/])")
"""The end of a line before a line that begins neither with `/` nor with Python's white space, which includes that of the patterns."""

_WORDS = 100_000
_WORD = 64  # characters

_LONG = 2_000
"""The length, in characters, from which a stretch is not cached."""

_MOST = 8_000_000
"""The maximum number of characters in the cache."""


class NamedFile(NamedTuple):
    """A file that a pack names: its path, the folder that the path is relative to, and the place where the pack names it."""

    path: str
    folder: str
    span: Span | None


def load_counter(
    name: str,
    *,
    folder: str | os.PathLike[str],
    span: Span | None = None,
    ranks: Sequence[NamedFile] = (),
) -> Counter:
    """Load the counter `name`: `cl100k_base`, `o200k_base`, `chars/4`, `tiktoken:<encoding>`, or `hf:<file>` with a file inside `folder`.

    `span` is the place of the name. `ranks` are the files that a pack names for an encoding. Raises `PromptcError` with PC0180 to PC0183;
    the caller chooses the fallback.
    """
    if name == CharacterCounter.name:
        return CharacterCounter()
    if name in VOCABULARIES:
        return load_table_counter(name, span)
    if name.startswith("hf:"):
        return load_tokenizer_file(name, folder, span)
    if name.startswith(ENCODING):
        return _load_encoding(name, ranks, span)
    raise fail("PC0180", f"there is no tokenizer `{name}`", span, help=_suggest_counter(name))


def _suggest_counter(name: str) -> str:
    """Suggest the counter for a model's name, else the nearest counter, else all counters."""
    model = name.lower().rpartition("/")[2]
    if model.startswith(("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")):
        return f"`{model}` is a model: write its tokenizer, `o200k_base`"
    if model.startswith(("gpt-4", "gpt-3.5", "text-embedding-")):
        return f"`{model}` is a model: write its tokenizer, `cl100k_base`"
    if model.startswith(("claude", "gemini", "grok")):
        return "that model's tokenizer is not public: write `chars/4`, which estimates its tokens"
    if model.startswith(("llama", "mistral", "mixtral", "qwen", "deepseek", "gemma", "phi")):
        return "put the model's `tokenizer.json` next to the manifest, and write `hf:tokenizer.json`"
    if model in _ENCODINGS:
        return f"`{model}` is an encoding of tiktoken: write `{ENCODING}{model}`"
    return suggest(name, [*VOCABULARIES, CharacterCounter.name, "hf:tokenizer.json"])


_ENCODINGS = ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "o200k_harmony")
"""Encodings of tiktoken that are not shipped."""


def load_table_counter(name: str, span: Span | None = None) -> TableCounter:
    """Load the counter of the shipped vocabulary `name`, shared by all packs of a process."""
    path = vocabulary_path(name)
    check_vocabulary(name, path, span)
    counter = _LOADED.get((name, path))
    return counter or _LOADED.setdefault((name, path), TableCounter(name, path))


_LOADED: dict[tuple[str, str], TableCounter] = {}


def load_tokenizer_file(name: str, folder: str | os.PathLike[str], span: Span | None = None) -> Counter:
    """Load the counter `hf:<file>` from a file inside `folder`. Raises `PromptcError` with PC0181 to PC0183."""
    file = NamedFile(name.removeprefix("hf:"), os.fspath(folder), span)
    raw = _read_own(file, name, "`hf:` and a path such as `tokenizers/tokenizer.json`")
    try:
        from promptc.text.counters.huggingface import load_hf_counter
    except ImportError as error:
        raise _refuse_package(name, "tokenizers", "hf", span) from error
    return load_hf_counter(name, raw, span)


def _load_encoding(name: str, ranks: Sequence[NamedFile], span: Span | None) -> Counter:
    """Load the counter `tiktoken:<encoding>`. Raises `PromptcError` with PC0180 to PC0183."""
    contents = {one.path: _read_own(one, one.path, "a path such as `ranks/o200k_base.tiktoken`") for one in ranks}
    note_beyond()  # tiktoken's plug-ins can run any code, and the environment names its folder
    try:
        from promptc.text.counters.tiktoken import load_encoding_counter
    except ImportError as error:
        raise _refuse_package(name, "tiktoken", "tiktoken", span) from error
    return load_encoding_counter(name, contents, span)


def _refuse_package(name: str, package: str, extra: str, span: Span | None) -> PromptcError:
    message = f"`{name}` needs the package `{package}`, which is not installed"
    return fail("PC0181", message, span, help=f"install it: `pip install 'promptc-compiler[{extra}]'`")


def _read_own(file: NamedFile, shown: str, example: str) -> bytes:
    """Read a file of a tokenizer, which must be inside the pack. Messages call it `shown`, and suggest to write `example`."""
    inside, span = f"write {example}, relative to the pack's folder, without links", file.span
    if any(not re.fullmatch(r"[^\\:\x00-\x1f]+", part) or part in (".", "..") for part in file.path.split("/")):
        raise fail("PC0183", f"`{shown}` names no file inside the pack", span, help=inside)
    try:
        return read_inside(file.folder, file.path, LARGEST)
    except LinkError:
        raise fail("PC0183", f"`{shown}` goes through a link", span, help=inside) from None
    except (FileNotFoundError, NotADirectoryError, IrregularError):
        help = "add the file, or correct the path, which is relative to the pack's folder"
        raise fail("PC0181", f"there is no file `{file.path}`", span, help=help) from None
    except TooLongError:
        help = "no tokenizer is so large: name its own file"
        raise fail("PC0182", f"`{shown}`: the file is larger than {LARGEST} bytes", span, help=help) from None
    except OSError as error:
        message = f"the file of `{shown}` cannot be read: {error.strerror}"
        raise DiskError([Diagnostic("PC0181", message, span, "make it readable")]) from error


class TableCounter(TokenCounter):
    """Counts as tiktoken's `encode_ordinary` does. The table and the pattern are loaded at the first count."""

    def __init__(self, name: str, path: str) -> None:
        """Make the counter of the vocabulary `name` from the table at `path`."""
        super().__init__(name, f"sha256:{VOCABULARIES[name].sha256}", name)
        self._path = path
        self._recall: Callable[[], Mapping[str, int]] = dict
        self._recounts = False

    special_tokens: Sequence[str] = ()
    """Empty: all its special tokens have the form `<|name|>`, which every guard knows."""

    def measure(self, text: str) -> int:
        """Return the number of tokens."""
        if self._recounts and text.endswith("\n"):
            return self._lines.measure(text)
        return self._tally(self._split(text))

    def recount(self, text: str) -> int:
        """Return the number of tokens, counted again; from the second call on, with cached matches of the pattern in lines."""
        if self._recounts:
            return self._lines.count(text)
        self._recounts = True  # the only render of a process has no use for a cache
        return self.measure(text)

    @property
    def words(self) -> Mapping[str, int]:
        """The token counts of the short pieces that were counted or recalled so far, the newest last."""
        found: Mapping[str, int] = self.__dict__.get("_words", {})
        return found

    def recall(self, words: Callable[[], Mapping[str, int]]) -> None:
        """Set a function that returns counts of pieces from earlier, by this vocabulary. The first count calls it."""
        self._recall = words

    def iter_starts(self, text: str) -> Sequence[int]:
        """Return the offset of every token in UTF-8 bytes."""
        return [0, *self._ends(text)][:-1]

    def token_ends(self, text: str) -> Sequence[int]:
        """Return the token ends as character offsets."""
        return list_token_ends(text, self._ends(text))

    def _ends(self, text: str) -> list[int]:
        words = self._words
        sizes: list[int] = []
        for piece in self._split(text):
            raw = piece.encode()
            if words.get(piece) == 1:  # most pieces are one token, and a text is counted before its token ends are requested
                sizes.append(len(raw))
            else:
                sizes += map(len, words.encode(raw))
        return list(accumulate(sizes))

    def _tally(self, pieces: Iterable[str]) -> int:
        return sum(map(self._words.__getitem__, pieces))

    @cached_property
    def _lines(self) -> LineCounts:
        return LineCounts(self._split, self._tally)

    @cached_property
    def _split(self) -> Callable[[str], Iterable[str]]:
        return load_splitter(self.name)

    @cached_property
    def _words(self) -> _Words:
        return _Words(PieceEncoder(open_table(self.name, self._path)).encode, self._recall())


class _Words(dict[str, int]):
    """Maps a piece to its number of tokens. Short pieces are cached up to a bound; a text has few different words."""

    def __init__(self, encode: Callable[[bytes], list[bytes]], known: Mapping[str, int]) -> None:
        super().__init__(known)
        self.encode = encode

    def __missing__(self, piece: str) -> int:
        count = len(self.encode(piece.encode()))
        if len(piece) <= _WORD:
            if len(self) >= _WORDS:
                self.clear()
            self[piece] = count
        return count


class LineCounts:
    """Counts of lines. Several threads may use one object: each step of its cache is a single operation on a dict."""

    def __init__(self, split: Callable[[str], Iterable[str]], tally: Callable[[Iterable[str]], int]) -> None:
        """Make a counter: `split` returns the matches of the tokenizer's pattern in a text, `tally` the number of tokens in matches."""
        self._known = _Known(split, tally)
        self._split = split
        self._tally = tally

    def measure(self, text: str) -> int:
        """Return the tokens of `text`, which ends with a line end. `count` need not split a stretch again if it equals this text."""
        if len(text) >= _LONG:
            return self._tally(self._split(text))
        pieces = [*self._split(text)]
        units = self._tally(pieces)
        self._known.note(text, units, pieces[-1])
        return units

    def count(self, text: str) -> int:
        """Return the tokens of `text`.

        No alternative of the patterns looks back. None takes a character after a line end except white space or `/`, and none looks further
        than the first character that it does not take. The pattern therefore matches the whole text as it matches each stretch that ends
        before such a line, followed by the first character of that line. The matches of a stretch show whether one of them really ends
        there.
        """
        known = self._known
        stretches = _LINE_END.split(text)
        counts = [known[f"{one}\n{after[0]}"] for one, after in pairwise(stretches)]
        if -1 in counts:
            return self._tally(self._split(text))
        return sum(counts) + self._tally(self._split(stretches[-1]))


class _Known(dict[str, int]):
    """Maps a stretch and the character after it to the tokens of the stretch.

    The value is -1 if a match continues into that character, or if the stretch is too long to be cached.
    """

    def __init__(self, split: Callable[[str], Iterable[str]], tally: Callable[[Iterable[str]], int]) -> None:
        super().__init__()
        self._split = split
        self._tally = tally
        self._parts = lru_cache(maxsize=1024)(lambda match, behind: [*split(match + behind)] == [match, behind])
        self._characters = 0
        self._measured: dict[str, tuple[int, str]] = {}

    def note(self, text: str, units: int, last: str) -> None:
        """Remember the tokens and the last match of a text that was split, with no character after it."""
        self._make_room(text)
        self._measured[text] = units, last

    def __missing__(self, key: str) -> int:
        if len(key) > _LONG:
            return -1
        self._make_room(key)
        stretch, behind = key[:-1], key[-1]
        units, last = self._measured.pop(stretch, (-1, ""))
        if units < 0:
            *matches, last = self._split(key)
            units = self._tally(matches) if last == behind else -1
        elif not self._parts(last, behind):  # only the last match saw the end of the text, and a character follows it now
            units = -1
        self[key] = units
        return units

    def _make_room(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > _MOST:
            self.clear()
            self._measured.clear()
            self._characters = len(text)
