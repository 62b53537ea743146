"""The hooks for pre-commit and the action for GitHub, as far as they can be tried without those services."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner
from pre_commit.clientlib import load_manifest

from tests.cli.conftest import ROOT, START, environment

HOOKS = {hook["id"]: hook for hook in load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}
CASE = "title: x\nstate: ../../packs/starter/state.json\npack: packs/starter\ngolden: [text]\n"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A repository with a pack and a case that holds, and `promptc` on its path."""
    shutil.copytree(ROOT / "starters" / "chat", tmp_path / "packs" / "starter")
    folder = tmp_path / "fixtures" / "first"
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(CASE, encoding="utf-8")
    _run(there := tmp_path, ["promptc", "test"], CI="")
    (folder / "golden.txt.new").rename(folder / "golden.txt")
    for path in folder.glob("*.new"):
        path.unlink()
    return there


def _run(there: Path, line: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """A command line in the repository, where `promptc` is this one."""
    binary = there.parent / f"{there.name}-bin"
    binary.mkdir(exist_ok=True)
    command = binary / "promptc"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(START)} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    env = {**environment(), **variables}
    env["PATH"] = f"{binary}:{env['PATH']}"
    return subprocess.run(line, cwd=there, env=env, capture_output=True, text=True, check=False)


def _break_golden(there: Path) -> None:
    golden = there / "fixtures" / "first" / "golden.txt"
    golden.write_text(golden.read_text(encoding="utf-8") + "more\n", encoding="utf-8")


def _run_hook(there: Path, name: str) -> subprocess.CompletedProcess[str]:
    hook = HOOKS[name]
    return _run(there, [*shlex.split(hook["entry"]), *hook["args"]], CI="")


def test_hooks_pass_where_all_is_well(there: Path) -> None:
    for name in ("promptc-check", "promptc-test"):
        done = _run_hook(there, name)
        assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_fail_and_write_nothing(there: Path) -> None:
    _break_golden(there)
    manifest = there / "packs" / "starter" / "pack.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("sections:", "sectoins:"), encoding="utf-8")
    before = {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
    assert _run_hook(there, "promptc-check").returncode == 3
    assert _run_hook(there, "promptc-test").returncode == 1
    assert {path: path.read_bytes() for path in there.rglob("*") if path.is_file()} == before


def test_nothing_of_a_pull_request_is_put_into_a_script() -> None:
    """What is written `${{ … }}` in a script becomes part of it. Inputs come by variables, and the token goes to the comment alone."""
    steps = ACTION["runs"]["steps"]
    assert not [step["name"] for step in steps if "${{" in step.get("run", "")]
    assert [step["name"] for step in steps if "token" in str(step.get("env", {}))] == ["Comment on the pull request"]
    assert all(
        "promptc test --ci" in one["entry"] or "promptc check" in one["entry"] or one["language"] == "fail" for one in HOOKS.values()
    )


def test_pending_goldens_are_not_committed() -> None:
    pattern = re.compile(HOOKS["promptc-no-pending"]["files"])
    assert pattern.search("fixtures/a/golden.txt.new") and pattern.search("golden.report.json.new")
    assert not pattern.search("fixtures/a/golden.txt") and not pattern.search("notes.new")


def test_the_action_is_one_that_github_takes() -> None:
    done = CliRunner().invoke(check_jsonschema, ["--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml")])
    assert done.exit_code == 0, done.output


def test_no_script_of_the_action_holds_an_expression() -> None:
    """What a pull request is called could otherwise be run: inputs come in as variables."""
    assert not [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")]


def _run_step(there: Path, name: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """A step of the action, as a runner would run it, and its outputs."""
    step = STEPS[name]
    defaults = {key: str(value.get("default", "")) for key, value in ACTION["inputs"].items()}
    variables = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: defaults[found[1]], value) for key, value in step["env"].items()}
    temp = there.parent / f"{there.name}-temp"
    temp.mkdir(exist_ok=True)
    files = {key: str(temp / f"{name}.{key}") for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = _run(there, ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], RUNNER_TEMP=str(temp), **files, **variables)
    outputs = dict(line.split("=", 1) for line in Path(files["GITHUB_OUTPUT"]).read_text(encoding="utf-8").splitlines())
    return done, outputs


@pytest.mark.dear
def test_the_steps_of_the_action_run(there: Path) -> None:
    done, outputs = _run_step(there, "check")
    assert done.returncode == 0, done.stderr
    assert '"version": "2.1.0"' in Path(outputs["sarif"]).read_text(encoding="utf-8")
    done, outputs = _run_step(there, "test")
    assert done.returncode == 0, done.stderr
    assert Path(outputs["junit"]).read_text(encoding="utf-8").startswith("<?xml")
    assert Path(outputs["markdown"]).read_text(encoding="utf-8").startswith("<!-- promptc -->")


