"""A run of a program that keeps a log."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.template.check_tree import find_bound
from promptc.template.count_nodes import count_nodes
from promptc.template.lower.expressions import name_filter, name_test
from promptc.template.lower.module import lower_module
from promptc.template.parse import parse, verbatim
from promptc.template.runtime.callables import Names, Render
from promptc.template.runtime.filters.table import find_filter, find_test
from promptc.template.runtime.lowered import LoweredFile
from promptc.template.runtime.objects import TEMPLATE
from promptc.template.runtime.program import GLOBALS, Program
from promptc.template.runtime.run import find_run
from promptc.template.trace_log import Log
from promptc.template.tracing import instrument


def run_logged(program: Program, names: Mapping[str, Any], log: Log, *, expression: bool = False) -> Any:
    """What the program gives, settled or not; what it reads and prints is in `log`. It must be known to run without an error."""
    files = {file.name: file for file in program.files}
    loaded: dict[str, _Logged] = {}

    def load(name: str) -> _Logged:
        if name not in loaded:
            loaded[name] = _load(files[name], program, log, expression=expression and not name)
        return loaded[name]

    run, root = find_run(names, program.limits), load("")
    run.begin_program()
    return root.root(run, Names(load, run, names, root.blocks))


@frozen(eq=False)
class _Logged:
    """The functions of one file."""

    weight: int
    root: Render
    blocks: Mapping[str, Render]


def _load(file: LoweredFile, program: Program, log: Log, *, expression: bool) -> _Logged:
    is_template = not file.name or file.name.endswith(".j2")
    parsed = parse(file.text, file.name, program.place, program.limits, expression=expression) if is_template else verbatim(file.text)
    lowered, expressions, blocks = lower_module(parsed, find_bound(parsed), expression=expression)
    module: dict[str, Any] = {**GLOBALS, "log": log, "file": file.name}
    module |= {"find_attribute": log.find_attribute, "find_item": log.find_item}
    module |= {name_filter(name): find_filter(name) for name in expressions.filters}
    module |= {name_test(name): find_test(name) for name in expressions.tests}
    exec(compile(instrument(lowered), f"{TEMPLATE}{file.name}>", "exec", dont_inherit=True), module)
    return _Logged(count_nodes(parsed), module["root"], {name: module[f"block_{name}"] for name in blocks})
