"""A stranger's repository: whatever its `.git` says, no program runs and nothing outside is touched."""

import itertools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from promptc.cli.commands.diff import extract_revision
from promptc.diag.findings import PromptcError
from promptc.golden.git import GitError, choose_git, list_entries, read_blobs, run_git
from promptc.golden.inputs import load_touched

_CASE = "title: a case\nstate: state.json\nexpect: {tokens: 1}\ngolden: [text]\n"
_PACK = "promptc: 1\nname: p\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 100\nsections: [{id: a, text: hello}]\n"
# Each would run a program where git is asked as one asks it by hand; `MARK` stands for the program, which leaves a file.
_CONFIG = {
    "core.fsmonitor": "MARK; false",
    "core.pager": "MARK",
    "pager.diff": "MARK",
    "pager.rev-list": "MARK",
    "pager.ls-tree": "MARK",
    "core.sshCommand": "MARK",
    "core.gitProxy": "MARK",
    "core.editor": "MARK",
    "core.askPass": "MARK",
    "core.alternateRefsCommand": "MARK",
    "core.hooksPath": "hooks",
    "credential.helper": "!MARK",
    "diff.external": "MARK",
    "diff.spy.command": "MARK",
    "diff.spy.textconv": "MARK",
    "filter.spy.clean": "MARK",
    "filter.spy.smudge": "MARK",
    "filter.spy.process": "MARK",
    "filter.spy.required": "true",
    "merge.spy.driver": "MARK",
    "gpg.program": "MARK",
    "log.showSignature": "true",
    "tar.tar.command": "MARK",
    "uploadpack.packObjectsHook": "MARK",
    "alias.rev-parse": "!MARK",
    "alias.ls-tree": "!MARK",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "remote.origin.url": "ext::sh -c MARK",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "remote.origin.uploadpack": "MARK",
    "extensions.partialClone": "origin",
    "core.repositoryFormatVersion": "1",
    "submodule.sub.update": "!MARK",
    "core.untrackedCache": "true",
    "core.worktree": "/",
}


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A repository with a pack and a case, whose golden does not hold; its configuration runs a program wherever git lets it."""
    root = tmp_path / "strange"
    case = root / "cases" / "a"
    case.mkdir(parents=True)
    for path, text in {
        root / "pack.yaml": _PACK,
        case / "case.yaml": _CASE,
        case / "state.json": "{}",
        case / "golden.txt": "no\n",
    }.items():
        path.write_text(text, encoding="utf-8")
    (root / ".gitattributes").write_text("* diff=spy filter=spy merge=spy\n", encoding="utf-8")
    (root / "sub").mkdir()
    _git(root, "init", "-q")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    (case / "golden.txt").write_text("other\n", encoding="utf-8")
    _git(root, "commit", "-qam", "second")
    program = tmp_path / "mark"
    program.write_text(f'#!/bin/sh\necho "$0" >> {tmp_path}/PWNED\ncat\n', encoding="utf-8")
    program.chmod(0o755)
    hooks = root / ".git" / "hooks"
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout", "fsmonitor-watchman"):
        (hooks / name).write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
        (hooks / name).chmod(0o755)
    for key, value in _CONFIG.items():
        _git(root, "config", "--file", ".git/config", key, value.replace("MARK", str(program)).replace("hooks", str(hooks)))
    (root / "pack.yaml").write_text(_PACK.replace("hello", "hi"), encoding="utf-8")
    return root


def _look_everywhere(root: Path) -> None:
    assert load_touched("HEAD", str(root)).has(str(root / "pack.yaml"))
    assert not load_touched("HEAD", str(root)).has(str(root / "cases"))
    assert list_entries(str(root), "HEAD", "cases/")
    with extract_revision("HEAD~1") as folder:
        assert (folder / "pack.yaml").read_text(encoding="utf-8") == _PACK


@pytest.mark.parametrize("command", ["diff HEAD", "status", "log -p -1 --ext-diff", "archive HEAD"])
def test_asked_as_by_hand_git_runs_what_it_says(strange: Path, tmp_path, command: str) -> None:
    """Else the tests here would show nothing."""
    _git(strange, "config", "--file", ".git/config", "--unset", "core.worktree")
    subprocess.run(["git", *command.split()], cwd=strange, check=False, capture_output=True)
    assert (tmp_path / "PWNED").exists()


def test_nothing_that_the_configuration_says_is_run(strange: Path, run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(strange)
    _look_everywhere(strange)
    assert "cause:" in run("test", "--no-cache").out
    assert run("test", "--no-cache", "--since", "HEAD", "--ci").code == 1
    run("diff", "HEAD:pack.yaml", "pack.yaml", "--state", "cases/a/state.json")
    assert not (tmp_path / "PWNED").exists()


def test_what_is_missing_is_not_fetched(strange: Path, run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(strange)
    for found in (strange / ".git" / "objects").glob("??/*"):
        found.unlink()
    with pytest.raises(GitError):
        list_entries(str(strange), "HEAD")
    assert list(read_blobs(str(strange), ["0" * 40])) == [None]
    with pytest.raises(PromptcError), extract_revision("HEAD"):
        pass
    run("test", "--no-cache")
    assert not (tmp_path / "PWNED").exists()


def test_a_program_called_git_beside_the_case_is_not_git(strange: Path, tmp_path, monkeypatch) -> None:
    fake = strange / "git"
    fake.write_text((tmp_path / "mark").read_text(encoding="utf-8"), encoding="utf-8")
    fake.chmod(0o755)
    real = os.environ["PATH"]
    monkeypatch.chdir(strange)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "../strange", real]))
    _look_everywhere(strange)
    assert Path(choose_git(os.environ["PATH"])).is_absolute()
    monkeypatch.setenv("PATH", os.pathsep.join(["", "."]))
    with pytest.raises(GitError, match="no git in an absolute folder"):
        run_git(str(strange), "rev-parse", "HEAD")
    assert not (tmp_path / "PWNED").exists()


def test_where_git_looks_is_where_the_files_are(strange: Path, tmp_path, monkeypatch) -> None:
    """A hook runs with such variables: they would have git look at another repository."""
    other = tmp_path / "other"
    other.mkdir()
    _git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(tmp_path / "mark"))
    assert list_entries(str(strange), "HEAD", "pack.yaml")


def test_files_of_a_tree_stay_in_the_folder(strange: Path, tmp_path, monkeypatch) -> None:
    """A tree that git itself would not make: names that climb, a link and a file under it."""
    monkeypatch.chdir(strange)
    _git(strange, "config", "--file", ".git/config", "--unset", "core.worktree")
    blob = _git(strange, "rev-parse", "HEAD:pack.yaml")
    link = (
        subprocess.run(["git", "hash-object", "-w", "--stdin"], input=str(tmp_path).encode(), cwd=strange, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )
    inner = _make_tree(strange, [("100644", "victim", blob)])
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(below))
    climbing = _make_tree(strange, [("40000", "..", _make_tree(strange, [("40000", "..", inner)])), ("100644", "fine", blob)])
    both = _make_tree(strange, [("120000", "out", link), ("40000", "out", inner), ("100644", "fine", blob)])
    for tree in (climbing, both):
        try:
            with extract_revision(tree) as folder:
                assert (folder / "fine").is_file()
                assert not (folder / "out").is_symlink()
        except PromptcError:
            pass
        assert not list(tmp_path.rglob("victim"))


def _make_tree(root: Path, entries: list[tuple[str, str, str]]) -> str:
    raw = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(identity) for mode, name, identity in entries)
    command = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    return subprocess.run(command, input=raw, cwd=root, check=True, capture_output=True).stdout.decode().strip()


@pytest.mark.parametrize("name", ["config", "HEAD", "packed-refs", "objects/info/alternates"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_what_git_would_wait_for_or_read_without_end_is_refused(strange: Path, name: str, kind: str) -> None:
    path = strange / ".git" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(GitError, match="is not a regular file"):
        run_git(str(strange), "rev-parse", "HEAD")


_INCLUDES = {
    "include": "[include]\n\tpath = PATH\n",
    "on one line": "[INCLUDE]path=PATH\n",
    "relative": "[include]\n\tpath = ../NAME\n",
    "quoted": '[include] path = "PATH" ; said\n',
    "continued": "[include]\n\tpath = \\\nPATH\n",
    "behind a continued line": "[include]\n\tx = a\\\n[core]\n\tpath = PATH\n",
    "includeIf": '[includeIf "onbranch:nowhere"]\n\tpath = PATH\n',
    "home": "[include]\n\tpath = ~/NAME\n",
    "git's own folder": "[include]\n\tpath = %(prefix)/../NAME\n",
    "optional": "[include]\n\tpath = :(optional)PATH\n",
    "nested": "[include]\n\tpath = ../nested\n",
}


def _include(root: Path, how: str, name: str) -> None:
    text = _INCLUDES[how].replace("PATH", str(root / name)).replace("NAME", name)
    (root / "nested").write_text(f"[include]\n\tpath = {name}\n", encoding="utf-8")
    with (root / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(text)


@pytest.mark.parametrize("how", _INCLUDES)
def test_what_the_configuration_includes_is_a_regular_file(strange: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git would wait for a pipe, and again in each call."""
    monkeypatch.setenv("HOME", str(strange))
    os.mkfifo(strange / "pipe")
    _include(strange, how, "pipe")
    with pytest.raises(GitError, match=r"the configuration of .* includes"):
        run_git(str(strange), "rev-parse", "HEAD")


