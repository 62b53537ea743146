"""Whatever a stranger writes causes a prompt or a diagnostic: no traceback, no exit 70, no hang, no end of the process.

`make prove` tries 100 000 mutated inputs; CI a fixed few of each scene, a commit a fixed few of a third of the scenes.
`python -m tests.attacks.run_mutants` prints the figures.
"""

import os
import subprocess
import sys

import pytest

from tests.attacks.mutants import SCENES
from tests.attacks.run_mutants import share_out
from tests.contract.sources import ROOT

_QUICK = 10
_FULL = 100_000


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCENES)
def test_a_mutant_causes_a_prompt_or_a_diagnostic(name, draws, prove_seed):
    count = len(share_out(_FULL, list(SCENES))[name]) if draws(100) == 100 else _QUICK
    command = [sys.executable, "-m", "tests.attacks.run_mutants", str(prove_seed), str(count), name]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "compiler"), str(ROOT)))}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
