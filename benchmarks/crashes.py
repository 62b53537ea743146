"""State operations under `kill -9` and under concurrent use: nothing may be torn, lost or stuck."""

import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from benchmarks.measure import Scale, begin, show
from promptc.api import Pack
from promptc.diag.findings import PromptcError
from promptc.operations.archive import list_archives, read_archive, render_archive
from promptc.operations.edits import make_diff
from promptc.operations.restore import make_restoration, read_note
from promptc.operations.results import StateDiff
from promptc.operations.run import run_operation
from promptc.operations.state_file import archive_folder, lock_state, rewrite_state

ROOT = Path(__file__).resolve().parents[1]
KILLS, CROWD, EACH, SEED = (1000, 2), (16, 2), (200, 3), 20250306

Make = Callable[[bytes, Path], StateDiff]


@dataclass(frozen=True, slots=True)
class Work:
    """An operation to kill, with its pack, its state, and the list whose elements must not be lost."""

    name: str
    pack: Pack
    state: Mapping[str, Any]
    pointer: str
    args: Mapping[str, Any]

    def make(self, raw: bytes, path: Path) -> StateDiff:
        """Return the change that `promptc apply ... --no-model` makes."""
        return make_diff(self.pack, run_operation(self.pack, raw, self.name, self.args), raw, file=path.name)

    def lay(self, path: Path) -> None:
        """Write the state as it is before the operation."""
        path.write_text(json.dumps(self.state, indent=2), encoding="utf-8")


def bench_crashes(scale: Scale) -> None:
    """Print the counts of failures, and the operations per second as a share of bare writes."""
    kills, processes, each = scale.choose(*KILLS), scale.choose(*CROWD), scale.choose(*EACH)
    begin(f"Crashes: {kills} kill -9 during each operation, and what state was left")
    for work in itertools.islice(list_works(), scale.choose(None, 1)):
        figures = crash(work, kills, SEED)
        show(f"{work.pack.name} {work.name}", _describe(figures), note=_judge(figures))
        figures = crash_at_calls(work, scale.choose(itertools.count(), range(3)))
        show(f"  at each of {figures['killed']} calls", _describe(figures), note=_judge(figures))
    figures = crash_restore(next(list_works()), kills, SEED)
    show("restore", _describe(figures), note=_judge(figures))
    begin(f"A crowd: {processes} processes, {each} operations each, on one state")
    for name in ("count", "turn"):
        figures, seconds, bare = crowd(name, processes, each)
        show(f"logbook {name}", f"{figures['done']} done", note=_judge(figures))
        show("  operations a second, of bare writes", 100 * bare / seconds, ".0f %")


def list_works() -> Iterator[Work]:
    """Yield every operation of the tests' own pack that changes its state, and those of sentinel."""
    folder = ROOT / "tests" / "cli" / "logbook"
    logbook, state = Pack.load(folder), json.loads((folder / "state.json").read_text(encoding="utf-8"))
    for name in ("prune", "sweep", "turn", "digest", "note"):
        yield Work(name, logbook, state, "/entries", {"n": 99} if name in ("turn", "note") else {})
    sentinel = Pack.load(ROOT / "packs" / "sentinel")
    state = json.loads((ROOT / "fixtures" / "sentinel" / "base" / "table.json").read_text(encoding="utf-8"))
    for operation in sentinel.model.operations:
        yield Work(operation.name, sentinel, state, "/transcript", {})


