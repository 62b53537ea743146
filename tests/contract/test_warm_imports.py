"""What a warm render imports: no module more than these. Each costs a process that does so little."""

import shutil
import subprocess
import sys

import pytest

import promptc
from promptc.frontend.corpus import build_corpus
from promptc.frontend.segments import load_segments
from promptc.sources.address import read_address
from promptc.sources.retrieval.encoder import load_encoder
from promptc.sources.segment_store import SegmentStore
from tests.contract.sources import ROOT

# Of Python's own: those that no interpreter can start without do not count.
PYTHONS = frozenset(
    """
    __future__ _bisect _blake2 _collections _compat_pickle _functools _json _operator _pickle _sha2 _sha256 _sre array bisect collections
    collections.abc copyreg enum functools gc itertools keyword math mmap operator re re._casefix re._compiler re._constants re._parser
    reprlib types unicodedata zlib
    """.split()
)
# Of promptc's: these packages, and of the others these modules.
PACKAGES = ("promptc.cache", "promptc.model", "promptc.passes", "promptc.template.runtime", "promptc.text")
MODULES = frozenset(
    """
    promptc promptc.api promptc.operations promptc.operations.results promptc.pipeline promptc.version
    promptc.cli promptc.cli.main promptc.cli.options promptc.cli.request promptc.cli.run promptc.cli.terminal
    promptc.diag promptc.diag.findings promptc.diag.frozen promptc.diag.typed promptc.files promptc.files.reading
    promptc.frontend promptc.frontend.json promptc.frontend.kept_pack promptc.frontend.schema promptc.frontend.schema.runtime
    promptc.frontend.state promptc.template promptc.template.allow promptc.template.compile promptc.template.place
    """.split()
)
NEVER = ("promptc.passes.report", "promptc.text.counters.huggingface", "promptc.template.runtime.errors")
MANY = 82
"""Modules of promptc: each has to be found, read and run."""

# With an index or a store: what asks them, and neither a database, a parser, an encoder nor anything that reads documents.
ASKING_PYTHONS = PYTHONS | frozenset("_hashlib _heapq contextlib hashlib heapq".split())
FINDING_PYTHONS = ASKING_PYTHONS | frozenset(
    "importlib importlib._abc importlib._bootstrap importlib._bootstrap_external importlib.util warnings".split()
)
"""To see whether an encoder's packages are there."""

ASKING_MODULES = MODULES | frozenset(
    """
    promptc.sources.kept promptc.text.pattern promptc.frontend.sources promptc.sources promptc.sources.address
    promptc.sources.retrieval promptc.sources.retrieval.encoder promptc.sources.retrieval.local promptc.sources.retrieval.retrieve
    promptc.sources.retrieval.scoring promptc.sources.segments
    """.split()
)
MANY_ASKING = 92
SLOW = frozenset("sqlalchemy sqlite3 yaml json numpy onnxruntime statistics".split())
"""What a question that was never asked must not load either, where its index is kept and has words alone."""

PROBE = """\
import sys
bare = set(sys.modules)
from promptc.cli import main
code = main._render(sys.argv[1:])
print(code, *sorted(set(sys.modules) - bare), file=sys.stderr)
"""


def _render(folder, *arguments):
    """The modules of a render."""
    environment = {"PYTHONPATH": str(ROOT / "compiler"), "PROMPTC_CACHE": str(folder / "promptc"), "XDG_STATE_HOME": str(folder)}
    line = [sys.executable, "-c", PROBE, "render", *map(str, arguments)]
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, check=True)
    code, *names = done.stderr.decode().splitlines()[-1].split()
    assert code == "0" and done.stdout
    return frozenset(names)


def _render_warm(folder, *arguments):
    """Those of the third render of a state: the first compiles, the second keeps its modules."""
    return [_render(folder, *arguments) for _ in range(3)][-1]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return _render_warm(tmp_path_factory.mktemp("cache"), "packs/sentinel", "fixtures/sentinel/base/table.json")


