"""The service of docs/guides/service.md under load: it is busy for four fifths of the time, while its pack is reloaded."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, repeat
from pathlib import Path
from random import Random
from statistics import quantiles

from benchmarks.blocks import make_transcript
from benchmarks.measure import Scale, begin, show
from tools.make_pictures import BLOCK

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "service.md"
_HOST = "localhost"
_SECONDS, _PROBE, _TALKS, _KEPT = (60.0, 1.0), (6.0, 0.5), (200, 8), (1000, 20)
_TURNS, _WORDS, CONNECTIONS, _LOAD = 40, 30, 8, 0.8
"""The turns of a talk, the words of a message, the concurrent requests that measure the capacity, and the share of the time to be busy."""

_KEEPS = 'MOST, BUCKETS = "desk", 1000,'
"""The text in the guide that sets how many talks are kept."""

_PATIENCE = 60
"""The timeout for a service that does not answer, in seconds."""
_RULES, _OTHER = "Be brief.", "Be brief and kind."


_BARE = """
import time

from fastapi import FastAPI, Response

app, steps = FastAPI(), 0


def step(count):
    begun = time.thread_time()
    sum(range(count))
    return time.thread_time() - begun


def work():
    step(steps)
    return {"messages": [], "tokens": 0}


@app.put("/talks/{name}")
async def begin(name: str, state: dict):
    return work()


@app.patch("/talks/{name}")
async def go_on(name: str, changes: list[dict]):
    return work()


@app.put("/seconds/{value}")
async def settle(value: float):
    global steps
    steps = int(value * 1_000_000 / min(step(1_000_000) for _ in range(9)))


@app.get("/metrics")
async def show_metrics():
    return Response()
"""
"""A service without promptc. It does so much work that it takes a set time at best, and so shows the delays that the machine causes."""


def read_guide(kept: int) -> dict[str, str]:
    """Return the files of the guide's service by their paths. It keeps `kept` talks instead of 1000."""
    blocks = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    given = {title: text for language, title, text in blocks if title.startswith(("desk/", "service.py")) and language != "diff"}
    return {title: text.replace(_KEEPS, f'MOST, BUCKETS = "desk", {kept},') for title, text in given.items()}


