"""What a stranger put into a folder is neither waited for, followed, nor shown: at the command line, in a process that may not grow."""

import contextlib
import json
import os
import resource
import sqlite3
import subprocess
import sys

import pytest

pytestmark = pytest.mark.sampled
SECRET = "hunter2-very-secret"
MANIFEST = """\
promptc: 1
name: theirs
version: 1.0.0
tokenizer: chars/4
budget: 1000
operations:
  prune: {edits: [{keep: /entries, last: 1, archive: entries}]}
sections:
  - {id: main, text: "Hello."}
"""
STATE = '{"entries": [1, 2, 3]}'
MEMORY = 512_000_000


@pytest.fixture
def there(tmp_path):
    (tmp_path / "secret").write_text(f"{SECRET}: {SECRET}\n  - : [\n", encoding="utf-8")
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "pack.yaml").write_text(MANIFEST, encoding="utf-8")
    (folder / "state.json").write_text(STATE, encoding="utf-8")
    return folder


def _call(folder, *words, environment=None):
    """Its exit code and what it said; it must end."""
    done = subprocess.run(
        [sys.executable, "-m", "promptc", *words],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        stdin=subprocess.DEVNULL,
    )
    said = done.stdout.decode() + done.stderr.decode()
    assert SECRET not in said and "Traceback" not in said
    return done.returncode, said


def _put(place, kind, outside):
    if os.path.lexists(place):
        place.unlink()
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "device":
            place.symlink_to("/dev/zero")
        case "link":
            place.symlink_to(outside)
        case "huge":
            with place.open("wb") as file:
                file.truncate(3_000_000_000)


KINDS = ("pipe", "device", "link", "huge")


# contract 3.15
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [("render", ".", "state.json"), ("render", "pack.yaml", "state.json"), ("check", ".")], ids=" ".join)
def test_a_manifest(there, kind, words):
    _put(there / "pack.yaml", kind, "../secret")
    code, said = _call(there, *words)
    assert (code, "PC0102" in said) == (3, True) if kind == "huge" else (code, "PC0154" in said) == (4, True)


@pytest.mark.parametrize("kind", ["device", "huge"])
def test_a_state(there, kind):
    _put(there / "state.json", kind, "")
    code, said = _call(there, "render", ".", "state.json")
    assert (code, "it has more than 128,000,000 bytes" in said) == (4, True)


def test_a_state_that_was_passed_may_be_a_pipe(there):
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m promptc render . <(cat state.json)"], cwd=there, capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"Hello.\n"


@pytest.mark.parametrize("kind", ["pipe", "link"])
@pytest.mark.parametrize(
    "lines",
    [
        "sections: [{id: a, template: x}]",
        "state: {schema: x}\nsections: [{id: a, text: b}]",
        "tools: [x]\nsections: [{id: a, text: b}]",
        "tokenizer: 'hf:x'\nsections: [{id: a, text: b}]",
        "stores: {main: {url: 'sqlite:x'}}\nsections: [{id: a, items: {from: {segments: {scope: s}}, text: '{{ item.content }}'}}]",
        "indexes: {docs: {corpus: '*.md', synonyms: x}}\nsections: [{id: a, text: b}]",
        "indexes: {docs: {corpus: 'x*'}}\nsections: [{id: a, items: {from: {retrieve: {index: docs, query: q}}, text: '{{ item.text }}'}}]",
    ],
    ids=["template", "schema", "tool", "tokenizer", "store", "synonyms", "corpus"],
)
def test_a_file_that_a_manifest_names(there, kind, lines):
    usual = "" if "tokenizer" in lines else "tokenizer: chars/4\n"
    (there / "pack.yaml").write_text(f"promptc: 1\nname: theirs\nversion: 1.0.0\nbudget: 1000\n{usual}{lines}\n", encoding="utf-8")
    _put(there / "x", kind, "../secret")
    code, said = _call(there, "render", ".", "state.json")
    assert code in (3, 4) and "PC" in said


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_what_lies_beside_a_database(there, ending, kind):
    store = "stores: {main: {url: 'sqlite:x.db'}}\nsections: [{id: a, items: {from: {segments: {scope: s}}, text: '{{ item.content }}'}}]"
    usual = "promptc: 1\nname: theirs\nversion: 1.0.0\nbudget: 1000\ntokenizer: chars/4\n"
    (there / "pack.yaml").write_text(f"{usual}{store}\n", encoding="utf-8")
    with contextlib.closing(sqlite3.connect(there / "x.db")) as made:
        made.execute("CREATE TABLE prompt_segments (id TEXT)")
    _put(there / f"x.db{ending}", kind, "../secret")
    code, said = _call(there, "render", ".", "state.json")
    assert (code, "which is not a regular file" in said) == (4, True)


