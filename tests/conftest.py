"""What every test shares: how many random examples are drawn, from which seed, whether goldens are written, and a cache of its own."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from itertools import count, groupby

import pytest
from hypothesis import HealthCheck, settings

from tests import size
from tests.postgres import run_server, url_of

_NUMBERS = count()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("promptc")
    group.addoption("--prove", action="store_true", help="run the properties at full size instead of a fixed share")
    group.addoption("--prove-seed", type=int, default=0, help="the seed of the random packs; `make prove` draws and prints one")
    group.addoption("--accept", action="store_true", help="write help texts and the README's output instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    os.environ["PROMPTC_CACHE"] = tempfile.mkdtemp(prefix="promptc-tests-")
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="promptc-tests-")
    # Waiting for the disk is most of what writing a file takes, and no test looks at what a power cut leaves; some, that it is asked for.
    os.fsync = _sync_nothing
    # A shell ignores Ctrl-C for what it starts in the background, and so would every command that a test starts and interrupts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--accept") and os.environ.get("CI"):
        raise pytest.UsageError("--accept: goldens are not written in CI")
    size.choose(is_proof=config.getoption("--prove"))
    settings.register_profile(
        "promptc",
        deadline=None,
        database=None,
        derandomize=not config.getoption("--prove"),
        max_examples=size.EXAMPLES[size.read_size()],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.load_profile("promptc")


def _sync_nothing(opened: int) -> None:
    """Fails where `os.fsync` would: on a file that is not open."""
    os.fstat(opened)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Thins out what is marked as sampled, then what is marked as dear; not if tests are named one by one."""
    if any("::" in argument for argument in config.args):
        return
    kept: list[pytest.Item] = []
    for _, same in groupby(items, key=lambda item: (item.parent, item.name.partition("[")[0])):
        function = list(same)
        marker = function[0].get_closest_marker("sampled") if len(function) > 1 else None
        kept += size.take_part(function, *marker.args) if marker is not None else function
    dear = [item for item in kept if item.get_closest_marker("dear") is not None]
    chosen = set(kept) - set(dear) | set(size.take_part(sorted(dear, key=lambda item: item.nodeid)))
    kept = [item for item in kept if item in chosen]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_collection_finish() -> None:
    """Spares the collector of garbage the thousands of tests, which it would look through again and again: a tenth of a run's time."""
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], 100)


def pytest_unconfigure() -> None:
    for name in ("PROMPTC_CACHE", "XDG_STATE_HOME"):
        shutil.rmtree(os.environ[name], ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    seed = f", seed {config.getoption('--prove-seed')}" if config.getoption("--prove") else ""
    terminalreporter.line(size.describe() + seed)


@pytest.fixture(scope="session", autouse=True)
def bare_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Holds that no test writes a file into the folder above all folders of tests: a `pack.yaml` there would be the root of other cases."""
    yield
    assert not [path.name for path in tmp_path_factory.getbasetemp().iterdir() if path.is_file() and path.name != ".lock"]


@pytest.fixture(scope="session")
def prove_seed(request: pytest.FixtureRequest) -> int:
    """The seed for tests that draw packs themselves: 0, or the one of `--prove-seed`."""
    return int(request.config.getoption("--prove-seed"))


@pytest.fixture(scope="session")
def draws() -> Callable[[int], int]:
    """`draws(n)`: how many of a property's `n` draws this run makes: all with `--prove`, else a share, at least one."""
    return size.count_draws


@pytest.fixture(scope="session")
def accepting(request: pytest.FixtureRequest) -> bool:
    """True when help texts and the README's output are to be written rather than compared."""
    return bool(request.config.getoption("--accept"))


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[str]:
    """A PostgreSQL server for this run, by the folder of its socket. Where there is none to be started, what needs it is skipped; in CI it
    fails.
    """
    try:
        server = run_server()
        socket = server.__enter__()
    except FileNotFoundError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NOT TESTED WITH POSTGRESQL: {missing}")
    try:
        yield socket
    finally:
        server.__exit__(None, None, None)


@pytest.fixture
def postgres(postgres_socket: str) -> Iterator[str]:
    """The URL of a database of the server, empty and gone after the test."""
    import psycopg

    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(url_of(postgres_socket), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield url_of(postgres_socket, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
