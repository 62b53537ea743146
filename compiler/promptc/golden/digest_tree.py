"""A digest of a file or of all files in a folder."""

import os
from _blake2 import blake2b

from promptc.files.reading import read_file
from promptc.golden.read_plain import MAX_PLAIN_BYTES

_SIZE = 16


def digest_tree(path: str) -> bytes | None:
    """Of the names and contents of all files at or under `path`, hidden ones and folders too; None where one cannot be read, or there is a
    link or anything else but files and folders.
    """
    whole = blake2b(digest_size=_SIZE)
    try:
        for name in sorted(_list_names(path)) if os.path.isdir(path) else ("",):
            content = read_file(os.path.join(path, name) if name else path, MAX_PLAIN_BYTES)
            whole.update(b"%b\0%d\0" % (os.fsencode(name), len(content)))
            whole.update(content)
    except (OSError, ValueError):
        return None
    return whole.digest()


def _list_names(folder: str) -> list[str]:
    return [
        os.path.relpath(os.path.join(inner, name), folder)
        for inner, folders, names in os.walk(folder, onerror=_refuse)
        for name in (*names, *(one for one in folders if os.path.islink(os.path.join(inner, one))))
    ]


def _refuse(wrong: OSError) -> None:
    raise wrong
