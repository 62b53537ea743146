"""The lookup of filters and tests by name, and calls whose arguments are not checked until run time.

A module of filters is imported when the first of its names is requested.
"""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any, NoReturn
from promptc.template.runtime.objects import refuse
from promptc.template.runtime.run import Run

Filter = Callable[..., Any]
Test = Callable[..., bool]

_MODULES = {
    "lists": """
        map select reject selectattr rejectattr sort dictsort unique min max groupby
        default d first last length count list reverse join items batch slice sum
    """,
    "text": """
        upper lower capitalize title trim string center replace wordcount truncate indent format truncate_at sentences_about tokens urlize
        escape e forceescape safe striptags urlencode xmlattr wordwrap
    """,
    "values": """
        json tojson chat_tojson pprint abs float int round filesizeformat normalize one_line mentions pick
        minutes_since hours_since days_since timestamp
    """,
}
_HOLDERS = {name: module for module, names in _MODULES.items() for name in names.split()}

_filters: dict[str, Filter] = {}
_tests: dict[str, Test] = {}


def load_filter(name: str) -> Filter:
    """Return the function `(run, value, *args, **kwargs)` of a filter. Raises `Fault` (PC0406) if there is no filter of that name."""
    if name not in _filters:
        if name not in _HOLDERS:
            lack_filter(None, name)
        _filters.update(_name_all(_load(_HOLDERS[name]).FILTERS))
    return _filters[name]


def lack_filter(run: Run | None, name: str, /) -> NoReturn:
    """Raise `Fault` (PC0406): there is no filter of that name, in a pack or in a chat template."""
    refuse("PC0406", f"there is no filter `{name}`", "`promptc rule PC0406` lists every filter")


def load_test(name: str) -> Test:
    """Return the function `(run, value, *args)` of a test. Raises `Fault` (PC0407) if there is no test of that name."""
    if not _tests:
        _tests.update(_name_all(_load("lists").TESTS))
    if name not in _tests:
        refuse("PC0407", f"there is no test `{name}`", "`promptc rule PC0407` lists every test")
    return _tests[name]


def _load(module: str) -> Any:
    return __import__(f"{__package__}.{module}", fromlist=[module])


def _name_all(functions: dict[str, Any]) -> dict[str, Any]:
    """Name each function as templates do, since Python's messages about arguments use that name. The first of several names wins."""
    for name, function in reversed(functions.items()):
        function.__qualname__ = name
    return functions


def call_filter(run: Run, function: Callable[..., Any], name: str, value: Any, /, *args: Any, **named: Any) -> Any:
    """Call a filter whose arguments are only known at run time, or are wrong.

    Raises `Fault` (PC0424 and others) for wrong arguments, before the filter does anything.
    """
    from promptc.template.signatures import find_wrong_filter  # late: most renders have no such call, and the table is large

    wrong = find_wrong_filter(name, args, named, run.limits)
    if wrong is not None:
        raise wrong.fault()
    return function(run, value, *args, **named)


def call_test(run: Run, function: Callable[..., bool], name: str, value: Any, /, *args: Any, **named: Any) -> bool:
    """Call a test as `call_filter` calls a filter."""
    from promptc.template.signatures import find_wrong_test  # late, as above

    wrong = find_wrong_test(name, args, named, run.limits)
    if wrong is not None:
        raise wrong.fault()
    return function(run, value, *args, **named)
