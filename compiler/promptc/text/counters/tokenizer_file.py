"""The counter of a pack's own tokenizer file (`hf:<file>`): found inside the pack, read and loaded."""

from __future__ import annotations

import os
import re

from promptc.diag.findings import Span, fail
from promptc.files.reading import IrregularError, LinkError, TooLongError, read_inside
from promptc.text.counters.counter import Counter

_LIMIT = 64 * 1024 * 1024


def load_tokenizer_file(name: str, folder: str | os.PathLike[str], span: Span | None = None) -> Counter:
    """The counter `hf:<file>`, with a file inside `folder`. Raises PromptcError with PC0181 to PC0183."""
    raw = _read_tokenizer(name, folder, span)
    try:
        from promptc.text.counters.huggingface import load_hf_counter
    except ImportError as error:
        message = f"`{name}` needs the package `tokenizers`, which is not installed"
        raise fail("PC0181", message, span, help="pip install 'promptc-compiler[hf]'") from error
    return load_hf_counter(name, raw, span)


def _read_tokenizer(name: str, folder: str | os.PathLike[str], span: Span | None) -> bytes:
    relative = name.removeprefix("hf:")
    if any(not re.fullmatch(r"[^\\:\x00-\x1f]+", part) or part in (".", "..") for part in relative.split("/")):
        raise fail("PC0183", f"`{name}` names no file inside the pack", span, help=_INSIDE)
    try:
        return read_inside(folder, relative, _LIMIT)
    except LinkError:
        raise fail("PC0183", f"`{name}` goes through a link", span, help=_INSIDE) from None
    except (FileNotFoundError, NotADirectoryError, IrregularError):
        raise fail("PC0181", f"there is no file of `{name}`", span, help="its path is relative to the pack's folder") from None
    except TooLongError:
        raise fail("PC0182", f"`{name}`: the file is larger than {_LIMIT} bytes", span, help="no tokenizer is") from None
    except OSError as error:
        raise fail("PC0181", f"the file of `{name}` cannot be read: {error.strerror}", span, help="make it readable") from error


_INSIDE = "write `hf:` and a path such as `tokenizers/tokenizer.json`, relative to the pack's folder, without links"
