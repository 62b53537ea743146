"""What is kept of stores and indexes: found again by content alone, and what is found is what would be made."""

import contextlib
import gc
import os
import shutil
import sqlite3
import tracemalloc

import pytest

import promptc
from promptc.api import Pack
from promptc.cache import Cache
from promptc.golden.running.environment import without_extras
from promptc.model.sources import Segment
from promptc.sources import kept as kept_sources
from promptc.sources.address import read_address
from promptc.sources.retrieval import retrieve
from promptc.sources.retrieval.encoder import load_encoder
from promptc.sources.segment_store import HeldStore, SegmentStore

HEAD = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 4000\n"
STORE = (
    HEAD
    + """stores: {main: {url: 'sqlite:a.db'}}
sections:
  - {id: a, items: {from: {segments: {scope: a, ref: state.ref}}, text: '{{ item.content }}'}}
  - {id: b, items: {from: {segments: {scope: b}}, text: '{{ item.content }}'}}
"""
)
INDEX = (
    HEAD
    + """indexes:
  book: {corpus: "pages/*.md", weights: {words: 1}}
  list: {from: state.notes, id: item.id, text: "{{ item.text }}"}
sections:
  - id: pages
    items:
      from: {retrieve: {index: book, query: state.query, floor: 0.01, where: item.file != state.but, sparse_below: 0}}
      text: '{{ item.text }}'
  - id: notes
    items: {from: {retrieve: {index: list, query: state.query, floor: 0.01, sparse_below: 0}}, text: '{{ item.text }}'}
"""
)
ALSO = """  - {id: a, items: {from: {segments: {scope: a, ref: state.ref, missing: ignore}}, text: '{{ item.content }}'}}
stores: {main: {url: 'sqlite:a.db'}}
"""
ROWS = [Segment("a1", "a", "x", "first"), Segment("a2", "a", "y", "other"), Segment("b", "b", None, "all")]
STATE = {"query": "the lamp", "but": "", "notes": [{"id": "n", "text": "a lamp of brass"}]}


