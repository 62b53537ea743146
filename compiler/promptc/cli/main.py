"""The command `promptc`, and the start of a render: it loads the modules that an earlier render left in the cache.

This module imports little: a warm render must take no longer than an import of the library that parses command lines. Python stores the
code of each module in a file of its own, searches every folder where that file could be, and compares times; this takes a twelfth of a
warm render. An `Image` keeps the code of all modules in one cache entry, whose seal compares the times of all of promptc's files at once.
"""

import gc
import marshal
import os
import sys
from collections.abc import Sequence

from promptc.diag.typed import Any, NoReturn

_INTERRUPTED = 130
_NO_CACHE = "--no-cache"
_NAME = "image"
_OWN = "promptc."
_SPEC: Any = sys.__spec__.__class__
_COMPILES = "promptc.frontend.pack"
"""The module whose import shows that a render was not warm. Its modules are not kept, either."""

_SHOWING = (["explain"], ["diff"])
"""The commands that show one or two renders and end. Python's collector would traverse their states repeatedly and find nothing."""

Code = tuple[bytes, str, bool]
"""The code of a module, its file, and whether it is a package."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (by default `sys.argv`) and return its exit code (see `run`)."""
    try:
        if arguments is None and sys.argv[1:2] == ["render"] and _NO_CACHE not in sys.argv:
            _leave(_render(sys.argv[1:]))
        if arguments is None and sys.argv[1:2] in _SHOWING:
            gc.disable()
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # while modules are imported, before `run` can catch it
        return _INTERRUPTED


def _run(given: Sequence[str]) -> int:
    from promptc.cli.run import run

    return run(list(given))


def _render(given: Sequence[str]) -> int:
    """Run a render with the garbage collector off and with promptc's modules from the cache, in a process that does nothing else."""
    from promptc.cache import open_cache

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


def _leave(code: int) -> NoReturn:
    """End the process without tearing down the interpreter, which would take a fifth of the render. All output is already written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(code)


class Image:
    """A finder for `sys.meta_path` that loads promptc's modules from the cache. The other finders find the modules that it lacks."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache
        self._codes: dict[str, Code] = cache.load_plain(_NAME) or {}
        self._early = frozenset(sys.modules)
        self._is_missing = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a module in the cache, or None if the cache does not have the module."""
        held = self._codes.get(name)
        if held is None:
            self._is_missing = self._is_missing or name.startswith(_OWN)
            return None
        spec = _SPEC(name, self, origin=held[1], is_package=held[2])
        if held[2]:
            spec.submodule_search_locations = [os.path.dirname(held[1])]  # noqa: PTH120  pathlib takes longer to import than a render may
        return spec

    def create_module(self, spec: Any) -> None:
        """Return None: the import system creates a plain module."""

    def exec_module(self, module: Any) -> None:
        """Run the cached code of a module."""
        code, module.__file__, _ = self._codes[module.__name__]
        exec(marshal.loads(code), module.__dict__)

    def keep(self) -> None:
        """Add the modules that other finders loaded to the cache entry."""
        if not self._is_missing:
            return
        codes = dict(self._codes)
        for name in sorted(sys.modules):
            if name.startswith(_OWN) and name not in codes and name not in self._early:
                module: Any = sys.modules[name]
                codes[name] = (marshal.dumps(module.__loader__.get_code(name)), module.__file__, hasattr(module, "__path__"))
        self._cache.keep_plain(_NAME, codes)
