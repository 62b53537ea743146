"""An index on disk: the same bytes whenever it is built, whole or refused, whatever stops a build."""

import json
import os
import shutil
import signal
import subprocess
import sys
from array import array
from unittest.mock import patch

import pytest

from promptc.diag.findings import DiskError, Span
from promptc.diag.frozen import replace
from promptc.files import atomic
from promptc.files.atomic import make_folder_beside
from promptc.model.section import MICRO
from promptc.model.sources import ChunkPlan, CorpusIndex, Document, Matching, Weights
from promptc.sources.retrieval import index as writing
from promptc.sources.retrieval.building import build_index, learn_direction
from promptc.sources.retrieval.encoder import SCALE
from promptc.sources.retrieval.index import MANIFEST, IndexPlace, check_index, digest_manifest, name_generation, read_index, write_index
from promptc.sources.retrieval.local import BACKGROUND_UNIT, open_index
from promptc.sources.retrieval.retrieve import ChunkQuery, Query, retrieve
from promptc.sources.retrieval.scoring import multiply
from promptc.text.json import render_digest
from tests.contract.sources import ROOT
from tests.retrieval_drawing import WordEncoder
from tests.size import take_part

SPAN = Span("packs/rules/pack.yaml", 7, 3)
INDEX = CorpusIndex("rules", SPAN, "", "rules/*.md", "data", ChunkPlan(5, 40), Matching(Weights(3, 2), "words"), {"mode": "general"})
FILES = {"rules/a.md": "# A\n\ngoblins hide in caves\n", "rules/é.md": "# B\n\nlong rest\n\n## C\n\nshort rest\n"}


def read_documents(files):
    return tuple(Document(file, text, {"version": "1"}, f"sha256:{text}") for file, text in files.items())


def build(files=FILES, **given):
    encoder = given.pop("encoder", WordEncoder())
    return build_index(INDEX, read_documents(files), count=lambda text: len(text.split()), counter="c", encoder=encoder, **given)


@pytest.fixture
def place(tmp_path):
    return IndexPlace(tmp_path / "data", SPAN, "rules")


def read_bytes(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def code_of(function, *args):
    with pytest.raises(DiskError) as caught:
        function(*args)
    (found,) = caught.value.diagnostics
    assert found.span is SPAN and "promptc index build packs/rules/pack.yaml rules" in found.help and caught.value.exit_code == 4
    return found.code, found.message


def test_what_is_written_is_read_back(place):
    built = build()
    fingerprint = write_index(place.folder, built)
    read = read_index(place)
    assert read.fingerprint == fingerprint
    assert read.chunks == built.chunks and read.documents == built.documents and read.vectors == built.vectors
    assert (dict(read.words.numbers), read.words.ideals, read.words.ends) == (
        dict(built.words.numbers),
        built.words.ideals,
        built.words.ends,
    )
    assert (read.words.rows, read.words.impacts, read.words.unseen) == (built.words.rows, built.words.impacts, built.words.unseen)


def test_the_same_bytes_each_time_and_incrementally(place):
    write_index(place.folder, build())
    first = read_bytes(place.folder)
    write_index(place.folder, build({**FILES, "rules/a.md": "# A\n\nother words\n"}))
    assert read_bytes(place.folder) != first
    encoder = WordEncoder()
    write_index(place.folder, build(earlier=read_index(place), encoder=encoder))
    assert read_bytes(place.folder) == first
    assert [text for text in encoder.encoded if "\n\n" in text] == ["A\n\ngoblins hide in caves"], "only what changed is encoded again"
    assert len([path for path in place.folder.iterdir() if path.is_dir()]) == 1, "the old generation is gone"


def test_without_vectors_no_file_of_them(place):
    write_index(place.folder, build(encoder=None))
    assert read_index(place).vectors is None
    assert not list(place.folder.glob("*/vectors.i16"))


@pytest.mark.parametrize("step", ["documents.json", "vectors.i16", "rename", "manifest"])
def test_a_build_that_is_stopped_leaves_the_index_that_was_there(step, place, monkeypatch):
    write_index(place.folder, build())
    before = read_index(place)
    write, replaced, rename = atomic._make_file, os.replace, type(place.folder).rename

    def stop_at(name):
        if name == step:
            raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "_make_file", lambda path, mode: stop_at(path.rpartition("/")[2]) or write(path, mode))
    monkeypatch.setattr(type(place.folder), "rename", lambda self, to: (stop_at("rename"), rename(self, to)))
    monkeypatch.setattr(os, "replace", lambda source, to: (stop_at("manifest"), replaced(source, to)))
    with pytest.raises(KeyboardInterrupt):
        write_index(place.folder, build({"rules/new.md": "# N\n\nnew\n"}))
    monkeypatch.undo()
    assert read_index(place).chunks == before.chunks
    write_index(place.folder, build({"rules/new.md": "# N\n\nnew\n"}))
    assert [one.file for one in read_index(place).chunks] == ["rules/new.md"]
    assert not [path.name for path in place.folder.iterdir() if path.name.startswith(".")], "what was left is cleared away"


