"""A repository that a stranger wrote: every door that a pack, a case, a golden, a store and a `.git` may try, with a marker behind each."""

import json
import os
import subprocess
from pathlib import Path

SECRET = "s3cret-of-the-user"
"""Stands in a file beside the repository and in the environment. It must not come to light, and nothing may carry it away."""

_PACK = """\
promptc: 1
name: stranger
version: 1.0.0
tokenizer: cl100k_base
budget: 200
state: {schema: state.schema.json}
sections:
  - {id: rules, template: rules.md.j2, pinned: true}
  - {id: recent, items: {from: state.turns, text: "{{ item }}"}}
truncate: [recent]
"""
_SECTION = "  - {id: more, SOURCE}\n"
_DOORS = {
    "include": "template: ../../outside/secret.txt",
    "absolute": "template: OUTSIDE/secret.txt",
    "link": "template: link.txt",
    "link_folder": "template: folder/secret.txt",
    "fifo": "template: pipe",
    "device": "template: zero",
    "server": "items: {from: {segments: {scope: world}}, text: '{{ item.content }}'}",
}
_GIT_CONFIG = """\
[core]
    repositoryformatversion = 0
    fsmonitor = "touch OUTSIDE/written-fsmonitor; false"
    hooksPath = HOOKS
    pager = touch OUTSIDE/written-pager
    sshCommand = touch OUTSIDE/written-ssh
    editor = touch OUTSIDE/written-editor
    alternateRefsCommand = touch OUTSIDE/written-alternate
[diff]
    external = touch OUTSIDE/written-external
[diff "evil"]
    textconv = touch OUTSIDE/written-textconv; cat
    command = touch OUTSIDE/written-command
[filter "evil"]
    clean = touch OUTSIDE/written-clean; cat
    smudge = touch OUTSIDE/written-smudge; cat
    process = touch OUTSIDE/written-process
    required = true
[remote "origin"]
    url = ext::touch OUTSIDE/written-remote
    promisor = true
    partialclonefilter = blob:none
[pager]
    show = touch OUTSIDE/written-pager-show
"""


def make_stranger(root: Path) -> Path:
    """Makes `root/outside`, which is nobody's to read or write, and `root/clone`, the stranger's repository. Gives the clone."""
    outside, clone = root / "outside", root / "clone"
    outside.mkdir(parents=True)
    (outside / "secret.txt").write_text(SECRET)
    (outside / "state.json").write_text(json.dumps({"turns": [SECRET]}))
    _write_pack(clone / "pack", _PACK)
    for name, source in _DOORS.items():
        store = (
            f'stores: {{main: {{url: "postgresql://evil@localhost:{_PORT}/db?passfile={outside}/secret.txt"}}}}\n'
            if name == "server"
            else ""
        )
        text = _PACK.replace("truncate:", _SECTION.replace("SOURCE", source.replace("OUTSIDE", str(outside))) + "truncate:") + store
        _write_pack(clone / f"pack_{name}", text)
    _write_links(clone, outside)
    _write_cases(clone, outside)
    _write_git(clone, outside)
    return clone


_PORT = 15432


def _write_pack(folder: Path, manifest: str) -> None:
    folder.mkdir(parents=True)
    (folder / "pack.yaml").write_text(manifest)
    (folder / "rules.md.j2").write_text("Keep the inn. {{ state.turns | length }} turns.\n")
    (folder / "state.json").write_text(json.dumps({"turns": ["Which door was it?"]}))
    schema = {"type": "object", "properties": {"turns": {"type": "array", "items": {"type": "string"}}}, "additionalProperties": False}
    (folder / "state.schema.json").write_text(json.dumps(schema))


def _write_links(clone: Path, outside: Path) -> None:
    (clone / "pack_link" / "link.txt").symlink_to(outside / "secret.txt")
    (clone / "pack_link_folder" / "folder").symlink_to(outside)
    os.mkfifo(clone / "pack_fifo" / "pipe")
    (clone / "pack_device" / "zero").symlink_to("/dev/zero")
    for name, target in (("pack_is_link", outside / "secret.txt"), ("pack_is_zero", Path("/dev/zero"))):
        _write_pack(clone / name, _PACK)
        (clone / name / "pack.yaml").unlink()
        (clone / name / "pack.yaml").symlink_to(target)
    _write_pack(clone / "pack_is_fifo", _PACK)
    (clone / "pack_is_fifo" / "pack.yaml").unlink()
    os.mkfifo(clone / "pack_is_fifo" / "pack.yaml")
    for name, base in (("pack_extends", "../../outside"), ("pack_extends_file", "../../outside/secret.txt")):
        _write_pack(clone / name, f"promptc: 1\nname: child\nversion: 1.0.0\nextends: {base}\n")


