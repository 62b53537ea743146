"""Loads the `indexes` of a manifest (`load_indexes`), and the patterns that name the files of a corpus (`read_corpus_pattern`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import lcm

from promptc.diag.findings import Collecting, Diagnostic, PromptcError, Span, fail, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import check_pack_path
from promptc.frontend.sections import read_micro, read_ratio, read_size
from promptc.frontend.texts import PackFiles, TextCompiler
from promptc.frontend.yaml import load_yaml
from promptc.model.section import Ratio
from promptc.model.sources import ChunkPlan, CorpusIndex, Engine, Index, Matching, StateIndex, Weights
from promptc.model.state import Node
from promptc.sources.retrieval.encoder import KNOWN

_MICRO = 1_000_000
_FOLDER = "data/prompt_index"
RESERVED = frozenset(("id", "text", "heading", "index", "score", "file", "length", "preview"))
"""Names that the compiler sets for every chunk. Metadata must not use them."""

_ITEM = "remove it: an item of the state is found by its own text"
_OF_FILES = {
    "asked": _ITEM,
    "chunk": "remove it: an item of the state is one chunk",
    "defaults": "remove it: `where` reads the keys of the item itself",
    "engine": "remove it: this index is made in memory, at each render",
    "lead": _ITEM,
    "neighbours": "remove it: an item of the state is no part of a file",
    "path": "remove it: this index is never written to a disk",
}
"""The keys that only an index over files has, each with the help for an index over the state."""

_OF_STATE = {"id": "remove it: promptc names a chunk by its file and its heading", "text": "remove it: the text of a chunk is in its file"}
"""The keys that only an index over the state has, each with the help for an index over files."""

_PART = re.compile(r"\{([^{}]*)\}|\*|\?|[^{}*?]+|[{}]")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def load_indexes(manifest: Node, compiler: TextCompiler, files: PackFiles) -> tuple[Index, ...]:
    """Return the indexes of a manifest that is valid in shape, in its order. Errors are added to the compiler's findings."""
    node = manifest.get("indexes")
    loaded: list[Index] = []
    for name, index in node.items() if node is not None else ():
        with Collecting(compiler.findings):
            loaded.append(_load_index(name, index, compiler, files))
    return tuple(loaded)


def _load_index(name: str, node: Node, compiler: TextCompiler, files: PackFiles) -> Index:
    matching = _load_matching(node, compiler, files)
    if node.get("from") is not None:
        id, text = node.get("id"), node.get("text")
        if text is None:
            compiler.note(
                "PC0277", f"the index `{name}` does not say what the text of an item is", node.span, 'add `text: "{{ item.text }}"`'
            )
        _refuse_keys(name, node, _OF_FILES, "is for an index over files, and this one is over the state", compiler)
        inline = compiler.inline(text if text is not None else node.value["from"])
        return StateIndex(name, node.span, compiler.expression(node.value["from"]), compiler.find_expression(id), inline, matching)
    _refuse_keys(name, node, _OF_STATE, "is for an index over the state, and this one is over files", compiler)
    pattern, path = node.value["corpus"], node.get("path")
    names = read_corpus_pattern(str(pattern.value), pattern.span).names
    parting = list_names(str(path.value)) if path is not None else ()
    asked = _check_path("asked", node.value["asked"], parting, compiler) if node.get("asked") is not None else ""
    _check_lead(name, node, asked, matching, compiler)
    return CorpusIndex(
        name,
        pattern.span,
        pattern.folder,
        str(pattern.value),
        _check_path("path", path, names, compiler) if path is not None else f"{_FOLDER}/{name}",
        _load_chunk(node.get("chunk"), compiler),
        matching,
        _load_defaults(node.get("defaults"), compiler),
        _load_engine(node.get("engine")),
        asked=asked,
    )


def _refuse_keys(name: str, node: Node, keys: Mapping[str, str], why: str, compiler: TextCompiler) -> None:
    """Report the keys that the other kind of index has; `keys` maps each to what to do about it."""
    for key, help in keys.items():
        if node.get(key) is not None:
            compiler.note("PC0279", f"`{key}` of the index `{name}` {why}", node.key_span(key), help)


def _load_engine(node: Node | None) -> Engine | None:
    return Engine(node.span, str(node.value["url_env"].value)) if node is not None else None