@pytest.fixture
def cache(tmp_path):
    return Cache(str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "pack"
    made.mkdir()
    return made


@pytest.fixture
def store(folder):
    (folder / "pack.yaml").write_text(STORE, encoding="utf-8")
    SegmentStore(read_address(f"sqlite:{folder}/a.db")).write(ROWS)
    return folder


@pytest.fixture
def index(folder):
    (folder / "pack.yaml").write_text(INDEX, encoding="utf-8")
    (folder / "pages").mkdir()
    (folder / "pages/lamp.md").write_text("# Lamp\n\nThe lamp burns oil.\n", encoding="utf-8")
    (folder / "pages/rope.md").write_text("# Rope\n\nThe rope holds a lamp.\n", encoding="utf-8")
    build(folder)
    return folder


def build(folder, encoder=None):
    from promptc.frontend.corpus import build_corpus

    model = promptc.load(folder).model
    counter = model.counting.counter
    list(build_corpus(model.indexes[0], count=counter.measure, counter=counter.digest, load_encoder=lambda: encoder))


def render(folder, cache, state):
    """The text, and what was kept of it, of a process that has just begun; the same as without a cache."""
    with Pack.load(folder, cache) as pack:
        outcome = pack.compile(state)
    plain = promptc.load(folder).compile(state)
    assert outcome.emitted.text == plain.emitted.text and outcome.report == plain.report and plain.kept is None
    return outcome.emitted.text, {kind: (one["kept"], one["made"]) for kind, one in outcome.kept.items()}


# --- stores ---


def test_rows_are_read_once(store, cache, monkeypatch):
    assert render(store, cache, {"ref": "x"}) == ("first\n\nall\n", {"segments": (0, 2)})
    opened = []
    hold = SegmentStore.hold
    monkeypatch.setattr(SegmentStore, "hold", lambda self: opened.append(1) or hold(self))
    with Pack.load(store, cache) as pack:
        assert pack.render({"ref": "x"}).text == "first\n\nall\n" and not opened
    assert render(store, cache, {"ref": "y"}) == ("other\n\nall\n", {"segments": (1, 1)})


def change_row(path):
    with contextlib.closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("UPDATE prompt_segments SET content = 'third' WHERE id = 'a1'")


def test_a_row_that_changes_is_seen_whatever_the_time(store, cache):
    path = store / "a.db"
    render(store, cache, {"ref": "x"})
    before = path.stat()
    change_row(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert render(store, cache, {"ref": "x"}) == ("third\n\nall\n", {"segments": (0, 2)})


def test_the_same_bytes_with_another_time_are_the_same(store, cache):
    render(store, cache, {"ref": "x"})
    os.utime(store / "a.db", (1, 1))
    assert render(store, cache, {"ref": "x"})[1] == {"segments": (2, 0)}


def test_a_row_that_is_in_the_log_alone_is_seen(store, cache):
    path = store / "a.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE more (id)")
        other.commit()
        render(store, cache, {"ref": "x"})
        assert render(store, cache, {"ref": "x"})[1] == {"segments": (2, 0)}
        content = path.read_bytes()
        with other:
            other.execute("UPDATE prompt_segments SET content = 'third' WHERE id = 'a1'")
        assert path.read_bytes() == content
        assert render(store, cache, {"ref": "x"})[0] == "third\n\nall\n"


def test_a_view_is_never_kept(store, cache):
    with contextlib.closing(sqlite3.connect(store / "a.db")) as opened, opened:
        opened.execute("ALTER TABLE prompt_segments RENAME TO kept_rows")
        opened.execute("CREATE VIEW prompt_segments AS SELECT * FROM kept_rows WHERE random() != 0")
    for _ in range(2):
        assert render(store, cache, {"ref": "x"}) == ("first\n\nall\n", {"segments": (0, 2)})


def test_a_large_file_is_never_kept(store, cache, monkeypatch):
    monkeypatch.setattr(kept_sources, "MOST_DIGESTED", 1000)
    for _ in range(2):
        assert render(store, cache, {"ref": "x"})[1] == {"segments": (0, 2)}


def test_a_store_that_is_gone_is_missed(store, cache):
    render(store, cache, {"ref": "x"})
    (store / "a.db").unlink()
    with pytest.raises(promptc.PromptcError) as raised, Pack.load(store, cache) as pack:
        pack.render({"ref": "x"})
    assert [one.code for one in raised.value.diagnostics] == ["PC0160"]


def test_a_render_sees_one_moment_of_what_is_kept_and_what_is_read(store, cache, monkeypatch):
    """`a` of ref x is kept, `b` is not: a change in between makes the render begin again, with all of it read."""
    with Pack.load(store, cache) as pack:
        pack.render({"ref": "x"}, budget=None)
    SegmentStore(read_address(f"sqlite:{store}/a.db")).write([Segment("b", "b", None, "new")])
    with Pack.load(store, cache) as pack:
        pack.render({"ref": "y"})
    find = kept_sources.KeptSegments.find

    def find_and_change(self, question):
        found = find(self, question)
        if found is not None:
            change_row(store / "a.db")
            SegmentStore(read_address(f"sqlite:{store}/a.db")).write([Segment("b", "b", None, "newer")])
        return found if "b" not in str(question[1]) else None

    monkeypatch.setattr(kept_sources.KeptSegments, "find", find_and_change)
    asked = []
    read = HeldStore.read
    monkeypatch.setattr(HeldStore, "read", lambda self, wanted, *rest: asked.append(wanted[0][0]) or read(self, wanted, *rest))
    with Pack.load(store, cache) as pack:
        assert pack.render({"ref": "y"}).text == "other\n\nnewer\n"
    assert asked == ["a", "b"]


# --- indexes ---


def test_an_answer_is_made_once(index, cache, monkeypatch):
    assert render(index, cache, STATE)[1] == {"answers": (0, 2)}
    monkeypatch.setattr("promptc.frontend.corpus.open_corpus", None)
    with Pack.load(index, cache) as pack:
        outcome = pack.compile(STATE)
    assert outcome.kept["answers"] == {"kept": 2, "made": 0} and "indexes" not in outcome.kept
    with Pack.load(index, cache) as pack:
        outcome = pack.compile({**STATE, "query": "a rope"})
    assert outcome.kept == {"answers": {"kept": 0, "made": 2}, "indexes": {"kept": 1, "made": 0}}


def test_a_condition_that_reads_something_else_is_another_question(index, cache):
    both = render(index, cache, STATE)[0]
    one = render(index, cache, {**STATE, "but": "pages/rope.md"})
    assert one[1] == {"answers": (1, 1), "indexes": (1, 0)} and "rope" in both and "rope" not in one[0]


def test_a_list_that_changes_is_another_index(index, cache):
    render(index, cache, STATE)
    text, kept = render(index, cache, {**STATE, "notes": [{"id": "n", "text": "the lamp is out"}]})
    assert "the lamp is out" in text and kept == {"answers": (1, 1)}


def test_a_document_that_changes_makes_the_index_stale(index, cache):
    render(index, cache, STATE)
    page = index / "pages/lamp.md"
    before = page.stat()
    page.write_text("# Lamp\n\nThe lamp burns wax.\n", encoding="utf-8")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(promptc.PromptcError) as raised, Pack.load(index, cache) as pack:
        pack.render(STATE)
    assert [one.code for one in raised.value.diagnostics] == ["PC0192"]
    build(index)
    assert "wax" in render(index, cache, STATE)[0]


@pytest.mark.parametrize("change", ["new", "gone", "renamed"])
def test_a_document_that_comes_or_goes_makes_the_index_stale(index, cache, change):
    render(index, cache, STATE)
    page = index / "pages/rope.md"
    if change == "new":
        shutil.copy(page, index / "pages/third.md")
    elif change == "gone":
        page.unlink()
    else:
        page.rename(index / "pages/cord.md")
    with pytest.raises(promptc.PromptcError) as raised, Pack.load(index, cache) as pack:
        pack.render(STATE)
    assert [one.code for one in raised.value.diagnostics] == ["PC0192"]


def test_an_index_of_other_settings_gives_another_answer(index, cache):
    render(index, cache, STATE)
    (index / "pack.yaml").write_text(INDEX.replace("floor: 0.01, where", "top: 1, floor: 0.01, where"), encoding="utf-8")
    text, kept = render(index, cache, STATE)
    assert text.count("lamp") == 2 and kept["answers"] == (0, 2)


def test_an_index_that_is_gone_is_missed(index, cache):
    render(index, cache, STATE)
    shutil.rmtree(index / "data")
    with pytest.raises(promptc.PromptcError) as raised, Pack.load(index, cache) as pack:
        pack.render(STATE)
    assert [one.code for one in raised.value.diagnostics] == ["PC0190"]


def test_a_document_that_changes_while_the_index_is_read_is_not_taken_for_the_one_it_was_built_of(index, cache, monkeypatch):
    from promptc.frontend import corpus

    check = corpus.check_index

    def check_and_change(*given):
        check(*given)
        (index / "pages/lamp.md").write_text("# Lamp\n\nThe lamp burns wax.\n", encoding="utf-8")

    monkeypatch.setattr(corpus, "check_index", check_and_change)
    with Pack.load(index, cache) as pack:
        assert "oil" in pack.render(STATE).text
    monkeypatch.undo()
    with pytest.raises(promptc.PromptcError) as raised, Pack.load(index, cache) as pack:
        pack.render(STATE)
    assert [one.code for one in raised.value.diagnostics] == ["PC0192"]


def test_what_lacks_vectors_on_this_machine_is_not_kept(index, cache):
    (index / "pack.yaml").write_text(
        INDEX.replace("weights: {words: 1}", "vectors: {encoder: minilm-int8}"),
        encoding="utf-8",
    )
    build(index)
    for _ in range(2):
        with without_extras(["retrieval"]):
            text, kept = render(index, cache, STATE)
        assert "oil" in text and kept["answers"] == (1 if _ else 0, 1 if _ else 2)


@pytest.fixture
def near(index):
    """The index with vectors, by the encoder itself."""
    (index / "pack.yaml").write_text(INDEX.replace("weights: {words: 1}", "vectors: {encoder: minilm-int8}"), encoding="utf-8")
    build(index, load_encoder("minilm-int8"))
    return index


def test_a_vector_is_made_once(near, cache, monkeypatch):
    assert render(near, cache, STATE)[1] == {"answers": (0, 2), "vectors": (0, 1)}
    monkeypatch.setattr(kept_sources, "load_encoder", None)
    assert render(near, cache, {**STATE, "but": "pages/rope.md"})[1] == {"answers": (1, 1), "indexes": (1, 0), "vectors": (1, 0)}


@pytest.fixture
def told(near):
    """And with what is asked of it."""
    (near / "pack.yaml").write_text(
        INDEX.replace("weights: {words: 1}", "vectors: {encoder: minilm-int8}, asked: ask/lines.tsv, lead: 0.05"), encoding="utf-8"
    )
    (near / "ask").mkdir()
    (near / "ask/lines.tsv").write_text("what gives us light down here\tlamp.md#Lamp\nlol, brb\n", encoding="utf-8")
    build(near, load_encoder("minilm-int8"))
    return near


def test_an_idle_query_is_answered_once_and_told_again(told, cache, monkeypatch):
    idle = {**STATE, "query": "brb, lol"}
    text, kept = render(told, cache, idle)
    assert "oil" not in text and kept == {"answers": (0, 2), "vectors": (0, 1)}
    monkeypatch.setattr("promptc.frontend.corpus.open_corpus", None)
    monkeypatch.setattr(kept_sources.KeptCorpus, "find_index", None)
    with Pack.load(told, cache) as pack:
        outcome = pack.compile(idle)
    assert outcome.kept == {"answers": {"kept": 2, "made": 0}}, "neither the index nor its kept copy is read"
    assert [one["source"].get("idle") for one in outcome.report["sections"]] == [[{"index": "book", "line": "lol, brb"}], None]


@pytest.mark.parametrize("change", ["changed", "gone"])
def test_lines_that_change_or_go_make_the_index_stale(told, cache, change):
    lines = told / "ask/lines.tsv"
    render(told, cache, STATE)
    before = lines.stat()
    if change == "gone":
        lines.unlink()
    else:
        lines.write_text(lines.read_text(encoding="utf-8").replace("light", "right"), encoding="utf-8")
        os.utime(lines, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(promptc.PromptcError) as raised, Pack.load(told, cache) as pack:
        pack.render(STATE)
    assert [one.code for one in raised.value.diagnostics] == ["PC0151" if change == "gone" else "PC0192"]


def test_lines_that_come_make_the_index_stale(told, cache):
    """Of a part that had none: of two, one had."""
    text = (told / "pack.yaml").read_text(encoding="utf-8")
    for before, after in (("pages/*.md", "pages/{part}/*.md"), ("ask/lines.tsv, lead", "'ask/{part}.tsv', path: 'data/{part}', lead")):
        text = text.replace(before, after)
    (told / "pack.yaml").write_text(text, encoding="utf-8")
    for name in ("lamp", "rope"):
        (told / f"pages/{name}").mkdir()
        (told / f"pages/{name}.md").rename(told / f"pages/{name}/{name}.md")
    (told / "ask/lines.tsv").rename(told / "ask/lamp.tsv")
    build(told, load_encoder("minilm-int8"))
    render(told, cache, STATE)
    (told / "ask/rope.tsv").write_text("how do we get down there\trope.md#Rope\nhello\n", encoding="utf-8")
    with pytest.raises(promptc.PromptcError) as raised, Pack.load(told, cache) as pack:
        pack.render(STATE)
    assert [(one.code, "`ask/rope.tsv` new" in one.message) for one in raised.value.diagnostics] == [("PC0192", True)]


def test_an_encoder_that_is_there_and_cannot_be_loaded_is_missing(near, cache, monkeypatch):
    monkeypatch.setattr(kept_sources, "is_installed", lambda: True)
    with without_extras(["retrieval"]):
        for _ in range(2):
            assert "oil" in render(near, cache, STATE)[0]


def test_an_answer_with_vectors_is_none_without_the_packages(near, cache):
    render(near, cache, STATE)
    with without_extras(["retrieval"]):
        assert render(near, cache, STATE)[1]["answers"][1] >= 1


# --- the cache itself ---


@pytest.mark.parametrize("damage", ["flipped", "short", "exchanged"])
@pytest.mark.parametrize("kind", ["store", "index"])
def test_a_poisoned_entry_changes_nothing(kind, damage, cache, tmp_path, request):
    folder = request.getfixturevalue(kind)
    state = {"ref": "x"} if kind == "store" else STATE
    text, made = render(folder, cache, state)
    files = sorted((tmp_path / "cache").iterdir())
    contents = [path.read_bytes() for path in files]
    for place, (path, content) in enumerate(zip(files, contents, strict=True)):
        if damage == "flipped":
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        elif damage == "short":
            path.write_bytes(content[:-1])
        else:
            path.write_bytes(contents[place - 1])
    again, kept = render(folder, cache, state)
    assert again == text and all(one[0] == 0 for one in kept.values()) and kept == made


@pytest.mark.dear
def test_many_turns_are_bounded_in_memory_and_on_the_disk(index, store, cache, tmp_path, monkeypatch):
    """A process that lives long: each turn asks what nobody asked before. Once all bounds are met, nothing grows."""
    monkeypatch.setattr(retrieve, "_ANSWERS", 20)
    (index / "pack.yaml").write_text(INDEX + ALSO, encoding="utf-8")
    sizes, disk = [], []
    tracemalloc.start()
    try:
        with Pack.load(index, cache) as pack:
            for turn in range(120):
                notes = [{"id": f"n{place}", "text": f"lamp {turn} {place} " * 20} for place in range(5)]
                pack.render({"query": f"lamp {turn}", "but": "", "notes": notes, "ref": f"r{turn}"})
                if turn % 40 == 39:
                    pack.__exit__()
                    gc.collect()
                    sizes.append(tracemalloc.get_traced_memory()[0])
                    disk.append(sum(path.stat().st_size for path in (tmp_path / "cache").iterdir()))
    finally:
        tracemalloc.stop()
    assert sizes[2] - sizes[1] < 200_000
    assert disk[2] - disk[1] < 60_000 and disk[2] < 1_000_000
