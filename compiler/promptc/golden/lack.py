"""An installation that lacks something, for the run of a case."""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping

from promptc.diag.typed import Any
from promptc.text.counters import vocabulary

_VOCABULARIES = "vocabularies"
_MODULES: Mapping[str, tuple[str, ...]] = {
    "tokenizers": ("tokenizers", "promptc.text.counters.hf_counter"),
    "retrieval": ("onnxruntime",),
    "psycopg": ("psycopg",),
    "httpx": ("httpx",),
}
LACKABLE = (_VOCABULARIES, *_MODULES)
"""What an installation may be without: the shipped vocabularies, and what the extras bring."""


@contextlib.contextmanager
def lack(names: Iterable[str]) -> Iterator[None]:
    """In here nothing of that is found, whether it was used before or not. `names` are of LACKABLE."""
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(_hide_vocabularies() if name == _VOCABULARIES else replace_modules(dict.fromkeys(_MODULES[name])))
        yield


@contextlib.contextmanager
def _hide_vocabularies() -> Iterator[None]:
    before = vocabulary.look_in("")
    vocabulary.look_in(f"{before}/missing")
    try:
        yield
    finally:
        vocabulary.look_in(before)


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