def _check_path(key: str, path: Node, names: tuple[str, ...], compiler: TextCompiler) -> str:
    text = str(path.value)
    wrong = check_pack_path(fill_path(text, dict.fromkeys(list_names(text), "x")))
    unknown = [name for name in list_names(text) if name not in names]
    known, usual = ("corpus", "a folder") if key == "path" else ("path", "a file")
    if unknown:
        wrong = f"`{{{unknown[0]}}}` is not a name in its {known}"
    if wrong:
        such = "data/prompt_index" if key == "path" else "asked.tsv"
        help = (suggest(unknown[0], names) if unknown else None) or f"name {usual} inside the pack's folder, such as `{such}`"
        compiler.note("PC0272", f"`{key}: {text}`: {wrong}", path.span, help)
    return text


def _check_lead(name: str, node: Node, asked: str, matching: Matching, compiler: TextCompiler) -> None:
    """Report a `lead` without effect: only an index with both vectors and a file of queries recognizes idle queries."""
    has_vectors = matching.encoder and matching.weights.vectors
    if node.get("lead") is not None and not (asked and has_vectors):
        lacks, help = ("vectors", "vectors: {encoder: minilm-int8}") if asked else ("file of queries", "asked: asked.tsv")
        message = f"`lead` of the index `{name}` has no effect: the index has no {lacks}"
        compiler.note("PC0279", message, node.key_span("lead"), f"add `{help}`, or remove `lead`")


def _load_chunk(node: Node | None, compiler: TextCompiler) -> ChunkPlan:
    usual = ChunkPlan()
    tokens, overlap = (node.get("tokens"), node.get("overlap")) if node is not None else (None, None)
    least, most = (int(one.value) for one in tokens.value) if tokens is not None else (usual.least, usual.most)
    if tokens is not None and least > most:
        message = f"no chunk has at least {least} and at most {most} tokens"
        compiler.note("PC0273", message, tokens.span, f"write the smaller number first: `[{most}, {least}]`")
    return ChunkPlan(least, most, _read_share(overlap) if overlap is not None else usual.overlap)


def _read_share(node: Node) -> int:
    """Return a share in millionths."""
    return int((read_size(node).amount if isinstance(node.value, str) else read_ratio(node)) * _MICRO)


def _load_defaults(node: Node | None, compiler: TextCompiler) -> dict[str, Any]:
    for key in node.value if node is not None else ():
        if key in RESERVED and node is not None:
            message = f"promptc itself sets `{key}` for every chunk"
            compiler.note("PC0276", message, node.key_span(key), "choose another name")
    return dict(node.plain()) if node is not None else {}


def _load_matching(node: Node, compiler: TextCompiler, files: PackFiles) -> Matching:
    vectors, weights, synonyms = (node.get(key) for key in ("vectors", "weights", "synonyms"))
    usual = Matching()
    encoder = vectors.value["encoder"] if vectors is not None else None
    if encoder is not None and encoder.value not in KNOWN:
        message = f"there is no encoder `{encoder.value}`"
        compiler.note("PC0270", message, encoder.span, suggest(str(encoder.value), KNOWN))
    return Matching(
        _load_weights(weights, encoder, compiler),
        str(encoder.value) if encoder is not None else "",
        _load_synonyms(synonyms, files) if synonyms is not None else (),
        _read_micro(node, "floor", usual.floor),
        _read_micro(node, "lead", usual.lead),
        _read_micro(node, "neighbours", usual.neighbours),
    )


def _read_micro(node: Node, key: str, usual: int) -> int:
    given = node.get(key)
    return read_micro(given) if given is not None else usual


def _load_weights(node: Node | None, encoder: Node | None, compiler: TextCompiler) -> Weights:
    """Return the weights: as given, or equal ones if there is an encoder, or else those of words alone.

    Equal weights separate right chunks from wrong ones best.
    """
    if node is None:
        return Weights(1, 1) if encoder is not None else Weights()
    words, vectors = node.get("words"), node.get("vectors")
    ratios = read_ratio(words) if words else Ratio(1), read_ratio(vectors) if vectors else Ratio(0)
    common = lcm(*(ratio.denominator for ratio in ratios))
    weights = Weights(*(int(ratio * common) for ratio in ratios))
    if not weights.words and not weights.vectors:
        compiler.note(
            "PC0274", "the weights of words and vectors are both 0", node.span, "write, for example, `{words: 0.6, vectors: 0.4}`"
        )
    elif weights.vectors and encoder is None:
        message = "vectors have a weight, but no encoder makes them"
        compiler.note("PC0274", message, node.key_span("vectors"), "add `vectors: {encoder: minilm-int8}` to the index")
    return weights


