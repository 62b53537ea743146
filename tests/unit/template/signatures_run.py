"""What the tests of signatures share: what `check` says of the arguments of an expression, and what a run says."""

from promptc.diag.findings import PromptcError
from promptc.template.lower.module import load_expression, load_template
from promptc.template.runtime.run import RUN, Run
from promptc.template.types.infer import infer_types, read_code, weigh_bytes
from promptc.template.types.walk import Scope
from tests.unit.template.run import FILE, INLINE, WordCounter


def judge(text: str) -> list[tuple[str, str, str]]:
    """Code, message and help of what `check` finds wrong with arguments."""
    found = infer_types(read_code(load_expression(text, INLINE)), Scope({}), weigh_bytes)
    return [problem.told for problem in found.problems if problem.told is not None]


def judge_all(text: str) -> list[str]:
    """All rules by which `check` finds something wrong."""
    found = infer_types(read_code(load_expression(text, INLINE)), Scope({}), weigh_bytes)
    return [problem.rule for problem in found.problems]


def run(text: str) -> tuple[str, str, str] | None:
    """Code, message and help a run fails with, or None."""
    try:
        load_expression(text, INLINE).evaluate({RUN: Run(WordCounter())})
    except PromptcError as error:
        (found,) = error.diagnostics
        return found.code, found.message, found.help
    return None


def judge_template(text: str) -> list[tuple[str, str, str]]:
    """The same of a template."""
    found = infer_types(read_code(load_template(text, FILE, load_file=None)), Scope({}), weigh_bytes)
    return [problem.told for problem in found.problems if problem.told is not None]
