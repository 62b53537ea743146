"""What the properties share: the packs that are drawn, and the figures that `make prove` prints."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.property.drawing.tokenizer import install_encodings
from tests.property.load_drawn import Library
from tests.property.proof import Proof, Tally

_FIGURES: dict[str, Tally] = {}


@pytest.fixture(scope="session")
def proof(tmp_path_factory: pytest.TempPathFactory, draws: Callable[[int], int], prove_seed: int) -> Proof:
    """Holds properties against drawn packs: all with `--prove`, else a fixed twentieth."""
    return Proof(Library(tmp_path_factory.mktemp("packs")), prove_seed, draws, _FIGURES)


@pytest.fixture(scope="module")
def encodings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The encodings of tiktoken that packs name; gives the variables by which another process finds them."""
    with install_encodings(tmp_path_factory.mktemp("encodings")) as variables:
        yield variables


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not _FIGURES or not config.getoption("--prove"):
        return
    terminalreporter.section(f"properties, seed {config.getoption('--prove-seed')}")
    for name, tally in _FIGURES.items():
        shown = ", ".join(f"{count} {noun}" for noun, count in (tally - Counter(violations=tally["violations"])).items())
        terminalreporter.line(f"{name}: {shown}, {tally['violations']} violations")