def _load_synonyms(node: Node, files: PackFiles) -> tuple[tuple[str, tuple[str, ...]], ...]:
    read = files.made.make(load_yaml, *files.read_named(node), node.folder)
    found = []
    wrong = [] if isinstance(read.value, dict) else [_refuse_synonyms(read)]
    for key, value in read.items():
        texts = value.value if isinstance(value.value, tuple) else (value,)
        wrong += [_refuse_synonyms(text) for text in texts if not isinstance(text.value, str)]
        found.append((key, tuple(str(text.value) for text in texts)))
    if wrong:
        raise PromptcError(wrong)
    return tuple(found)


def _refuse_synonyms(node: Node) -> Diagnostic:
    return Diagnostic(
        "PC0275", "the value of a synonym must be a string or a list of strings", node.span, "write, for example, `cr: challenge rating`"
    )


@frozen
class CorpusPattern:
    """A parsed pattern: the folder it begins in (empty for the pack's), its names in braces in order, and its regular expression."""

    folder: str
    names: tuple[str, ...]
    expression: str

    def match(self, path: str) -> dict[str, str] | None:
        """Return the values of the names in `path`, or None if the path does not match."""
        found = re.fullmatch(self.expression, path)
        return found.groupdict() if found is not None else None


def read_corpus_pattern(pattern: str, span: Span, known: Mapping[str, str] | None = None) -> CorpusPattern:
    """Return the parsed `pattern`. Names in `known` match only the given values. Raises `PromptcError` (PC0271) for an invalid pattern."""
    names: list[str] = []
    segments = pattern.split("/")
    read = [_read_segment(segment, pattern, span, names, known or {}) for segment in segments]
    wrong = check_pack_path("/".join(re.sub(r"[*?]|\{[^{}]*\}", "x", segment) for segment in segments))
    if wrong:
        raise _refuse(pattern, wrong, span)
    plain = next((place for place, (text, _) in enumerate(read) if text is None), len(read))
    folder = "/".join(text for text, _ in read[: min(plain, len(read) - 1)] if text is not None)
    expression = "".join(part for _, part in read)
    return CorpusPattern(folder, tuple(names), expression.removesuffix("/"))


def fill_path(path: str, values: Mapping[str, str]) -> str:
    """Return `path` with each name in braces replaced by its value."""
    return re.sub(r"\{([^{}]*)\}", lambda found: values.get(found[1], found[0]), path)


def list_names(path: str) -> tuple[str, ...]:
    """Return the names in the braces of a path."""
    return tuple(re.findall(r"\{([^{}]*)\}", path))


def _read_segment(segment: str, pattern: str, span: Span, names: list[str], known: Mapping[str, str]) -> tuple[str | None, str]:
    """Return the text of a segment, or None if it can match other texts, and its regular expression with the `/` after it."""
    if segment == "**":
        return None, "(?:[^/]+/)*"
    text: str | None = ""
    expression = ""
    for found in _PART.finditer(segment):
        name, part = found[1], found[0]
        if name is None and part in ("{", "}"):
            raise _refuse(pattern, "a brace is not closed", span)
        if name is not None:
            _check_name(name, pattern, span, names)
            names.append(name)
        if name is not None and name in known:
            expression += f"(?P<{name}>{re.escape(known[name])})"
            text = None if text is None else text + known[name]
        elif name is not None or part in ("*", "?"):
            expression += f"(?P<{name}>[^/]+?)" if name is not None else {"*": "[^/]*", "?": "[^/]"}[part]
            text = None
        else:
            expression += re.escape(part)
            text = None if text is None else text + part
    return text, expression + "/"


def _check_name(name: str, pattern: str, span: Span, names: list[str]) -> None:
    if not _NAME.fullmatch(name):
        raise _refuse(pattern, f"`{{{name}}}` is not a name: a name has lower-case letters, digits and `_`", span)
    if name in names:
        raise _refuse(pattern, f"it has `{{{name}}}` twice", span)
    if name in RESERVED:
        raise _refuse(pattern, f"promptc itself sets `{name}` for every chunk", span)


def _refuse(pattern: str, wrong: str, span: Span) -> Exception:
    return fail(
        "PC0271",
        f"`corpus: {pattern}`: {wrong}",
        span,
        help="write, for example, `archive/{version}/*.md`, or `**` for folders at any depth",
    )
