"""The plugin, in a pytest of its own."""

import shutil

import pytest

from tests.contract.sources import ROOT

pytest_plugins = ["pytester"]
_CASE = "title: x\nstate: ../../packs/starter/state.json\npack: packs/starter\ngolden: [text]\n"


@pytest.fixture
def there(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> pytest.Pytester:
    """A repository with a pack and two cases without goldens; not in CI, whatever runs the tests, and not in the home folder, as pytester
    would have it: a case's paths may not lead through that.
    """
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading the others takes four fifths of the time
    monkeypatch.setenv("PYTEST_PLUGINS", "promptc.pytest_plugin,xdist.plugin")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp("home")))
    shutil.copytree(ROOT / "starters" / "chat", pytester.path / "packs" / "starter", ignore=shutil.ignore_patterns("cases"))
    for name in ("first", "second"):
        folder = pytester.path / "fixtures" / name
        folder.mkdir(parents=True)
        (folder / "case.yaml").write_text(_CASE, encoding="utf-8")
    return pytester


def _accept(there: pytest.Pytester) -> None:
    for path in there.path.rglob("*.new"):
        path.rename(path.with_suffix(""))


@pytest.fixture
def usual(there: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The same, where pytest finds its plugins by itself."""
    for name in ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS"):
        monkeypatch.delenv(name)
    return there


def test_cases_are_not_collected_unasked(there: pytest.Pytester) -> None:
    there.runpytest_subprocess().assert_outcomes()


@pytest.mark.dear
@pytest.mark.parametrize("arguments", [["--promptc"], ["--promptc", "-n", "2"], ["-o", "promptc_cases=true"]])
def test_what_nobody_accepted_fails_and_what_was_accepted_passes(there: pytest.Pytester, arguments: list[str]) -> None:
    first = there.runpytest_subprocess(*arguments)
    first.assert_outcomes(failed=2)
    first.stdout.fnmatch_lines(["*NEW first  x", "*PC0921*"])
    assert sorted(path.name for path in there.path.rglob("*.new")) == ["golden.inputs.json.new"] * 2 + ["golden.txt.new"] * 2
    _accept(there)
    there.runpytest_subprocess(*arguments).assert_outcomes(passed=2)


@pytest.mark.dear
def test_a_failure_shows_the_verdict_and_no_traceback(there: pytest.Pytester) -> None:
    there.runpytest_subprocess("--promptc")
    _accept(there)
    golden = there.path / "fixtures" / "first" / "golden.txt"
    golden.write_text(golden.read_text(encoding="utf-8").replace("214", "215"), encoding="utf-8")
    done = there.runpytest_subprocess("--promptc")
    done.assert_outcomes(failed=1, passed=1)
    done.stdout.fnmatch_lines(["FAILED first  x", "*fixtures/first/golden.txt*"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_in_ci_nothing_is_written(there: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    there.runpytest_subprocess("--promptc").assert_outcomes(failed=2)
    assert not list(there.path.rglob("*.new"))


def test_a_case_that_requires_what_is_not_installed_is_skipped(there: pytest.Pytester) -> None:
    there.makeconftest("import sys; sys.modules['tokenizers'] = None")
    (there.path / "fixtures" / "first" / "case.yaml").write_text(_CASE + "requires: [hf]\n", encoding="utf-8")
    done = there.runpytest_subprocess("--promptc", "-rs")
    done.assert_outcomes(skipped=1, failed=1)
    done.stdout.fnmatch_lines(
        ["SKIPPED*it requires the extra `hf`, which is not installed here: run `pip install 'promptc-compiler[[]hf]'`"]
    )
    assert not (there.path / "fixtures" / "first" / "golden.txt.new").exists()


@pytest.mark.dear
def test_one_case_can_be_run_by_its_path(there: pytest.Pytester) -> None:
    there.runpytest_subprocess("--promptc")
    _accept(there)
    there.runpytest_subprocess("--promptc", "fixtures/first/case.yaml").assert_outcomes(passed=1)
    there.runpytest_subprocess("--promptc", "-k", "second").assert_outcomes(passed=1, deselected=1)


def test_the_fixture_renders(there: pytest.Pytester) -> None:
    there.makepyfile(
        """
        import json, pathlib

        def test_it(promptc_render):
            state = pathlib.Path("packs/starter/state.json")
            prompt = promptc_render("packs/starter", state)
            assert promptc_render(pathlib.Path("packs/starter"), json.loads(state.read_text())).text == prompt.text
            assert promptc_render("packs/starter", state.read_bytes(), budget=60).tokens <= 60
        """
    )
    there.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.dear
def test_it_is_found_and_costs_nothing_unasked(usual: pytest.Pytester) -> None:
    """A pytest that has nothing to do with promptc loads none of it."""
    usual.makepyfile(
        """
        import sys

        def test_it():
            loaded = sorted(name for name in sys.modules if name.startswith("promptc"))
            assert loaded == ["promptc", "promptc.diag", "promptc.diag.typed", "promptc.pytest_plugin", "promptc.version"]
        """
    )
    usual.runpytest_subprocess().assert_outcomes(passed=1)