KILL = """
import os, signal, sys
from pathlib import Path
number = int(sys.argv[1])
def wrap(call):
    def wrapped(*args, **named):
        global number
        if str(args[0]).find("data") >= 0 or isinstance(args[0], int):
            number -= 1
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **named)
    return wrapped
from tests.unit.sources.retrieval.test_index_on_disk import build
from promptc.sources.retrieval.index import write_index
built = build({"rules/new.md": "# N\\n\\nnew\\n"}, encoder=None)
for name in ("mkdir", "open", "fsync", "close", "replace", "rename", "rmdir", "unlink"):
    setattr(os, name, wrap(getattr(os, name)))
write_index(Path(sys.argv[2]), built)
"""


@pytest.mark.dear
def test_a_build_that_is_killed_anywhere_leaves_an_index_and_blocks_no_other(place):
    """And nothing else in the folder, once another build has ended: its own name is of no process."""
    old, new = build(encoder=None), build({"rules/new.md": "# N\n\nnew\n"}, encoder=None)
    left = set()
    for number in take_part(range(1, 100)):
        write_index(place.folder, old)
        done = subprocess.run([sys.executable, "-c", KILL, str(number), place.folder], check=False, capture_output=True, cwd=ROOT)
        assert read_index(place).chunks in (old.chunks, new.chunks)
        left |= {one.name for one in place.folder.iterdir() if one.is_dir() and one.name.startswith(".")}
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        write_index(place.folder, build({"rules/other.md": f"# O {number}\n\nother\n"}, encoder=None))
        assert not [one.name for one in place.folder.iterdir() if one.name.startswith(".")], f"after call {number}"
    assert 8 < number < 99 and len(left) == 1


def test_another_process_that_builds_is_left_alone(place):
    place.folder.mkdir()
    with make_folder_beside(place.folder / writing._BUILDING) as beside:
        write_index(place.folder, build())
        assert os.path.isdir(beside)  # noqa: PTH112
        os.rename(beside, place.folder / "other")  # noqa: PTH104


def test_no_index(place):
    assert code_of(read_index, place)[0] == "PC0190"