def crash(work: Work, kills: int, seed: int) -> Counter[str]:
    """Kill an operation `kills` times and check what is left. In about half of the runs the archive already exists."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "state.json")
        random = Random(seed)

        def lay() -> None:
            work.lay(path)
            if random.random() < 0.5:
                shutil.rmtree(archive_folder(path), ignore_errors=True)

        return _crash(path, work.make, lay, kills, seed)


def crash_at_calls(work: Work, calls: Iterable[int]) -> Counter[str]:
    """Kill an operation before each of its calls into C with the numbers `calls`, counted from 0, and count what is left.

    The loop ends at a number above that of the last call. Chance plays no part in the result.
    """
    figures = Counter[str]()
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "state.json")
        work.lay(path)
        old = path.read_bytes()
        wanted = work.make(old, path)
        rewrite = partial(rewrite_state, str(path), lambda *_: wanted, folder=None, wait=0, purpose="bench")
        for call in calls:
            work.lay(path)
            shutil.rmtree(archive_folder(path), ignore_errors=True)
            was_killed = _await(_fork(partial(_die_before, call, rewrite)))
            figures["killed" if was_killed else "finished"] += 1
            _look(path, old, wanted, figures)
            if not was_killed:
                break
    return figures


def crash_restore(work: Work, kills: int, seed: int) -> Counter[str]:
    """Kill a restore `kills` times and check what is left. The restored elements are removed again each time."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "state.json")
        work.lay(path)
        rewrite_state(str(path), work.make, folder=None, wait=0, purpose="prepare")
        without = path.read_bytes()

        def make(raw: bytes, _: Path) -> StateDiff:
            files = list_archives(archive_folder(path))
            archives, names = [read_archive(one) for one in files], [one.name for one in files]
            return make_restoration(work.pack, raw, archives, name="state.json", note=read_note(path, raw), files=names)[0]

        return _crash(path, make, lambda: path.write_bytes(without), kills, seed)


def _crash(path: Path, make: Make, lay: Callable[[], object], kills: int, seed: int) -> Counter[str]:
    """Kill the work at random instants and count what is left.

    The killed part is all that touches the disk, from the lock to the folder. The change is made beforehand, as making it touches no file.
    Instants are drawn from zero to twice the time after which half of the runs have replaced the state. This time is first that of a whole
    run, and is then adapted with each run, as it varies.
    """
    random, figures = Random(seed), Counter[str]()
    lay()
    old = path.read_bytes()
    wanted = make(old, path)
    assert wanted.is_changed
    work = partial(rewrite_state, str(path), lambda *_: wanted, folder=None, wait=0, purpose="bench")
    begun = time.perf_counter()
    work()
    middle = time.perf_counter() - begun
    for _ in range(kills):
        lay()
        was_killed = _kill(work, random.uniform(0, 2 * middle))
        figures["killed" if was_killed else "finished"] += 1
        is_old = path.read_bytes() == old
        middle *= 1.03 if is_old else 1 / 1.03
        figures["archived alone"] += is_old and bool(wanted.archived) and _is_archived(path, wanted)
        _look(path, old, wanted, figures)
    return figures


def _look(path: Path, old: bytes, wanted: StateDiff, figures: Counter[str]) -> None:
    """Check what the killed process left. Then run the operation to its end; if it had already finished, run another one."""
    left = path.read_bytes()
    figures["torn"] += left not in (old, wanted.data)
    figures["old" if left == old else "new"] += 1
    figures["lost"] += left != old and not _is_archived(path, wanted)
    try:
        with lock_state(str(path), wait=0, purpose="look"):
            pass
    except PromptcError:
        figures["stuck"] += 1
    if left != old:
        more = StateDiff(wanted.after, wanted.after, wanted.data + b" ", True)
        rewrite_state(str(path), lambda *_: more, folder=None, wait=0, purpose="bench")
    else:
        rewrite_state(str(path), lambda *_: wanted, folder=None, wait=0, purpose="bench")
        figures["lost"] += path.read_bytes() != wanted.data or not _is_archived(path, wanted)
    figures["left behind"] += sum(".promptc-" in one.name for one in path.parent.iterdir())


def _is_archived(path: Path, wanted: StateDiff) -> bool:
    """Return whether all removed elements are in complete archives."""
    for one in wanted.archived:
        content = render_archive(one)
        file = archive_folder(path) / f"{one.name}.{sha256(content).hexdigest()}.jsonl"
        if not file.is_file() or file.read_bytes() != content:
            return False
    return True


