"""The command `promptc`.

Little is imported here: a warm render is to take no longer than an import of the library that reads command lines.
"""

import sys
from collections.abc import Sequence

from promptc.diag.typed import NoReturn

_NO_CACHE = "--no-cache"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line, `sys.argv` by default, and gives its exit code (see `run`)."""
    if arguments is None and sys.argv[1:2] == ["render"] and _NO_CACHE not in sys.argv:
        _leave(_render(sys.argv[1:]))
    return _run(sys.argv[1:] if arguments is None else arguments)


def _run(given: Sequence[str]) -> int:
    from promptc.cli.run import run

    return run(list(given))


def _render(given: Sequence[str]) -> int:
    """In a process that does nothing else: what is garbage goes with it, and promptc's modules come from the cache."""
    import gc

    from promptc.cache import open_cache
    from promptc.cli.image import Image

    gc.disable()
    cache = open_cache()
    if cache is None:
        return _run(given)
    image = Image(cache)
    sys.meta_path.insert(0, image)
    code = _run(given)
    if _COMPILES not in sys.modules:
        image.keep()
    return code


_COMPILES = "promptc.frontend.pack"
"""Where this was imported the render was not a warm one, and neither are its modules."""


def _leave(code: int) -> NoReturn:
    """Ends the process without taking it apart, which would take as long as a fifth of the render. All output has been written."""
    import os

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(code)