# --- extends ---


@pytest.mark.parametrize("name", ["../secret", "../secret.yaml", "../secret.yml", "../linked/pack.yaml", "../pipe.yaml", "../folder"])
def test_nothing_is_shown_of_a_file_that_is_no_manifest(there, name):
    outside = there.parent
    for ending in (".yaml", ".yml"):
        (outside / f"secret{ending}").write_text(f"{SECRET}: {SECRET}\n", encoding="utf-8")
    (outside / "linked").mkdir()
    (outside / "linked" / "pack.yaml").symlink_to("../secret")
    (outside / "folder").mkdir()
    (outside / "folder" / "pack.yaml").write_text(f"{SECRET}\n\t- [", encoding="utf-8")
    os.mkfifo(outside / "pipe.yaml")
    (there / "pack.yaml").write_text(f"promptc: 1\nname: theirs\nversion: 1.0.0\nextends: {name}\n", encoding="utf-8")
    for words in (("render", ".", "state.json"), ("check", ".")):
        code, said = _call(there, *words)
        assert code in (3, 4) and any(one in said for one in ("PC0258", "PC0260", "PC0154"))


# contract 3.15
def test_a_base_stays_in_the_repository(there):
    for name in ("base", "clone/base"):
        (there.parent / name).mkdir()
        (there.parent / name / "pack.yaml").write_text(MANIFEST, encoding="utf-8")
    (there / "inner").mkdir()
    manifest = "promptc: 1\nname: theirs\nversion: 1.0.0\nextends: {}\n"
    (there / "inner" / "pack.yaml").write_text(manifest.format("../../base"), encoding="utf-8")
    assert _call(there, "render", "inner", "state.json") == (0, "Hello.\n")
    (there / ".git").mkdir()
    code, said = _call(there, "render", "inner", "state.json", "--no-cache")
    assert (code, "leaves the repository" in said) == (3, True)
    (there / "inner" / "pack.yaml").write_text(manifest.format("../base"), encoding="utf-8")
    assert _call(there, "render", "inner", "state.json") == (0, "Hello.\n")


# --- beside a state ---


@pytest.mark.parametrize("kind", KINDS)
def test_a_note(there, kind):
    _put(there / "state.json.note", kind, "../secret")
    before = (there.parent / "secret").read_bytes()
    code, said = _call(there, "apply", ".", "prune", "state.json")
    assert code == 0, said
    assert json.loads((there / "state.json").read_bytes()) == {"entries": [3]}
    note = there / "state.json.note"
    assert not note.is_symlink() and note.is_file() and (there.parent / "secret").read_bytes() == before


