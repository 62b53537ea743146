"""The files that a case names besides its own folder and its pack."""

import os
from collections.abc import Iterator

from promptc.golden.cases.case import Case

_KNOWN = ("stores",)


def list_files(case: Case) -> tuple[str, ...]:
    """The files of its states, of the answers to its operation and of the queries to its index, absolute, each once."""
    asked = case.asked if isinstance(case.asked, dict) else {}
    bases = [one.base for one in case.states if one.base is not None]
    queries = [asked["queries"]] if case.kind == "recall" else []
    answers = asked.get("answers", {}).values() if case.kind == "apply" else ()
    return tuple(dict.fromkeys(_find(case, name) for name in (*bases, *answers, *queries)))


def list_stores(case: Case) -> tuple[str, ...]:
    """The files or folders that its stores are made of, absolute, each once."""
    return tuple(dict.fromkeys(_iter_stores(case)))


def names_all(case: Case) -> bool:
    """Whether what it names, its folder and its pack are all that it may be made of: a command line, and circumstances other than stores,
    may read anything.
    """
    return case.kind != "run" and all(name in _KNOWN for name in case.given)


def _iter_stores(case: Case) -> Iterator[str]:
    for wanted in case.given.get("stores", {}).values():
        yield _find(case, wanted if isinstance(wanted, str) else wanted["from"])


def _find(case: Case, name: str) -> str:
    return os.path.normpath(os.path.join(case.folder, name))
