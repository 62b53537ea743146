"""The compiled modules of a warm render in one file: found and read one by one they take as long as half the render.

Python keeps each module's code in a file of its own, looks for it in every place where it could be, and compares times. The seal compares
the times of all of promptc's files at once.
"""

import marshal
import os
import sys

from promptc.cache import Cache
from promptc.diag.typed import Any

_NAME = "image"
_OWN = "promptc."
_SPEC: Any = sys.__spec__.__class__

Code = tuple[bytes, str, bool]
"""A module's code, its file, and whether it is a package."""


class Image:
    """Finds promptc's modules in the cache, for `sys.meta_path`. What it does not have is found as ever."""

    def __init__(self, cache: Cache) -> None:
        content = cache.load(_NAME)
        self._cache = cache
        self._codes: dict[str, Code] = marshal.loads(content) if content is not None else {}
        self._early = frozenset(sys.modules)
        self._is_missing = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """As the import system asks for it."""
        held = self._codes.get(name)
        if held is None:
            self._is_missing = self._is_missing or name.startswith(_OWN)
            return None
        spec = _SPEC(name, self, origin=held[1], is_package=held[2])
        if held[2]:
            spec.submodule_search_locations = [os.path.dirname(held[1])]  # noqa: PTH120
        return spec

    def create_module(self, spec: Any) -> None:
        """As the import system asks for it: a plain one will do."""

    def exec_module(self, module: Any) -> None:
        """As the import system asks for it."""
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
