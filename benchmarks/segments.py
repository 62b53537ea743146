"""Two hundred segments out of a thousand rows and out of a million, from SQLite and from PostgreSQL."""

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import promptc
from benchmarks.measure import Scale, begin, show, time_turns
from promptc.sources.address import read_address
from promptc.sources.segment_store import COLUMNS, SegmentStore
from tests.postgres import run_server, url_of

SMALL = 1_000
LARGE = (1_000_000, 2_000)
TOUCHED = 200
ROUNDS = (15, 1)
MOST = 3.0
LONGEST = 120
"""The seconds after which no further rows are made. The figure is then for fewer rows, and its line says so."""

_BATCH = 20_000
_TEXT = "She keeps the lamps of the harbour, and knows by their colour which ship will not come home tonight. " * 2
_PACK = """promptc: 1
name: large
version: 1.0.0
tokenizer: cl100k_base
budget: 100000
stores: {main: {url_env: PROMPTC_BENCH, locale: "['en']"}}
sections:
  - id: people
    items:
      from: {segments: {scope: npc, ref: state.people}}
      text: "{{ item.content }}"
"""
Row = tuple[str, str, str, str, str, bool, str, str, int]


def bench_segments(scale: Scale) -> None:
    """Print the ratios."""
    begin("Segments: two hundred segments out of many: rendered, and read alone")
    with tempfile.TemporaryDirectory() as made:
        _bench("SQLite", Path(made), lambda name, count: _fill_file(Path(made, name), count), scale)
        try:
            with run_server() as socket:
                _bench("PostgreSQL", Path(made), lambda name, count: _fill_server(socket, name, count), scale)
        except FileNotFoundError as missing:
            show("PostgreSQL", "not there", note=str(missing))


def _bench(label: str, folder: Path, fill: Callable[[str, int], tuple[str, int]], scale: Scale) -> None:
    small, _ = fill("small", SMALL)
    large, rows = fill("large", scale.choose(*LARGE))
    refs = [f"person {number * (SMALL // TOUCHED)}" for number in range(TOUCHED)]
    spread = [f"person {number * (rows // TOUCHED)}" for number in range(TOUCHED)]
    with _open(small) as few, _open(large) as many, _open_pack(folder) as pack:
        works = {
            "render small": lambda: pack.render({"people": refs}, stores={"main": small}),
            "render large": lambda: pack.render({"people": spread}, stores={"main": large}),
            "read small": lambda: few.read([("npc", refs)], ["en"]),
            "read large": lambda: many.read([("npc", spread)], ["en"]),
        }
        assert len(many.read([("npc", spread)], ["en"]).rows) == TOUCHED
        taken = time_turns(works, scale.choose(*ROUNDS), time.perf_counter)
    for what, promise in (("render", True), ("read", False)):
        ratio = taken.ratio(f"{what} large", f"{what} small")
        show(f"{label}: {what}, {rows} rows / {SMALL}", ratio, ".2f x", at_most=MOST if promise else None)


def _fill_file(path: Path, count: int) -> tuple[str, int]:
    url = f"sqlite:{path}"
    with _open(url) as store:
        store.write([])
    end = time.monotonic() + LONGEST
    made = 0
    with closing(sqlite3.connect(path)) as file:
        file.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
        places = ",".join("?" * len(COLUMNS))
        while made < count and time.monotonic() < end:
            file.executemany(f"INSERT INTO prompt_segments VALUES ({places})", _iter_rows(made, min(count, made + _BATCH)))
            file.commit()
            made = min(count, made + _BATCH)
        file.execute("PRAGMA journal_mode = DELETE")
    return url, made


def _fill_server(socket: str, name: str, count: int) -> tuple[str, int]:
    import psycopg

    with psycopg.connect(url_of(socket), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = url_of(socket, name)
    with _open(url) as store:
        store.write([])
    end = time.monotonic() + LONGEST
    made = 0
    with psycopg.connect(url, autocommit=True) as connection:
        while made < count and time.monotonic() < end:
            with connection.cursor().copy(f"COPY prompt_segments ({', '.join(COLUMNS)}) FROM STDIN") as copy:
                for row in _iter_rows(made, min(count, made + _BATCH)):
                    copy.write_row(row)
            made = min(count, made + _BATCH)
        connection.execute("ANALYZE prompt_segments")
    return url, made


def _iter_rows(start: int, stop: int) -> Iterable[Row]:
    """Yield one row for each person, in an order that is not that of the index."""
    for number in range(start, stop):
        yield (f"id {number * 7919 % LARGE[0]}", "npc", f"person {number}", f"{_TEXT}{number}", '{"tier":0}', True, "en", "1.0.0", 0)


@contextmanager
def _open(url: str) -> Iterator[SegmentStore]:
    store = SegmentStore(read_address(url))
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _open_pack(folder: Path) -> Iterator[promptc.Pack]:
    (folder / "pack.yaml").write_text(_PACK, encoding="utf-8")
    yield promptc.load(folder / "pack.yaml")