@pytest.mark.parametrize("words", [("prune", "state.json"), ("--restore", "state.json")], ids=["apply", "restore"])
def test_a_linked_folder_of_archives(there, words):
    outside = there.parent / "outside"
    outside.mkdir()
    (there / "state.json.archive").symlink_to(outside)
    code, said = _call(there, "apply", ".", *words)
    assert (code, "PC0850" in said, list(outside.iterdir())) == (4, True, [])
    assert (there / "state.json").read_text(encoding="utf-8") == STATE
    if words[0] == "prune":
        code, said = _call(there, "apply", ".", *words, "--archive", "state.json.archive")
        assert code == 0 and list(outside.glob("*.jsonl")), "what you name is yours"


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive(there, kind):
    assert _call(there, "apply", ".", "prune", "state.json")[0] == 0
    (archive,) = (there / "state.json.archive").glob("*.jsonl")
    _put(archive, kind, "../../secret")
    code, said = _call(there, "apply", ".", "--restore", "state.json")
    assert (code, "PC0724" in said) == (4, True)
    (there / "state.json").write_text(STATE, encoding="utf-8")
    assert _call(there, "apply", ".", "prune", "state.json")[0] == 4
    assert (there / "state.json").read_text(encoding="utf-8") == STATE


@pytest.mark.parametrize("kind", ["pipe", "link"])
@pytest.mark.parametrize("name", ["state.json.lock", "state.json.archive/.lock"])
def test_a_lock(there, kind, name):
    (there / "state.json.archive").mkdir()
    _put(there / name, kind, "../../secret" if "/" in name else "../secret")
    before = (there.parent / "secret").read_bytes()
    assert _call(there, "apply", ".", "prune", "state.json", "--wait", "0")[0] == 4
    assert (there.parent / "secret").read_bytes() == before


# --- connections ---


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "POSTGRESQL", "postgresql+psycopg"])
def test_a_server_that_a_manifest_names_is_not_asked(there, scheme):
    import socket

    with socket.create_server(("localhost", 0)) as server:
        url = f"{scheme}://evil@localhost:{server.getsockname()[1]}/db"
        section = "  - {id: a, items: {from: {segments: {scope: s}}, text: '{{ item.content }}'}}"
        (there / "pack.yaml").write_text(f"{MANIFEST}{section}\nstores: {{main: {{url: '{url}'}}}}\n", encoding="utf-8")
        for words in (("render", ".", "state.json"), ("check", "."), ("segments", "list", "--pack", ".")):
            code, said = _call(there, *words, environment={"PGPASSWORD": SECRET})
            assert (code, "PC0948" in said) == (3, True)
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "option", ["passfile=x", "service=x", "options=-c", "hostaddr=::1", "sslcrl=x", "krbsrvname=x", "Host=x", "%70assfile=x"]
)
def test_an_option_that_is_not_used_is_refused(there, option):
    code, said = _call(there, "segments", "list", "--url", f"postgresql://me@localhost:1/db?{option}")
    assert (code, "PC0949" in said) == (3, True)


LONG = ("x" * 300, "x/" * 2500 + "x")
"""Names that no file can have: the system refuses to look."""


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize(
    "added",
    [
        "extends: {}/pack.yaml\n",
        "state: {{schema: {}.json}}\n",
        "tokenizer: hf:{}.json\n",
        "asserts: [{{that: 'true', else: \"{{% include '{}.j2' %}}\"}}]\n",
        "operations: {{ask: {{asks: {{a: {{pack: {}, else: ''}}}}, edits: [{{remove: /entries}}]}}}}\n",
    ],
)
def test_a_name_that_is_too_long_is_a_finding(there, name, added):
    base = "".join(line for line in MANIFEST.splitlines(keepends=True) if not line.startswith((added.partition(":")[0], "  prune")))
    (there / "pack.yaml").write_text(base + added.format(name), encoding="utf-8")

    ending, said = _call(there, "check", ".")

    assert ending in (3, 4) and "PC0" in said and "bug" not in said


@pytest.mark.parametrize("command", ["check", "render", "test", "diff", "pending", "accept", "map", "init"])
def test_a_name_on_the_command_line_that_is_too_long_is_no_bug(there, command):
    more = {"render": ["state.json"], "diff": ["state.json"]}.get(command, [])

    ending, said = _call(there, command, LONG[0], *more)

    assert ending in (2, 3, 4) and "bug" not in said