@pytest.mark.parametrize("name", ["chunks.jsonl", "words.json", "postings.u32", "vectors.i16", "documents.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "grow"])
def test_every_file_is_held_to_its_digest(name, damage, place):
    write_index(place.folder, build())
    (path,) = place.folder.glob(f"*/{name}")
    content = path.read_bytes()
    half = len(content) // 2
    made = {"flip": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :], "cut": content[:-1], "grow": content + b"\n"}
    path.unlink() if damage == "remove" else path.write_bytes(made[damage])
    code, message = code_of(read_index, place)
    assert code == "PC0193" and name in message
    write_index(place.folder, build())
    assert read_index(place).chunks, "a build mends it"


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda told: {**told, "chunks": 99}, "PC0193"),
        (lambda told: {**told, "format": 99}, "PC0194"),
        (lambda told: [told], "PC0194"),
        (lambda told: {key: told[key] for key in told if key != "fingerprint"}, "PC0193"),
    ],
)
def test_a_manifest_that_was_changed(edit, code, place):
    write_index(place.folder, build())
    path = place.folder / MANIFEST
    path.write_text(json.dumps(edit(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    assert code_of(read_index, place)[0] == code


@pytest.mark.parametrize(
    "edit",
    [
        {"encoder": []},
        {"encoder": {"id": "words", "digest": "d", "size": -1}},
        {"encoder": {"id": "words", "digest": "d", "size": None}},
        {"files": None},
        {"files": []},
        {"files": {}},
        {"files": {"documents.json": {"bytes": -1, "digest": ""}}},
        {"files": {"documents.json": {"bytes": 1 << 62, "digest": ""}}},
        {"postings": -1},
        {"postings": 1 << 70},
        {"postings": "x"},
        {"postings": 0},
        {"files/words.json": b""},
        {"files/words.json": b"{}\n{}\n"},
        {"files/words.json": b'["x"]\n[-1]\n'},
        {"files/words.json": b"[" * 100_000},
        {"files/words.json": b"\xff"},
        {"files/chunks.jsonl": b"[]\n"},
        {"files/chunks.jsonl": b"{}\n"},
        {"files/chunks.jsonl": b""},
        {"files/documents.json": b"[1]\n"},
        {"files/documents.json": b"1\n"},
        {"files/postings.u32": b"\xff" * 400},
        {"files/postings.u32": b"\0\0\0"},
        {"files/vectors.i16": b""},
        {"files/vectors.i16": b"\0"},
        {"files/idle.json": b'"one more"\n'},
        {"files/idle.json": b"1\n"},
        {"files/idle.json": b"{"},
        {"files/words.json": b"[1]\n[1]\n"},
        {"encoder": {"id": "words", "digest": "d", "size": True}},
        {"encoder": {"id": 5, "digest": "d", "size": 16}},
        {"encoder": {"id": "minilm-int8", "digest": "d", "size": 16}},
        *({"background": one} for one in (None, "x", 1.5, -1, 10_000, 10_002)),
        *({"middle": one} for one in (None, "x", 1.5, 1 << 24, -(1 << 24))),
        *({"unseen": one} for one in (None, "x", 1.5, -1)),
        *({f"chunk/{key}": one} for key in ("id", "file", "text") for one in (None, 5, ["x"], "\0", "\ud800")),
        *({f"chunk/{key}": one} for key in ("heading", "covers", "asked") for one in (None, "x", [5], [["x"]], ["\ud800"])),
        *({f"chunk/{key}": one} for key in ("ordinal", "tokens") for one in (None, "x", 1.5, True, -1, 1 << 63, float("nan"))),
        *({"chunk/metadata": one} for one in (None, [], {"a": float("inf")}, {"a": [{"b": 1 << 64}]}, {"a": "\0"}, {"\ud800": 1})),
    ],
    ids=lambda edit: "".join(edit) + str(next(iter(edit.values())))[:30],
)
def test_a_forged_manifest_with_the_fingerprint_of_its_content_is_damaged(edit, place):
    """Its digests are right, so they prove nothing: what they hold is judged."""
    write_index(place.folder, build())
    path = place.folder / MANIFEST
    told = json.loads(path.read_text(encoding="utf-8"))
    (generation,) = (one for one in place.folder.iterdir() if one.is_dir())
    chunks = [json.loads(line) for line in (generation / "chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    for key, value in edit.items():
        if key.startswith("chunk/"):
            edited = [{**one, key.removeprefix("chunk/"): value} for one in chunks]
            key, value = "files/chunks.jsonl", "".join(f"{json.dumps(one)}\n" for one in edited).encode()
        if key.startswith("files/"):
            name = key.removeprefix("files/")
            (generation / name).write_bytes(value)
            told["files"][name] = {"bytes": len(value), "digest": render_digest(value)}
        else:
            told[key] = {**told[key], **value} if key == "files" and value else value
    told["fingerprint"] = digest_manifest(told)
    path.write_text(json.dumps(told), encoding="utf-8")
    generation.rename(place.folder / name_generation(told["fingerprint"]))
    assert code_of(read_index, place)[0] == "PC0193"


def test_a_forged_index_whose_versions_are_mixed_is_damaged(place):
    """The chunks of a version are looked for in one run: in a mixed index, a version would be given those of others."""
    one, other = build(encoder=None).chunks[:2]
    later = replace(one, metadata={"version": "2"})
    write_index(place.folder, replace(build(encoder=None), chunks=(later, other)))
    assert code_of(read_index, place)[0] == "PC0193"


@pytest.mark.parametrize("pattern", [MANIFEST, "*/chunks.jsonl", "*/vectors.i16"])
def test_a_pipe_is_not_waited_for(pattern, place):
    write_index(place.folder, build())
    (path,) = place.folder.glob(pattern)
    path.unlink()
    os.mkfifo(path)
    code, message = code_of(read_index, place)
    assert code == "PC0193" and "not a regular file" in message
    write_index(place.folder, build())
    assert read_index(place).chunks, "a build mends it"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b'{"format": 3, "a": NaN}', b'{"format": 3, "a": 1e999}'])
def test_a_manifest_that_is_no_json(content, place):
    write_index(place.folder, build())
    (place.folder / MANIFEST).write_bytes(content)
    assert code_of(read_index, place)[0] == "PC0193"


def test_a_message_shows_the_beginning_of_a_long_format(place):
    write_index(place.folder, build())
    (place.folder / MANIFEST).write_text(json.dumps({"format": ["x" * 10_000]}), encoding="utf-8")
    code, message = code_of(read_index, place)
    assert code == "PC0194" and len(message) < 250 + len(str(place.folder))


@pytest.mark.parametrize("word", ["code", "storage"])
def test_headings_that_are_the_same_to_the_encoder_leave_a_score(word, place):
    """`Code` and `CODE` have one vector, and a zero-width space none: the background of such pages was 1, or more by rounding."""

    class Same(WordEncoder):
        def encode(self, text):
            return array("h", [2048, 90 if word == "code" else 0, *[0] * 14])

    pages = {f"rules/{name}.md": f"# {name}\n\n\u200b\n" for name in (word.title(), word.upper())}
    write_index(place.folder, build(pages, encoder=Same()))
    read = read_index(place)
    assert read.vectors is not None and read.vectors.background == BACKGROUND_UNIT - 1
    index = open_index("rules", INDEX.matching, read)
    found = retrieve([index], [Query(word, {"words": Same().encode(word)})], ChunkQuery((word,), floor=0)).found
    assert [one.score.vectors for one in found] == [MICRO, MICRO]


ASKED = ("where do goblins hide", "how long is a rest", "may we rest")
IDLE = ("brb, tea", "tea or lunch")


def learn(asked, idle):
    sides = [[WordEncoder().encode(line) for line in side] for side in (asked, idle)]
    direction, middle = learn_direction(*sides, WordEncoder.size)
    return direction, [[multiply(vector, direction)[0] - middle for vector in side] for side in sides]


def test_the_direction_goes_from_idle_to_asked_lines_and_its_middle_is_between_both():
    direction, (ours, theirs) = learn(ASKED, IDLE)
    assert abs(sum(value * value for value in direction) - SCALE * SCALE) < SCALE * SCALE // 100, "it is as long as a vector"
    assert max(theirs) < 0 < min(ours) and abs(sum(ours) * len(theirs) + sum(theirs) * len(ours)) <= 2 * len(ours) * len(theirs)
    with patch.dict(sys.modules, {"numpy": None}):
        assert learn(ASKED, IDLE)[0] == direction


@pytest.mark.parametrize(("asked", "idle"), [((), IDLE), (ASKED, ()), ((), ()), (IDLE, IDLE), (("",), ("",))])
def test_a_direction_that_cannot_be_learned_says_nothing_of_any_line(asked, idle):
    _, sides = learn(asked, idle)
    assert abs(sum(map(sum, sides))) <= SCALE


def test_an_index_of_another_name(place):
    write_index(place.folder, build())
    with pytest.raises(DiskError) as caught:
        read_index(IndexPlace(place.folder, SPAN, "lore"))
    assert caught.value.diagnostics[0].code == "PC0194" and "`rules`" in caught.value.diagnostics[0].message


def test_a_reader_that_meets_a_build_reads_the_new_index(place, monkeypatch):
    """The files of the generation it has read the name of are gone: it looks again."""
    write_index(place.folder, build())
    old = (place.folder / MANIFEST).read_bytes()
    write_index(place.folder, build({"rules/new.md": "# N\n\nnew\n"}))
    opened, given = type(place.folder).read_bytes, [old]
    monkeypatch.setattr(type(place.folder), "read_bytes", lambda self: given.pop() if given and self.name == MANIFEST else opened(self))
    assert [one.file for one in read_index(place).chunks] == ["rules/new.md"]


def test_no_path_of_the_machine_and_no_time_is_in_it(place, tmp_path):
    write_index(place.folder, build())
    shutil.copytree(place.folder, tmp_path / "elsewhere")
    assert read_index(IndexPlace(tmp_path / "elsewhere", SPAN, "rules")).chunks == read_index(place).chunks
    assert not any(str(tmp_path).encode() in content for content in read_bytes(place.folder).values())


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({**FILES, "rules/a.md": "changed"}, "`rules/a.md` changed"),
        ({**FILES, "rules/c.md": "new"}, "`rules/c.md` new"),
        ({"rules/a.md": FILES["rules/a.md"]}, "`rules/é.md` gone"),
        ({"rules/x.md": "x", "rules/y.md": "y"}, "`rules/x.md` and 1 more new, `rules/a.md` and 1 more gone"),
    ],
)
def test_a_stale_index_says_what_changed(files, told, place):
    code, message = code_of(check_index, INDEX, build(encoder=None), read_documents(files), "c", place)
    assert code == "PC0192" and told in message


def test_files_in_another_order_make_it_stale(place):
    built = build(encoder=None)
    code, message = code_of(check_index, INDEX, built, read_documents(FILES)[::-1], "c", place)
    assert code == "PC0192" and "another order" in message


def test_settings_a_counter_or_a_model_of_another_kind_make_it_stale(place):
    documents = read_documents(FILES)
    check_index(INDEX, build(encoder=None), documents, "c", place)
    assert code_of(check_index, INDEX, build(encoder=None), documents, "other counter", place)[0] == "PC0192"
    assert "vectors were made by `words`" in code_of(check_index, INDEX, build(), documents, "c", place)[1]


def test_progress_is_told():
    told = []
    build(progress=lambda done, total: told.append((done, total)))
    assert told == [(done, told[-1][1]) for done in range(1, told[-1][1] + 1)]
