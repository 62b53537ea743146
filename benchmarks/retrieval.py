"""`python -m benchmarks.retrieval CORPUS QUERIES [--words]` builds an index over a folder of Markdown and measures it.

CORPUS is a folder of files to index, QUERIES a file in the format of `promptc index eval`. `python -m benchmarks retrieval` uses this
project's documents and a few questions about them. With `--words` no vectors are made. The output is times by the clock, recall by words
alone and with vectors, and how many queries that no rulebook answers are flagged.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import quantiles
from time import perf_counter

import promptc
from benchmarks.measure import Sample, Scale, begin, show
from promptc.diag.frozen import replace
from promptc.frontend.corpus import build_corpus, open_corpus, read_queries
from promptc.model.section import MICRO
from promptc.model.sources import CorpusIndex
from promptc.sources.retrieval.encoder import MissingEncoder, VectorEncoder
from promptc.sources.retrieval.local import LoadedIndex
from promptc.sources.retrieval.retrieve import ChunkQuery, IndexVerdict, KnownAnswer, Query, Retrieved, Retriever, judge_index, retrieve
from promptc.text.counters.counter import Meter

_DOCS = Path(__file__).parents[1] / "docs"
_PACK = """promptc: 1
name: measured
version: 1.0.0
tokenizer: o200k_base
budget: 4000
indexes:
  corpus: {corpus: "corpus/**/*.md", weights: {words: 0.6, vectors: 0.4}, vectors: {encoder: minilm-int8}, synonyms: synonyms.yaml}
sections:
  - {id: main, text: nothing}
"""
_SYNONYMS = "cr: challenge rating\nxp: experience points\nhp: hit points\nac: armor class\ndc: difficulty class\n"
_JUNK = """how do I reset my wifi router password
best pizza restaurants in Chicago
python list comprehension syntax
quarterly earnings report for semiconductor companies
change the oil in a Honda Civic
who won the 1998 world cup
kubernetes pod stuck in pending state
recipe for sourdough bread starter
mortgage refinance rates today
football transfer rumours Manchester
asdf qwer zxcv
symptoms of vitamin D deficiency
how to file income tax online
flight from Berlin to Lisbon tomorrow
javascript async await promise error handling
stock market crash of 1929 causes
guitar chords for beginners
what time does the post office close
convert kilometers to miles per hour formula
best laptop for video editing under 1000 euros
what is the capital of Australia
install postgres on ubuntu server
romantic comedy movies from the nineties
how to train a puppy to sit
interest rate of the federal reserve
my printer is out of ink
marathon training plan for beginners
css flexbox center a div
who wrote pride and prejudice
electric car charging stations near me
vaccination schedule for infants
how do airplanes stay in the air
tax deduction for home office
best sunscreen for sensitive skin
symptoms of the common cold in children
solve quadratic equation with complex roots
train timetable from Paris to Lyon
phone battery drains too fast
knitting pattern for a wool scarf
what is the GDP of Brazil"""
_OWN = """which filters shorten a text to a number of tokens\ttemplates.md#Of promptc
what does Jinja have that templates lack\ttemplates.md#What is left out, and why
how are files cut into chunks\tretrieval.md#From files to chunks
how many queries must find their page\tretrieval.md#Measuring
where do case folders lie\tcases.md#Where cases are stored
run the cases with pytest\tcases.md#In pytest
"""
_FLOOR = 250_000
_CAP = 1000
_ROUNDS = 5


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description="Build an index over a folder of Markdown and measure it.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--words", action="store_true", help="no vectors")
    given = parser.parse_args()
    begin(f"Retrieval: an index over {given.corpus}, by the clock")
    _measure_corpus(given.corpus, read_queries(given.queries.read_bytes(), given.queries.name), is_encoding=not given.words)


def bench_retrieval(scale: Scale) -> None:
    """Measure an index over the project's own documents; in a small run, over one of them."""
    begin("Retrieval: an index over the documents of this project, by the clock")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(_DOCS.glob(scale.choose("**/*.md", "reference/retrieval.md"))):
            shutil.copy(path, folder)
        known = read_queries(_OWN.encode(), "own.tsv")
        _measure_corpus(Path(folder), [one for one in known if Path(folder, one.answers[0].file).exists()], is_encoding=True)


