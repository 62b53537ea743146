"""docs/guides/goldens.md shows what a failure says, as it is said."""

import subprocess

from tests.cli.conftest import ROOT


def test_the_failure_shown_is_the_one_that_is_printed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    assert run("init", "lighthouse").code == 0
    monkeypatch.chdir(tmp_path / "lighthouse")
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b.c commit -q -m first"):
        subprocess.run(["git", *line.split()], check=True)
    assert run("test").out == "5 passed\n"
    rules = tmp_path / "lighthouse" / "templates" / "rules.md.j2"
    rules.write_text(rules.read_text(encoding="utf-8").replace("sentences", "words"), encoding="utf-8")
    done = run("test")
    assert done.code == 1
    assert f"```\n{done.out}```\n" in (ROOT / "docs" / "guides" / "goldens.md").read_text(encoding="utf-8")
