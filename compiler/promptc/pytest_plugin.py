"""A plugin for pytest: `--promptc` collects cases as tests, and the fixture `promptc_render` renders packs in your own tests.

Every pytest in the environment loads this module, so it imports the compiler only when one of these is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from promptc.diag.typed import Any

_CASE = "case.yaml"
_NO = ("", "0", "false", "no", "off")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--promptc`, and `promptc_cases` for a configuration file."""
    parser.getgroup("promptc").addoption("--promptc", action="store_true", dest="promptc_cases", help="collect case.yaml files as tests")
    parser.addini("promptc_cases", "collect case.yaml files as tests, as --promptc does", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a case as a file with one test in it."""
    config = parent.config
    is_asked = config.getoption("promptc_cases") or config.getini("promptc_cases")
    return CaseFile.from_parent(parent, path=file_path) if is_asked and file_path.name == _CASE else None


class CaseFile(pytest.File):
    """A `case.yaml`."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the one test, named after the folder of the case."""
        yield CaseItem.from_parent(self, name=self.path.parent.name)


class CaseFailure(Exception):
    """A verdict other than a pass, as `promptc test` prints it."""


class CaseItem(pytest.Item):
    """A case, judged as `promptc test` does. Pending goldens are written next to the old ones, but never in CI."""

    def runtest(self) -> None:
        """Raise `CaseFailure` for any verdict but a pass. A new case fails, too, since nobody has accepted it.

        A case that cannot run without a missing extra is skipped.
        """
        from promptc.cli.terminal import PLAIN, render_diagnostics
        from promptc.cli.views.verdict import render_verdict

        verdict = self._judge()
        if verdict.status == "skipped":
            pytest.skip(f"{verdict.findings[0].message}: {verdict.findings[0].help}")
        if verdict.status != "passed":
            raise CaseFailure(render_verdict(self._explain(verdict), PLAIN, render_diagnostics))

    def _explain(self, verdict: Any) -> Any:
        """Return the verdict with its cause, for as many failures of a run as `promptc test` explains."""
        from promptc.cli.shell import CaseShell
        from promptc.golden.cause import CauseFinder

        return self.session.stash.setdefault(_CAUSES, CauseFinder(CaseShell())).explain(verdict)

    def _judge(self) -> Any:
        from promptc.cli.shell import CaseShell
        from promptc.golden.cases.discover import iter_cases
        from promptc.golden.running.resources import SuiteResources
        from promptc.golden.verdicts.judge import judge_case

        is_ci = os.environ.get("CI", "").lower() not in _NO
        place = next(iter(iter_cases([str(self.path.parent)])))
        resources = self.session.stash.setdefault(_SHELF, SuiteResources())
        return judge_case(place, resources, CaseShell(), "compare" if is_ci else "write")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the verdict alone: a traceback through promptc says nothing."""
        if isinstance(excinfo.value, CaseFailure):
            return str(excinfo.value).rstrip("\n")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the case."""
        return self.path, 0, f"case {self.name}"


_SHELF: pytest.StashKey[Any] = pytest.StashKey()
_CAUSES: pytest.StashKey[Any] = pytest.StashKey()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Release the resources that the cases shared."""
    for key in (_SHELF, _CAUSES):
        held = session.stash.get(key, None)
        if held is not None:
            held.__exit__(None, None, None)
            del session.stash[key]


@pytest.fixture(scope="session")
def promptc_render() -> Callable[..., Any]:
    """Return a function that renders a state to a `promptc.Prompt`: `promptc_render(pack, state, **options)`.

    The state is a dict, JSON bytes, or the path of a file. The options are those of `Pack.render`. Each pack is loaded once a session.
    Raises what rendering raises.
    """
    import promptc
    from promptc.files.reading import read_given
    from promptc.frontend.json import MAX_STATE_BYTES

    packs: dict[str, promptc.Pack] = {}

    def render(pack: str | os.PathLike[str], state: Mapping[str, Any] | bytes | str | os.PathLike[str], **options: Any) -> promptc.Prompt:
        path = os.fspath(pack)
        key = str(Path(path).absolute())
        if key not in packs:
            packs[key] = promptc.load(path)
        given = state if isinstance(state, Mapping | bytes) else read_given(state, MAX_STATE_BYTES)
        return packs[key].render(given, **options)

    return render
