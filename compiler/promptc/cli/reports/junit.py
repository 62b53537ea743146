"""Verdicts as JUnit XML, which build servers read."""

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from promptc.cli.findings import render_diagnostics
from promptc.golden.judging.compare import Verdict

_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TOLD = ("failed", "new", "obsolete", "skipped")


def render_junit(verdicts: Sequence[Verdict], *, is_ci: bool) -> str:
    """A test suite for each pack, in the order of the verdicts, with a test case for each. A broken case is an error; what is new or
    obsolete is a failure in CI, and skipped elsewhere; what was skipped is so. Times are in seconds.
    """
    suites: dict[str, list[Verdict]] = {}
    for one in verdicts:
        suites.setdefault(one.name.partition("/")[0], []).append(one)
    inner = "".join(_render_suite(name, some, is_ci) for name, some in suites.items())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="promptc" {_count(verdicts, is_ci)}>\n{inner}</testsuites>\n'


def _render_suite(name: str, verdicts: Sequence[Verdict], is_ci: bool) -> str:
    inner = "".join(_render_case(one, is_ci) for one in verdicts)
    return f"  <testsuite name={_quote(name)} {_count(verdicts, is_ci)}>\n{inner}  </testsuite>\n"


def _count(verdicts: Sequence[Verdict], is_ci: bool) -> str:
    tags = [_find_tag(one, is_ci) for one in verdicts]
    counts = [
        ("tests", len(tags)),
        ("failures", tags.count("failure")),
        ("errors", tags.count("error")),
        ("skipped", tags.count("skipped")),
    ]
    shown = " ".join(f'{name}="{count}"' for name, count in counts)
    return f'{shown} time="{_show_time(sum(one.microseconds for one in verdicts))}"'


def _find_tag(verdict: Verdict, is_ci: bool) -> str:
    if verdict.status == "broken":
        return "error"
    if verdict.status not in _TOLD:
        return ""
    return "failure" if verdict.status == "failed" or (is_ci and verdict.status != "skipped") else "skipped"


def _render_case(verdict: Verdict, is_ci: bool) -> str:
    suite, _, name = verdict.name.partition("/")
    head = f"    <testcase classname={_quote(suite)} name={_quote(name or suite)} file={_quote(verdict.file)}"
    head += f' time="{_show_time(verdict.microseconds)}"'
    tag = _find_tag(verdict, is_ci)
    if not tag:
        return f"{head}/>\n"
    first = verdict.findings[0].message.partition("\n")[0] if verdict.findings else verdict.status
    kind = verdict.findings[0].code if verdict.findings else verdict.status
    if verdict.status == "skipped":
        return f"{head}>\n      <skipped message={_quote(_explain_skip(verdict))}/>\n    </testcase>\n"
    type = f" type={_quote(kind)}" if tag != "skipped" else ""
    text = escape(_clean(render_diagnostics(verdict.findings)))
    return f"{head}>\n      <{tag} message={_quote(first)}{type}>{text}</{tag}>\n    </testcase>\n"


def _explain_skip(verdict: Verdict) -> str:
    (found,) = verdict.findings
    return f"{found.message}: {found.help}"


def _show_time(microseconds: int) -> str:
    return f"{microseconds // 1_000_000}.{microseconds % 1_000_000:06}"


def _quote(text: str) -> str:
    return quoteattr(_clean(text).replace("\n", " "))


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold, which are shown as escapes."""
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