def test_a_step_that_finds_something_fails_and_leaves_its_files(there: Path) -> None:
    _break_golden(there)
    done, outputs = _run_step(there, "test")
    assert done.returncode == 1
    assert "::error file=fixtures/first/golden.txt," in done.stdout
    assert "1 failed" in Path(outputs["markdown"]).read_text(encoding="utf-8")
    assert "<failure" in Path(outputs["junit"]).read_text(encoding="utf-8")
    summary = (there.parent / f"{there.name}-temp" / "test.GITHUB_STEP_SUMMARY").read_text(encoding="utf-8")
    assert "1 failed" in summary


@pytest.mark.dear
def test_a_check_that_fails_tells_why_and_fails_the_step(there: Path) -> None:
    manifest = there / "packs" / "starter" / "pack.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("sections:", "sectoins:"), encoding="utf-8")
    done, outputs = _run_step(there, "check")
    assert done.returncode == 3 and "::error file=packs/starter/pack.yaml" in done.stdout
    assert "sectoins" in Path(outputs["sarif"]).read_text(encoding="utf-8")
    shutil.rmtree(there / "packs")
    assert _run_step(there, "check")[0].returncode > 1


GH = """\
#!/bin/sh
echo "$@" >> "$GH_LOG"
test -z "$GH_FAILS" || { echo 'gh: Resource not accessible by integration (HTTP 403)' >&2; exit 1; }
case "$*" in
  *--jq*) test "$MARK" != '<!-- promptc old -->' || printf '7\\n8\\n' ;;
  *body=@*) for one; do case "$one" in body=@*) cat "${one#body=@}" >> "$GH_LOG" ;; esac; done ;;
esac
"""


def _comment(there: Path, key: str, **variables: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """The step that comments, with a stand-in for `gh`, and what that was asked."""
    step = ACTION["runs"]["steps"][-1]
    binary = there.parent / f"{there.name}-bin"
    binary.mkdir(exist_ok=True)
    (binary / "gh").write_text(GH, encoding="utf-8")
    (binary / "gh").chmod(0o755)
    markdown, log = there / "promptc.md", there / "gh.log"
    markdown.write_text("<!-- promptc -->\n### told\n", encoding="utf-8")
    log.write_text("", encoding="utf-8")
    given = {"MARKDOWN": str(markdown), "KEY": key, "REPOSITORY": "a/b", "NUMBER": "1", "GH_LOG": str(log), "GH_FAILS": ""}
    line = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return _run(there, line, RUNNER_TEMP=str(there), **{**given, **variables}), log.read_text(encoding="utf-8")


def test_the_comment_is_that_of_its_key(there: Path) -> None:
    done, asked = _comment(there, "linux")
    assert done.returncode == 0 and "issues/1/comments --field" in asked
    assert "<!-- promptc linux -->\n### told\n" in asked
    done, asked = _comment(there, "old")
    assert done.returncode == 0 and "comments/7 --method PATCH" in asked
    assert "<!-- promptc -->\n### told\n" in _comment(there, "")[1]
    assert _comment(there, "a b -->")[0].returncode == 2


def test_a_comment_that_may_not_be_written_is_a_warning(there: Path) -> None:
    done, _ = _comment(there, "", GH_FAILS="yes")
    assert done.returncode == 0 and "::warning" in done.stdout


# --- the release ---

RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
JOBS = RELEASE["jobs"]


def test_the_release_is_one_that_github_takes() -> None:
    path = str(ROOT / ".github" / "workflows" / "release.yml")
    done = CliRunner().invoke(check_jsonschema, ["--builtin-schema", "vendor.github-workflows", path])
    assert done.exit_code == 0, done.output


def test_the_release_attests_and_publishes_what_was_tried() -> None:
    """One build; what follows takes its files, and only a tag publishes."""
    used = {job: [step.get("uses", "").partition("@")[0] for step in JOBS[job]["steps"]] for job in JOBS}
    assert used["attest"] == ["actions/download-artifact", "actions/attest-build-provenance"]
    assert used["publish"] == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]
    assert [JOBS[job].get("needs") for job in ("build", "attest", "publish")] == [None, "build", "attest"]
    assert all(JOBS[job]["if"] == "github.event_name == 'push'" for job in ("attest", "publish"))
    assert "tools/try_wheel.py dist/*.whl" in " ".join(step.get("run", "") for step in JOBS["build"]["steps"])


def test_the_release_may_do_no_more_than_it_needs() -> None:
    assert RELEASE["permissions"] == {} and "secrets" not in json.dumps(RELEASE)
    may = {job: {name for name, value in JOBS[job]["permissions"].items() if value == "write"} for job in JOBS}
    assert may == {"build": set(), "attest": {"attestations", "id-token"}, "publish": {"id-token"}}
    assert not [step for job in JOBS.values() for step in job["steps"] if "${{" in step.get("run", "")]


def test_the_actions_of_the_release_are_pinned() -> None:
    """By a hash; the one that is not has a branch of releases, as its authors ask."""
    pins = {step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step}
    loose = {one for one in pins if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", one)}
    assert loose == {"pypa/gh-action-pypi-publish@release/v1"}