def test_of_pythons_only_what_is_needed(loaded):
    _judge_pythons(loaded, PYTHONS)


def test_of_promptcs_only_what_renders(loaded):
    own = {name for name in loaded if name.startswith("promptc")}
    strange = {name for name in own - MODULES if not name.startswith(PACKAGES)}
    _judge_own(own, strange, MANY)


PACK = """promptc: 1
name: small
version: 1.0.0
tokenizer: cl100k_base
budget: 2000
indexes: {book: {corpus: "pages/*.md", vectors: {encoder: minilm-int8}}}
sections:
  - {id: a, items: {from: {retrieve: {index: book, query: state.query, sparse_below: 0}}, text: "{{ item.text }}"}}
"""


def _build(pack, encoder=None):
    model = promptc.load(pack).model
    counter = model.counting.counter
    list(build_corpus(model.indexes[0], count=counter.measure, counter=counter.digest, load_encoder=lambda: encoder))


def _hold_to(names, pythons):
    _judge_pythons(names, pythons)
    own = {name for name in names if name.startswith("promptc")}
    _judge_own(own, {name for name in own - ASKING_MODULES if not name.startswith(PACKAGES)}, MANY_ASKING)


def _judge_pythons(names, pythons):
    more = {name for name in names if not name.startswith("promptc")} - pythons
    assert not more, f"a warm render must not load these modules of Python: import them inside the function that needs them: {sorted(more)}"


def _judge_own(own, strange, most):
    more = sorted({*strange, *(own & set(NEVER))})
    assert not more, f"a warm render must not load these modules: import them inside the function that needs them: {more}"
    assert len(own) <= most, f"a warm render loads {len(own)} modules of promptc, at most {most}: import the new one where it is used"


@pytest.mark.dear
def test_an_answer_that_is_kept_asks_no_index(tmp_path):
    pack, state = tmp_path / "pack", "fixtures/worldarchitect/base/vesper.json"
    shutil.copytree(ROOT / "packs" / "worldarchitect", pack, ignore=shutil.ignore_patterns("data"))
    text = (
        (pack / "pack.yaml")
        .read_text(encoding="utf-8")
        .replace("    vectors: {encoder: minilm-int8}\n", "")
        .replace("    lead: ", "    # lead: ")
    )
    (pack / "pack.yaml").write_text(text.replace("{words: 1, vectors: 1}", "{words: 1}"), encoding="utf-8")
    _build(pack)
    _hold_to(_render_warm(tmp_path, pack, state), ASKING_PYTHONS)
    asked = _render(tmp_path, pack, state, "--set", '/input="the lamp, the oil and the bell"')
    assert not asked & SLOW and not asked & {"promptc.frontend.corpus", "promptc.sources.retrieval.index"}


def test_an_answer_that_is_kept_asks_no_encoder(tmp_path):
    pack = tmp_path / "pack"
    (pack / "pages").mkdir(parents=True)
    (pack / "pages/lamp.md").write_text("# Lamp\n\nThe lamp burns oil.\n", encoding="utf-8")
    (pack / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "state.json").write_text('{"query": "what does the lamp burn"}', encoding="utf-8")
    _build(pack, load_encoder("minilm-int8"))
    _hold_to(_render_warm(tmp_path, pack, tmp_path / "state.json"), FINDING_PYTHONS)


def test_rows_that_are_kept_open_no_database(tmp_path):
    pack = tmp_path / "pack"
    shutil.copytree(ROOT / "packs" / "whispercross", pack)
    SegmentStore(read_address(f"sqlite:{pack}/segments.db")).write(load_segments(pack / "segments"))
    _hold_to(_render_warm(tmp_path, pack, "fixtures/whispercross/base/night.json"), ASKING_PYTHONS)
    fewer = _render(tmp_path, pack, "fixtures/whispercross/base/opening.json")
    assert not fewer & (SLOW - {"sqlite3", "json"})
