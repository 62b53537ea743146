"""What a warm render imports: no module more than these. Each costs a process that does so little."""

import subprocess
import sys

import pytest

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
    promptc.cli promptc.cli.findings promptc.cli.main promptc.cli.options promptc.cli.request promptc.cli.run promptc.cli.terminal
    promptc.diag promptc.diag.findings promptc.diag.frozen promptc.diag.typed promptc.files promptc.files.reading
    promptc.frontend promptc.frontend.json promptc.frontend.kept_pack promptc.frontend.schema promptc.frontend.schema.runtime
    promptc.frontend.state promptc.template promptc.template.allow promptc.template.compile promptc.template.place
    """.split()
)
NEVER = ("promptc.passes.report", "promptc.text.counters.huggingface", "promptc.template.runtime.errors")
MANY = 83
"""Modules of promptc: each has to be found, read and run."""

PROBE = """\
import sys
bare = set(sys.modules)
from promptc.cli import main
code = main._render(sys.argv[1:])
print(code, *sorted(set(sys.modules) - bare), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """The modules of the third render of a state: the first compiles, the second keeps its modules."""
    folder = tmp_path_factory.mktemp("cache") / "promptc"
    environment = {"PYTHONPATH": str(ROOT / "compiler"), "PROMPTC_CACHE": str(folder), "XDG_STATE_HOME": str(folder.parent)}
    line = [sys.executable, "-c", PROBE, "render", "packs/sentinel", "fixtures/sentinel/base/table.json"]
    for _ in range(3):
        done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, check=True)
    code, *names = done.stderr.decode().split()
    assert code == "0" and done.stdout
    return frozenset(names)


def test_of_pythons_only_what_is_needed(loaded):
    assert not {name for name in loaded if not name.startswith("promptc")} - PYTHONS


def test_of_promptcs_only_what_renders(loaded):
    own = {name for name in loaded if name.startswith("promptc")}
    strange = {name for name in own - MODULES if not name.startswith(PACKAGES)}
    assert not strange and not own & set(NEVER)
    assert len(own) <= MANY