class Server:
    """A service of these files in a process and a folder of its own."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.pack = folder / "desk" / "pack.yaml"
        for title, text in files.items():
            (folder / title).parent.mkdir(exist_ok=True)
            (folder / title).write_text(text, encoding="utf-8")
        with socket.socket() as free:
            free.bind((_HOST, 0))
            self.port = free.getsockname()[1]
        listening = ["--host", _HOST, "--port", str(self.port), "--timeout-keep-alive", "600", "--no-access-log"]
        command = [sys.executable, "-m", "uvicorn", "service:app", *listening]
        self._log = folder / "service.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)

    async def read_metrics(self, reloads: int = 0) -> dict[str, float]:
        """Return the service's metrics, once it answers and has counted at least `reloads` reloads."""
        until = time.monotonic() + _PATIENCE
        while True:
            connection = Connection(self.port)
            status, body = await connection.ask("GET", "/metrics")
            connection.close()
            lines = [line.rsplit(" ", 1) for line in body.decode().splitlines() if not line.startswith("#")]
            metrics = {name: float(value) for name, value in lines}
            if status == 200 and sum(value for name, value in metrics.items() if "_reloads_" in name) >= reloads:
                return metrics
            if self._process.poll() is not None or time.monotonic() > until:
                sys.exit(f"the service ended, or was not told of {reloads} packs: {self._log.read_text(encoding='utf-8')}")
            await asyncio.sleep(0.05)

    def change_pack(self, old: str, new: str) -> None:
        """Change the pack and have it reloaded."""
        self.pack.write_text(self.pack.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        self._process.send_signal(signal.SIGHUP)

    def measure_memory(self) -> float:
        """Return the present memory of the service in MiB (Linux)."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def read_busy(self) -> float:
        """Return the seconds for which the service has been busy: its processor time (Linux)."""
        times = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return sum(map(int, times[11:13])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Stop the service as its operator would."""
        self._process.terminate()
        self._process.wait(10)


@contextmanager
def run_server(files: dict[str, str]) -> Iterator[Server]:
    """Run a service while the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), files)
        try:
            yield server
        finally:
            server.stop()


class Connection:
    """A connection that is kept open; it costs little compared to the service."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, value: object = None) -> tuple[int, bytes]:
        """Send a request and return the status and the body of the response; the status is 0 if there is no response."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(_HOST, self._port)
            reader, writer = self._streams
            body = json.dumps(value).encode()
            head = f"{method} {path} HTTP/1.1\r\nHost: {_HOST}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            told = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(told.split("content-length: ")[1].split("\r\n")[0])
            return int(told.split()[1]), await reader.readexactly(size)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return 0, b""

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Talk:
    """A growing conversation: each turn adds a question and its answer. After its last turn, a new conversation replaces it."""

    _numbers = count()

    def __init__(self, texts: list[str], turn: int) -> None:
        self._texts, self._turn, self._name = texts, turn, next(Talk._numbers)

    def make_request(self) -> tuple[str, str, object]:
        """Return the next turn, for `Connection.ask`."""
        if self._turn % _TURNS == 0:
            self._name = next(Talk._numbers)
            self._turn = 1
            return self.begin(4)
        return self.go_on()

    def go_on(self) -> tuple[str, str, object]:
        """Return the request that sends the changes of one turn."""
        self._turn += 1
        said = [{"role": role, "content": self._pick(place)} for place, role in enumerate(("user", "assistant"))]
        changes = [{"op": "add", "path": "/history/-", "value": message} for message in said]
        return "PATCH", f"/talks/{self._name}", [*changes, {"op": "replace", "path": "/question", "value": self._pick(2)}]

    def begin(self, messages: int) -> tuple[str, str, object]:
        """Return the request that sends the whole state, with `messages` messages."""
        history = [{"role": ("user", "assistant")[place % 2], "content": self._pick(place)} for place in range(messages)]
        return "PUT", f"/talks/{self._name}", {"question": self._pick(messages), "history": history}

    def _pick(self, place: int) -> str:
        return self._texts[(self._name * 31 + self._turn * 3 + place) % len(self._texts)]


@dataclass(slots=True)
class Load:
    """The results of the requests: the seconds of each since it was due, its status, and whether its prompt has the reloaded rules."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    kinds: list[bool] = field(default_factory=list)

    def add(self, due: float, status: int, body: bytes) -> None:
        """Record a response."""
        self.seconds.append(time.perf_counter() - due)
        self.statuses[status] += 1
        self.kinds.append(_OTHER.encode() in body)

    def share(self, hundredth: int) -> float:
        """Return the seconds within which this percentage of requests was answered."""
        return quantiles(self.seconds, n=100)[hundredth - 1]


class Crowd:
    """A number of talks, and the free connections."""

    def __init__(self, port: int, talks: int) -> None:
        self._port = port
        texts = [block["text"] for block in make_transcript(600, _WORDS)]
        self._talks = deque(Talk(texts, at % _TURNS) for at in range(talks))
        self._free = [Connection(port) for _ in range(CONNECTIONS)]
        self._texts = texts

    async def fill(self, kept: int) -> None:
        """Fill the service with as many talks as it keeps, each at its greatest length and two turns old; then add those that go on."""
        connection = self._free[-1]
        others = (Talk(self._texts, 0) for _ in range(kept))
        for talk in [*others, *self._talks]:
            for request in (talk.begin(2 * _TURNS), *(talk.go_on() for _ in range(2))):
                status, body = await connection.ask(*request)
                assert status == 200, (status, body)

    async def find_capacity(self, seconds: float) -> float:
        """Return the turns per second if each connection sends its next turn as soon as one is answered."""
        load, begun = Load(), time.perf_counter()

        async def go_on() -> None:
            while time.perf_counter() < begun + seconds:
                await self._turn(time.perf_counter(), load)

        await asyncio.gather(*(go_on() for _ in range(CONNECTIONS)))
        return len(load.seconds) / (time.perf_counter() - begun)

    async def drive(self, gaps: Iterator[float], seconds: float, acts: Sequence[tuple[float, Callable[[], object]]] = ()) -> Load:
        """Start a turn whenever one is due, regardless of earlier ones, and run each act at its time."""
        load, waiting, left = Load(), set[asyncio.Task[None]](), [*acts]
        begun = due = time.perf_counter()
        while due < begun + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            while left and due - begun >= left[0][0]:
                left.pop(0)[1]()
            task = asyncio.create_task(self._turn(due, load))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
            due += next(gaps)
        await asyncio.gather(*waiting)
        return load

    async def _turn(self, due: float, load: Load) -> None:
        """Run the next turn of the talk that has waited longest, over a free connection or a new one."""
        talk = self._talks.popleft() if self._talks else Talk(self._texts, 0)
        connection = self._free.pop() if self._free else Connection(self._port)
        load.add(due, *await connection.ask(*talk.make_request()))
        self._free.append(connection)
        self._talks.append(talk)

    def close(self) -> None:
        """Close the connections."""
        for connection in self._free:
            connection.close()


@dataclass(frozen=True, slots=True)
class Service:
    """The results of one run of the service. At the `rate`, in turns a second, it is busy for four fifths of the time."""

    capacity: float
    rate: float
    even: Load
    drawn: Load
    memory: tuple[float, float]
    metrics: dict[str, float]


def measure_service(seconds: float, probe: float, talks: int, kept: int) -> Service:
    """Measure the capacity, then keep the service four fifths busy, with a reload of the pack and later one of a broken pack."""
    with run_server(read_guide(kept)) as server:
        return asyncio.run(_measure(server, seconds, probe, talks, kept))


def measure_bare(seconds: float, probe: float, talks: int, rate: float) -> Load:
    """Load a service that only computes with so many turns a second at even distances. They keep it busy for four fifths of the time."""

    async def measure(server: Server) -> Load:
        await server.read_metrics()
        crowd = Crowd(server.port, talks)
        idle = await crowd.find_capacity(probe)
        status, _ = await Connection(server.port).ask("PUT", f"/seconds/{max(0.0, _LOAD / rate - 1 / idle):.9f}")
        assert status == 200
        load = await crowd.drive(repeat(1 / rate), seconds)
        crowd.close()
        return load

    with run_server({"service.py": _BARE}) as server:
        return asyncio.run(measure(server))


async def _find_rate(server: Server, crowd: Crowd, capacity: float, probe: float) -> float:
    """Return the turns a second, at even distances, that keep the service busy for four fifths of the time.

    Turns that come one at a time cost more than turns that always wait for the one before, so this is less than that share of the capacity.
    """
    rate = _LOAD * capacity
    for _ in range(3):
        begun, busy = time.perf_counter(), server.read_busy()
        await crowd.drive(repeat(1 / rate), probe)
        share = (server.read_busy() - busy) / (time.perf_counter() - begun)
        rate = min(_LOAD * capacity, rate * _LOAD / max(share, 0.01))  # the clock of /proc ticks every hundredth of a second
    return rate


async def _measure(server: Server, seconds: float, probe: float, talks: int, kept: int) -> Service:
    await server.read_metrics()
    crowd = Crowd(server.port, talks)
    await crowd.fill(kept)
    await crowd.find_capacity(probe / 3)  # the first turns are slow
    capacity = await crowd.find_capacity(probe)
    rate = await _find_rate(server, crowd, capacity, probe)
    begun = server.measure_memory()
    changes = [(_RULES, _OTHER), ("evict:", "evcit:")]
    acts = [(seconds * part, partial(server.change_pack, *change)) for part, change in zip((0.5, 0.75), changes, strict=True)]
    even = await crowd.drive(repeat(1 / rate), seconds, acts)
    ended = server.measure_memory()
    await server.read_metrics(reloads=len(changes))
    drawn = await crowd.drive(iter(partial(Random(7).expovariate, rate), None), seconds / 3)
    crowd.close()
    return Service(capacity, rate, even, drawn, (begun, ended), await server.read_metrics())


def bench_service(scale: Scale) -> None:
    """Print the capacity of the service, its response times while it is four fifths busy, its memory, and the effect of a reload."""
    seconds = scale.choose(*_SECONDS)
    begin(f"Service: the example with FastAPI on loopback, {scale.choose(*_TALKS)} talks, {seconds:g} s at a load of four fifths")
    found = measure_service(seconds, scale.choose(*_PROBE), scale.choose(*_TALKS), scale.choose(*_KEPT))
    bare = measure_bare(seconds, scale.choose(*_PROBE), scale.choose(*_TALKS), found.rate)
    loads = {
        "turns at even distances": found.even,
        "the same, of a service that only computes as long": bare,
        "turns at random, as people come": found.drawn,
    }
    show("capacity, turns a second", found.capacity, ",.0f")
    show("turns a second that keep it busy for four fifths of the time", found.rate, ",.0f")
    for name, load in loads.items():
        show(name, len(load.seconds), ",")
        show("  not answered by a prompt", len(load.seconds) - load.statuses[200], "", at_most=0)
        show("  p50", load.share(50), ".1f ms")
        show("  p99", load.share(99), ".1f ms")
        show("  p99 / p50", load.share(99) / load.share(50), ".1f x", at_most=3 if load is found.even else None)
    show("with the pack that was reloaded", sum(found.even.kinds) / len(found.even.kinds) * 100, ".0f %")
    show("reloads done", found.metrics['promptc_reloads_total{result="done"}'], ".0f")
    show("reloads refused", found.metrics['promptc_reloads_total{result="refused"}'], ".0f")
    show("memory before it", found.memory[0], ".0f MiB")
    show("memory after it", found.memory[1], ".0f MiB")
    show("  of the memory before", found.memory[1] / found.memory[0], ".2f x", at_most=1.1)