def _write_cases(clone: Path, outside: Path) -> None:
    written = outside / "written"
    run = {
        "output": ["render", "pack", "pack/state.json", "-o", f"{written}-output"],
        "output_short": ["render", "pack", "pack/state.json", f"-o{written}-short"],
        "output_long": ["render", "pack", "pack/state.json", f"--output={written}-long"],
        "output_up": ["render", "pack", "pack/state.json", "-o", "../outside/written-up"],
        "report": ["test", ".", "--report", f"json={written}-report"],
        "within": ["test", ".", "-j", "1"],
        "init": ["init", f"{written}-init"],
        "import": ["segments", "import", "pack/state.json", "--url", f"sqlite:{written}.db"],
        "export": ["segments", "export", "--pack", "pack", "-o", f"{written}-export"],
        "server": ["segments", "list", "--url", f"postgresql://evil@localhost:{_PORT}/db"],
        "endpoint": [
            "apply",
            "pack",
            "x",
            "pack/state.json",
            "--endpoint",
            f"http://localhost:{_PORT}/v1",
            "--model",
            "m",
            "--key-env",
            "USER_KEY",
        ],
        "read": ["render", "pack", f"{outside}/state.json"],
        "read_up": ["render", "pack", "../outside/state.json"],
        "eval": ["eval", "pack", f"{outside}/state.json", "state"],
        "answer": ["answer", "pack", f"{outside}/secret.txt"],
        "answer_schema": ["answer", "pack", "pack/state.json", "--schema", f"{outside}/state.json"],
        "answer_earlier": ["answer", "pack", "x", "pack/state.json", "--answer", "d=../outside/secret.txt"],
        "prune": ["prune", str(outside)],
        "accept": ["accept", str(outside)],
    }
    named = {
        "state": {"state": "../../../outside/state.json"},
        "state_absolute": {"state": str(outside / "state.json")},
        "pack": {"pack": "../outside", "state": "../../pack/state.json"},
        "answers": {"apply": {"operation": "x", "state": "../../pack/state.json", "answers": {"d": "../../../outside/secret.txt"}}},
        "link": {"state": "linked.json"},
        "large": {"state": "../../pack/state.json", "given": {"large": {f"{written}-large": 10}}},
        "linked": {"state": "../../pack/state.json", "given": {"link": {f"{written}-link": str(outside)}}},
    }
    for name, words in run.items():
        _write_case(clone / "fixtures" / f"run_{name}", {"run": words, "golden": ["text"]})
    for name, keys in named.items():
        _write_case(clone / "fixtures" / f"named_{name}", {"pack": "pack", **keys, "golden": ["text"]})
    (clone / "fixtures" / "named_link" / "linked.json").symlink_to(outside / "state.json")
    odd = clone / "fixtures" / "golden_odd"
    _write_case(odd, {"pack": "pack", "state": "../../pack/state.json", "golden": ["report"]})
    (odd / "golden.report.json").write_text('{"sections": 5}')
    linked = clone / "fixtures" / "golden_link"
    _write_case(linked, {"pack": "pack", "state": "../../pack/state.json", "golden": ["text"]})
    (linked / "golden.txt").symlink_to(outside / "secret.txt")


def _write_case(folder: Path, keys: dict) -> None:
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(json.dumps({"title": "a stranger's case", **keys}))


def _write_git(clone: Path, outside: Path) -> None:
    """A real repository, whose configuration and attributes are then made evil, and whose last commit no longer is the work tree."""
    git = ["git", "-C", str(clone), "-c", "user.name=s", "-c", "user.email=s@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "pack", "fixtures"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "one"], check=True)
    hooks = clone / ".git" / "evil-hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-commit", "fsmonitor-watchman"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {outside}/written-hook-{name}\n")
        (hooks / name).chmod(0o755)
    config = _GIT_CONFIG.replace("OUTSIDE", str(outside)).replace("HOOKS", str(hooks))
    (clone / ".git" / "config").write_text(config)
    (clone / ".gitattributes").write_text("* diff=evil filter=evil\n")
    (clone / "pack" / "rules.md.j2").write_text("Keep the inn well. {{ state.turns | length }} turns.\n")