def _measure_corpus(corpus: Path, known: Sequence[KnownAnswer], *, is_encoding: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(corpus, Path(folder, "corpus"))
        Path(folder, "pack.yaml").write_text(_PACK, encoding="utf-8")
        Path(folder, "synonyms.yaml").write_text(_SYNONYMS, encoding="utf-8")
        _measure(Path(folder), known, is_encoding=is_encoding)


def _measure(folder: Path, known: Sequence[KnownAnswer], *, is_encoding: bool) -> None:
    model = promptc.load(folder).model
    (index,) = (one for one in model.indexes if isinstance(one, CorpusIndex))
    meter, retriever = Meter(model.counting.counter), Retriever()
    encoder = retriever.load_encoder(index.matching.encoder) if is_encoding else None
    if isinstance(encoder, MissingEncoder):
        sys.exit(f"{encoder.reason}, or measure `--words`")
    counter = model.counting.counter.digest
    build = partial(_build, index, meter.count, counter, encoder)
    show("build", build(), ".1f s")
    first = _read(folder)
    changed = sorted((folder / "corpus").rglob("*.md"))[0]
    before = changed.read_bytes()
    changed.write_bytes(before + b"\n\nOne more line.\n")
    show("after one changed file", build(), ".1f s")
    changed.write_bytes(before)
    build()
    show("changed back: the same bytes", "yes" if _read(folder) == first else "NO")
    show("size", sum(map(len, first.values())) / 1e6, ".1f MB")
    started = perf_counter()
    (opened,) = open_corpus(index, counter)
    show("read, checked and opened", perf_counter() - started, ".2f s")
    show("chunks", opened.store.count, ",")
    _judge_all(opened, retriever, known, encoder)


def _build(index: CorpusIndex, count: Callable[[str], int], counter: str, encoder: VectorEncoder | None) -> float:
    started = perf_counter()
    list(build_corpus(index, count=count, counter=counter, load_encoder=lambda: encoder))
    return perf_counter() - started


def _read(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted((folder / "data").rglob("*")) if path.is_file()}


def _judge_all(index: LoadedIndex, retriever: Retriever, known: Sequence[KnownAnswer], encoder: VectorEncoder | None) -> None:
    chunks = list(index.store.read_chunks(range(index.store.count)))
    lost = [answer for one in known for answer in one.answers if not any(map(answer.is_in, chunks))]
    if lost:
        sys.exit(f"the corpus has no `{lost[0].file}#{lost[0].heading}`: name another answer in the list of questions")
    weights = [("words alone", (1, 0))]
    if encoder is not None:
        weights += [("words and vectors, 0.6 and 0.4", (3, 2)), ("words and vectors, 0.5 and 0.5", (1, 1))]
    nonsense = [KnownAnswer(query, ()) for query in _JUNK.split("\n")]
    for name, weight in weights:
        begin(f"Retrieval: {name}, {len(known)} questions and {len(nonsense)} of junk")
        one = replace(index, weights=weight, encoder=index.encoder if weight[1] else "", fingerprint=name, note="")
        verdict, junk = _judge(one, retriever, known), _judge(one, retriever, nonsense)
        for most in (1, 6, 12):
            show(f"recall at {most}", verdict.recall(most) / 1000, ".3f")
        show("mean reciprocal rank", verdict.mean_reciprocal_rank / 1000, ".3f")
        show("recall in what a cap leaves", verdict.recall_in_cap / 1000, ".3f")
        show("questions flagged", sum(found.is_flagged for found in verdict.answered), "")
        show("junk flagged", sum(found.is_flagged for found in junk.judged), "")
        times = _time(one, [query.query for query in known], encoder)
        show("a query, its vector at hand", Sample(tuple(times)), ".1f ms", note=f"p99 {quantiles(times, n=100)[98] * 1e3:.1f} ms")
    if encoder is not None:
        begin("Retrieval: a query for its encoder")
        show("encoding a query", Sample(tuple(_clock(partial(encoder.encode, query.query)) for query in known)), ".1f ms")
        request = ChunkQuery((known[0].query,))
        retriever.ask([index], request)
        show("an answer that is kept", Sample(tuple(_clock(partial(retriever.ask, [index], request)) for _ in range(100))), ".3f ms")


def _judge(index: LoadedIndex, retriever: Retriever, known: Sequence[KnownAnswer]) -> IndexVerdict:
    def ask(query: str) -> Retrieved:
        return retriever.ask([index], ChunkQuery((query,), floor=0, top=12))

    return judge_index(known, ask, floor=_FLOOR, top=6, cap=_CAP)


def _time(index: LoadedIndex, queries: Sequence[str], encoder: VectorEncoder | None) -> list[float]:
    """Return the seconds of each query, excluding its encoding."""
    asked = [Query(query, {index.encoder: encoder.encode(query)} if encoder is not None and index.encoder else {}) for query in queries]
    request = ChunkQuery((), floor=MICRO // 4)
    return [_clock(partial(retrieve, [index], [query], request)) for _ in range(_ROUNDS) for query in asked]


def _clock(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


if __name__ == "__main__":
    main()