def test_a_device_or_a_link_to_one_is_not_included(strange: Path) -> None:
    (strange / "zero").symlink_to("/dev/zero")
    _include(strange, "relative", "zero")
    with pytest.raises(GitError, match=r"the configuration of .* includes"):
        run_git(str(strange), "rev-parse", "HEAD")


def test_regular_files_and_missing_ones_may_be_included(strange: Path) -> None:
    """As actions/checkout includes a file of credentials, by the folder that it is for."""
    (strange / "settings").write_text("[user]\n\tname = a\n", encoding="utf-8")
    for how, name in (("includeIf", "settings"), ("nested", "settings"), ("include", "missing")):
        _include(strange, how, name)
    with (strange / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write("# [include]\n[mergetool]\n\tpath = .\n")
    assert run_git(str(strange), "rev-parse", "HEAD").strip()


def test_git_that_does_not_end_is_stopped_and_not_asked_again(strange: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptc.golden.git._SECONDS", 1)
    os.mkfifo(strange / "pipe")
    _git(strange, "config", "--file", ".git/config", "core.excludesFile", str(strange / "pipe"))
    asked = ("ls-files", "--others", "--exclude-standard")
    with pytest.raises(GitError, match="takes more than 1 seconds"):
        run_git(str(strange), *asked)
    (strange / "pipe").unlink()
    with pytest.raises(GitError, match="git took too long here before"):
        run_git(str(strange / "cases"), *asked)


def test_slow_calls_of_git_are_summed(strange: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptc.golden.git._BRISK", 0)
    clock = itertools.count(0, 3)
    monkeypatch.setattr("promptc.golden.git.time", SimpleNamespace(monotonic=lambda: next(clock)))
    for _ in range(4):
        run_git(str(strange), "rev-parse", "HEAD")
    with pytest.raises(GitError, match="git took too long here before"):
        list(map(run_git, [str(strange)] * 4, ["rev-parse"] * 4, ["HEAD"] * 4))


def test_the_settings_that_are_included_are_read_within_the_time_of_a_call(strange: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptc.golden.git._SECONDS", 1)
    for number in range(90):
        (strange / ".git" / f"part{number}").write_text("[include]\n\tpath = nothing\n[a]\n" + "b = c\n" * 150_000, encoding="utf-8")
        with (strange / ".git" / "config").open("a", encoding="utf-8") as config:
            config.write(f"[include]\n\tpath = part{number}\n")
    with pytest.raises(GitError, match="takes more than 1 seconds"):
        run_git(str(strange), "rev-parse", "HEAD")


def test_a_few_objects_name_no_end_of_files(strange: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptc.golden.git._MOST_FILES", 1_000)
    monkeypatch.chdir(strange)
    blob = _git(strange, "rev-parse", "HEAD:pack.yaml")
    tree = "".join(f"100644 blob {blob}\tf{number}\n" for number in range(40))
    for _ in range(2):
        made = subprocess.run(["git", "mktree"], cwd=strange, input=tree, text=True, capture_output=True, check=True).stdout.strip()
        tree = "".join(f"040000 tree {made}\td{number}\n" for number in range(40))
    done = run("diff", f"{made}:pack.yaml", "pack.yaml", "--state", "state.json")
    assert done.code == 4 and "PC0742" in done.err and "more than 1000 files" in done.err


_OTHER = _PACK.replace("hello", "a secret of the other")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A repository of the user's own."""
    return _make_repository(tmp_path / "other")


def _make_repository(root: Path) -> Path:
    root.mkdir()
    (root / "pack.yaml").write_text(_OTHER, encoding="utf-8")
    (root / "state.json").write_text("{}", encoding="utf-8")
    _git(root, "init", "-q")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    return root


def _unpack(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "pack.yaml").write_text(_PACK, encoding="utf-8")
    (folder / "state.json").write_text("{}", encoding="utf-8")
    return folder


def _point(folder: Path, to: object) -> None:
    (folder / ".git").write_text(f"gitdir: {to}\n", encoding="utf-8")


def _forge_file(folder: Path, other: Path) -> None:
    _point(folder, other / ".git")


def _forge_relative(folder: Path, other: Path) -> None:
    _point(folder, "../other/.git")


def _forge_worktree(folder: Path, other: Path) -> None:
    """A real worktree of the other, elsewhere."""
    _git(other, "worktree", "add", "-q", str(other.parent / "real"))
    _point(folder, other / ".git" / "worktrees" / "real")


def _forge_back(folder: Path, other: Path) -> None:
    """Its own folder of a worktree, which leads back, and on to the other."""
    own = folder / "meta" / "worktrees" / "x"
    own.mkdir(parents=True)
    for name, text in {"HEAD": "ref: refs/heads/master", "gitdir": str(folder / ".git"), "commondir": str(other / ".git")}.items():
        (own / name).write_text(f"{text}\n", encoding="utf-8")
    _point(folder, own)


def _forge_module(folder: Path, other: Path) -> None:
    """Its own folder of a submodule, with its objects and names elsewhere."""
    _git(folder, "init", "-q")
    (folder / ".git").rename(folder / "meta")
    _git(folder, "config", "--file", "meta/config", "core.worktree", str(folder))
    (folder / "meta" / "commondir").write_text(f"{other / '.git'}\n", encoding="utf-8")
    _point(folder, "meta")


def _forge_common(folder: Path, other: Path) -> None:
    _git(folder, "init", "-q")
    (folder / ".git" / "commondir").write_text(f"{other / '.git'}\n", encoding="utf-8")


def _forge_link(folder: Path, other: Path) -> None:
    (folder / ".git").symlink_to(other / ".git")


def _forge_names(folder: Path, other: Path) -> None:
    """Names that are links to the other's, and its objects beside its own."""
    _git(folder, "init", "-q")
    (folder / ".git" / "objects" / "info" / "alternates").write_text(f"{other / '.git' / 'objects'}\n", encoding="utf-8")
    (folder / ".git" / "refs" / "heads" / "master").symlink_to(other / ".git" / "refs" / "heads" / "master")


def _forge_folders(folder: Path, other: Path) -> None:
    _git(folder, "init", "-q")
    for name in ("objects", "refs"):
        shutil.rmtree(folder / ".git" / name)
        (folder / ".git" / name).symlink_to(other / ".git" / name)


def _forge_empty(folder: Path, other: Path) -> None:
    """Inside a repository git goes on to that, as this is none."""
    (folder / ".git").mkdir()


def _forge_half(folder: Path, other: Path) -> None:
    """Without its objects git takes it for no repository, and goes on too."""
    _git(folder, "init", "-q")
    shutil.rmtree(folder / ".git" / "objects")


def _forge_head(folder: Path, other: Path) -> None:
    _git(folder, "init", "-q")
    (folder / ".git" / "HEAD").write_text("nothing\n", encoding="utf-8")


@pytest.mark.parametrize(
    "forge",
    [
        _forge_file,
        _forge_relative,
        _forge_worktree,
        _forge_back,
        _forge_module,
        _forge_common,
        _forge_link,
        _forge_names,
        _forge_folders,
        _forge_empty,
        _forge_half,
        _forge_head,
    ],
)
@pytest.mark.parametrize("place", ["beside", "inside"])
def test_git_shows_no_other_repository(other: Path, run, tmp_path, monkeypatch, forge, place: str) -> None:
    folder = _unpack(tmp_path / "unpacked" if place == "beside" else other / "unpacked")
    if forge is _forge_relative and place == "inside":
        _point(folder, "../.git")
    else:
        forge(folder, other)
    monkeypatch.chdir(folder)
    shown = run("diff", "HEAD:pack.yaml", "pack.yaml", "--state", "state.json")
    assert shown.code == 4 and "PC0742" in shown.err and "secret" not in f"{shown.out}{shown.err}"
    with pytest.raises(PromptcError, match="PC0910"):
        load_touched("HEAD", str(folder))
    with pytest.raises(GitError) as wrong:
        list_entries(str(folder), "HEAD")
    assert wrong.value.help


@pytest.mark.parametrize(
    "content", [b"", b"gitdir: ", b"gitdir: a\0b", b"\xff\0", b"gitdir: \xff\xfe", b"x" * 9000, b"gitdir: .git\n", b"gitdir: ..\n"]
)
def test_a_git_file_that_leads_nowhere_is_refused(tmp_path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    with pytest.raises(GitError):
        run_git(str(tmp_path), "rev-parse", "HEAD")


def test_a_pipe_is_not_waited_for(tmp_path) -> None:
    os.mkfifo(tmp_path / ".git")
    with pytest.raises(GitError, match="neither a folder nor a regular file"):
        run_git(str(tmp_path), "rev-parse", "HEAD")


def _list_paths(folder: Path) -> set[str]:
    return {*list_entries(str(folder), "HEAD")}


def test_a_worktree_is_asked(other: Path, tmp_path, run, monkeypatch) -> None:
    tree = tmp_path / "tree"
    _git(other, "worktree", "add", "-q", str(tree))
    assert _list_paths(tree) == {"pack.yaml", "state.json"}
    own = other / ".git" / "worktrees" / "tree"
    (own / "gitdir").write_text("../../../../tree/.git\n", encoding="utf-8")  # as `--relative-paths` writes it
    _point(tree, "../other/.git/worktrees/tree")
    assert _list_paths(tree) == {"pack.yaml", "state.json"}
    monkeypatch.chdir(tree)
    (tree / "pack.yaml").write_text(_PACK, encoding="utf-8")
    assert "secret" in run("diff", "HEAD:pack.yaml", "pack.yaml", "--state", "state.json").out
    tree.rename(tmp_path / "moved")
    with pytest.raises(GitError, match="does not lead back"):
        list_entries(str(tmp_path / "moved"), "HEAD")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_submodule_is_asked(other: Path, tmp_path, is_sparse: bool) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    _git(whole, "init", "-q")
    _git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), 'deep/a "#b')
    module = whole / "deep" / 'a "#b'
    if is_sparse:  # git then keeps `core.worktree` in another file
        _git(module, "sparse-checkout", "set", "--no-cone", "/*")
        assert (whole / ".git" / "modules" / "deep" / 'a "#b' / "config.worktree").exists()
    assert _list_paths(module) == {"pack.yaml", "state.json"}
    assert not (module / ".git").read_text(encoding="utf-8").startswith("gitdir: /")


def test_a_git_folder_elsewhere_is_asked_once_it_names_the_folder(other: Path, tmp_path) -> None:
    (other / ".git").rename(tmp_path / "apart")
    _point(other, tmp_path / "apart")
    with pytest.raises(GitError, match="does not lead back") as wrong:
        list_entries(str(other), "HEAD")
    assert "core.worktree" in wrong.value.help
    _git(tmp_path / "apart", "config", "--file", "config", "core.worktree", str(other))
    assert _list_paths(other) == {"pack.yaml", "state.json"}


def _commit(folder: Path, *options: str) -> None:
    _git(folder, "init", "-q", *options)
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "first")


def test_a_partial_clone_knows_what_differs_and_says_what_it_lacks(tmp_path: Path, run, monkeypatch) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    whole.mkdir()
    (whole / "pack.yaml").write_text(_PACK, encoding="utf-8")
    _commit(whole)
    (whole / "pack.yaml").write_text(_PACK.replace("hello", "hi"), encoding="utf-8")
    _git(whole, "commit", "-qam", "second")
    _git(whole, "config", "uploadpack.allowFilter", "true")
    _git(tmp_path, "clone", "-q", "--filter=blob:none", whole.as_uri(), str(part))
    assert load_touched("HEAD~1", str(part)).has(str(part / "pack.yaml"))
    assert not load_touched("HEAD", str(part)).has(str(part / "pack.yaml"))
    monkeypatch.chdir(part)
    done = run("diff", "HEAD~1:pack.yaml", "pack.yaml")
    assert done.code == 4 and "its files are not all here" in done.err and "this clone is partial" in done.err


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only the administrator gives files away")
def test_a_repository_of_somebody_else_is_named(tmp_path: Path, run, monkeypatch) -> None:
    (tmp_path / "pack.yaml").write_text(_PACK, encoding="utf-8")
    _commit(tmp_path)
    for path in (tmp_path, tmp_path / ".git"):
        os.chown(path, 65534, 65534)
    monkeypatch.chdir(tmp_path)
    assert "safe.directory" in run("diff", "HEAD:pack.yaml", "pack.yaml").err


def test_a_folder_in_no_repository_is_told(tmp_path: Path, run, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pack.yaml").write_text(_PACK, encoding="utf-8")
    done = run("diff", "HEAD:pack.yaml", "pack.yaml")
    assert (done.code, done.out) == (4, "") and done.err.startswith("PC0742 the current folder is in no git repository")


def test_a_cause_is_found_in_a_repository_of_long_names(tmp_path: Path, run, monkeypatch) -> None:
    """Git's names for contents are sha256 there. What did not change is no part of the cause, whatever its name is."""
    case = tmp_path / "cases" / "a"
    case.mkdir(parents=True)
    texts = {
        tmp_path / "pack.yaml": _PACK,
        case / "case.yaml": _CASE.replace("expect: {tokens: 1}\n", ""),
        case / "state.json": "{}",
        case / "golden.txt": "hello\n",
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    _commit(tmp_path, "--object-format=sha256")
    (tmp_path / "pack.yaml").write_text(_PACK.replace("hello", "hi"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    told = run("test", "--no-cache").out
    assert "cause: pack.yaml:6:27 sections.a.text" in told


@pytest.mark.parametrize("revision", ["^HEAD", "r" * 5000])
def test_a_revision_that_is_none_is_told_in_a_line(revision: str, strange: Path, run, monkeypatch) -> None:
    monkeypatch.chdir(strange)
    done = run("matrix", ".", "--rev", revision)
    assert done.code == 4 and done.err.startswith("PC0742 git knows no revision") and len(done.err) < 600


def test_git_is_asked_once_for_all_files_of_a_note(other: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note may name any number of them."""
    monkeypatch.chdir(other)
    case = other / "cases" / "a"
    case.mkdir(parents=True)
    (case / "state.json").write_text("{}", encoding="utf-8")
    (case / "case.yaml").write_text(_CASE.replace("expect: {tokens: 1}\n", ""), encoding="utf-8")
    run("test", "--no-cache")
    run("accept", "--all")
    _git(other, "add", ".")
    _git(other, "commit", "-qm", "third")
    noted = json.loads((case / "golden.inputs.json").read_bytes())
    noted["files"] |= {f"x{at}": f"{at:040}" for at in range(500)}
    (case / "golden.inputs.json").write_text(json.dumps(noted), encoding="utf-8")
    (other / "pack.yaml").write_text(_OTHER.replace("secret", "word"), encoding="utf-8")
    calls: list[str] = []

    def count(folder: str, *arguments: str, given: bytes = b"") -> bytes:
        calls.append(arguments[0])
        return run_git(folder, *arguments, given=given)

    monkeypatch.setattr("promptc.golden.git.run_git", count)
    assert "cause: pack.yaml" in run("test", "--no-cache").out
    assert 0 < calls.count("cat-file") <= 3