def _kill(work: Callable[[], object], after: float) -> bool:
    """Run the work in a process and kill it after a number of seconds; return False if it had already finished."""
    child = _fork(work)
    until = time.perf_counter() + after
    while time.perf_counter() < until:
        pass
    os.kill(child, signal.SIGKILL)
    return _await(child)


def _fork(work: Callable[[], object]) -> int:
    """Start a process that does the work and exits. Return its id when the work is about to begin."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        _run(work, tell)
    os.close(tell)
    os.read(told, 1)
    os.close(told)
    return child


def _await(child: int) -> bool:
    """Wait for the process and return whether it was killed. Any other failure is one of the benchmark."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def _run(work: Callable[[], object], tell: int) -> None:
    """Do the work in the child process, which never returns."""
    code = 1
    try:
        os.write(tell, b"!")
        work()
        code = 0
    finally:
        os._exit(code)


def _die_before(number: int, work: Callable[[], object]) -> None:
    """Do the work up to its call into C with this number, counted from 0, which is never made."""
    calls = itertools.count()

    def hook(frame: FrameType, event: str, arg: object) -> None:
        if event == "c_call" and next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(hook)
    work()
    sys.setprofile(None)


def crowd(name: str, processes: int, each: int) -> tuple[Counter[str], float, float]:
    """Run `processes` processes that each do the operation `each` times.

    Return the failures, the seconds, and those of as many bare writes.
    """
    folder = ROOT / "tests" / "cli" / "logbook"
    pack = Pack.load(folder)
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "state.json")
        path.write_text('{"turns": 0, "entries": []}', encoding="utf-8")
        bare = _write_bare(Path(made), processes * each)
        begun = time.perf_counter()
        children = [_start(pack, name, path, number, each) for number in range(processes)]
        failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
        seconds = time.perf_counter() - begun
        return _count(path, pack, processes * each, failed), seconds, bare


def _start(pack: Pack, name: str, path: Path, number: int, each: int) -> int:
    child = os.fork()
    if child:
        return child

    def work() -> None:
        for turn in range(each):
            args = {"n": number * 1_000_000 + turn, "text": f"{turn} of {number}", "keep": 20} if name == "turn" else {}
            one = Work(name, pack, {}, "/entries", args)
            rewrite_state(str(path), one.make, folder=None, wait=120, purpose=name)

    _run(work, os.open(os.devnull, os.O_WRONLY))
    return 0


def _count(path: Path, pack: Pack, wanted: int, failed: int) -> Counter[str]:
    state = json.loads(path.read_bytes())
    archives = [read_archive(file) for file in list_archives(archive_folder(path))]
    numbers = [element["n"] for archive in archives for element in archive.elements] + [entry["n"] for entry in state["entries"]]
    figures = Counter(done=state["turns"], stuck=failed, updates=wanted - state["turns"])
    if numbers:
        figures["lost"] = wanted - len(set(numbers))
        figures["doubled"] = len(numbers) - len(set(numbers))
        restored = make_restoration(pack, path.read_bytes(), archives, name="state.json")[0].after["entries"]
        figures["not restored"] = wanted - len({entry["n"] for entry in restored})
    return figures


def _write_bare(folder: Path, times: int) -> float:
    """Return the seconds of `times` times write, fsync, rename."""
    content, path = b"x" * 2_000, folder / "bare"
    begun = time.perf_counter()
    for _ in range(times):
        opened = os.open(folder / "beside", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(opened, content)
        os.fsync(opened)
        os.close(opened)
        (folder / "beside").replace(path)
    return time.perf_counter() - begun


def _describe(figures: Counter[str]) -> str:
    return f"{figures['old']} old, {figures['new']} new"


BAD = ("torn", "lost", "stuck", "left behind", "updates", "doubled", "not restored")


def _judge(figures: Counter[str]) -> str:
    found = [f"{figures[name]} {name}" for name in BAD if figures[name]]
    return ", ".join(found) if found else "none torn, lost, stuck"
