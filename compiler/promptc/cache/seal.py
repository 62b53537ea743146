"""Seals: what is read back is what was written, by the same promptc under the same Python, or it is nothing."""

import os
import sys
from _blake2 import blake2b

from promptc.version import VERSION

_MAGIC = b"promptc cache 1\n"
_SIZE = 32
_HEAD = len(_MAGIC) + _SIZE
_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def seal(content: bytes) -> bytes:
    """`content` behind a digest of it, of promptc's version and files, and of the interpreter."""
    return _MAGIC + _digest(content) + content


def unseal(sealed: bytes) -> memoryview | None:
    """What was sealed; None when anything about it is different. Nothing of it has been looked at before that is known."""
    content = memoryview(sealed)[_HEAD:]
    return content if sealed[:_HEAD] == _MAGIC + _digest(content) else None


def _digest(content: bytes | memoryview) -> bytes:
    return blake2b(content, digest_size=_SIZE, key=_find_maker()).digest()


def _find_maker() -> bytes:
    """Who writes: a pickled value and a code object mean something to one version of promptc and of Python only."""
    if not _MAKER:
        told = f"{VERSION}\0{sys.implementation.cache_tag}\0{sys.version}\0{sys.byteorder}\0{_describe_files(_PACKAGE)}"
        _MAKER.append(blake2b(told.encode(), digest_size=_SIZE).digest())
    return _MAKER[0]


_MAKER: list[bytes] = []


def _describe_files(folder: str) -> str:
    """The sizes and times of promptc's own source files, so that an entry does not outlive an edit that left the version as it was."""
    found: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                kept = entry.stat()
                found.append(f"{entry.name}\0{kept.st_size}\0{kept.st_mtime_ns}\n")
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                found.append(f"{entry.name}\0{_describe_files(entry.path)}")
    return "".join(sorted(found))
