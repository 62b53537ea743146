from pathlib import Path

import pytest

from promptc.text.counters.counter import Counter
from promptc.text.counters.exact import load_counter

VOCABULARIES = ("cl100k_base", "o200k_base")


@pytest.fixture(params=VOCABULARIES)
def exact(request) -> Counter:
    """Each of the counters over a shipped vocabulary."""
    return load_counter(request.param, folder=Path())


@pytest.fixture(params=(*VOCABULARIES, "chars/4"))
def counter(request) -> Counter:
    """Each of the counters that need no file."""
    return load_counter(request.param, folder=Path())
