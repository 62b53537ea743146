"""The command `promptc`, and how a render starts: with the modules that an earlier one left in the cache.

Little is imported here: a warm render is to take no longer than an import of the library that reads command lines. Python keeps each
module's code in a file of its own, looks for it in every place where it could be, and compares times; that takes a twelfth of a warm
render. An `Image` has all of them in one entry of the cache, whose seal compares the times of all of promptc's files at once.
"""

import gc
import marshal
import os
import sys
from collections.abc import Sequence

from promptc.diag.typed import Any, NoReturn

_NO_CACHE = "--no-cache"
_NAME = "image"
_OWN = "promptc."
_SPEC: Any = sys.__spec__.__class__
_COMPILES = "promptc.frontend.pack"
"""Where this was imported the render was not a warm one, and neither are its modules."""

_SHOWING = (["explain"], ["diff"])
"""What shows a render or two and ends: Python's collector would go through their states again and again, and find nothing."""

Code = tuple[bytes, str, bool]
"""A module's code, its file, and whether it is a package."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line, `sys.argv` by default, and gives its exit code (see `run`)."""
    if arguments is None and sys.argv[1:2] == ["render"] and _NO_CACHE not in sys.argv:
        _leave(_render(sys.argv[1:]))
    if arguments is None and sys.argv[1:2] in _SHOWING:
        gc.disable()
    return _run(sys.argv[1:] if arguments is None else arguments)


def _run(given: Sequence[str]) -> int:
    from promptc.cli.run import run

    return run(list(given))


def _render(given: Sequence[str]) -> int:
    """In a process that does nothing else: what is garbage goes with it, and promptc's modules come from the cache."""
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
    """Ends the process without taking it apart, which would take as long as a fifth of the render. All output has been written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(code)


class Image:
    """Finds promptc's modules in the cache, for `sys.meta_path`. What it does not have is found as ever."""

    def __init__(self, cache: Any) -> None:
        content = cache.load(_NAME)
        self._cache = cache
        self._codes: dict[str, Code] = marshal.loads(content) if content is not None else {}
        self._early = frozenset(sys.modules)
        self._is_missing = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Answers the import system."""
        held = self._codes.get(name)
        if held is None:
            self._is_missing = self._is_missing or name.startswith(_OWN)
            return None
        spec = _SPEC(name, self, origin=held[1], is_package=held[2])
        if held[2]:
            spec.submodule_search_locations = [os.path.dirname(held[1])]  # noqa: PTH120  pathlib takes longer to import than a render may
        return spec

    def create_module(self, spec: Any) -> None:
        """Answers the import system: a plain module will do."""

    def exec_module(self, module: Any) -> None:
        """Answers the import system."""
        code, module.__file__, _ = self._codes[module.__name__]
        exec(marshal.loads(code), module.__dict__)

    def keep(self) -> None:
        """Adds the modules that were found elsewhere."""
        if not self._is_missing:
            return
        codes = dict(self._codes)
        for name in sorted(sys.modules):
            if name.startswith(_OWN) and name not in codes and name not in self._early:
                module: Any = sys.modules[name]
                codes[name] = (marshal.dumps(module.__loader__.get_code(name)), module.__file__, hasattr(module, "__path__"))
        self._cache.keep(_NAME, marshal.dumps(codes))
