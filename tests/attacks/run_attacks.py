"""Runs attacks, each in a process of its own with 128 MB over the interpreter's memory, and writes what each came to: a line of JSON each.

`python -m tests.attacks.run_attacks WAY [NAME ...]`: WAY is `engine` (the template alone), `render` (a pack with it) or `check` (the same
pack, checked). Linux: the memory is what the kernel gives no more of.
"""

import contextlib
import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import promptc
from promptc.diag.findings import PromptcError, Span, fail
from promptc.template.lower.module import load_expression, load_template
from promptc.template.place import Place
from promptc.template.runtime.run import Run
from tests.attacks.attacks import DEFINITIONS, EXPRESSIONS, FILES, GROWS, NAMES, NESTS, PRINTS, REFUSED, SPENDS, STOPS
from tests.attacks.counting import Words, watch_runs

MEMORY = 128 << 20
HANGS = 20
"""Seconds of the processor after which the kernel ends an attack, so that a broken limit fails a test and does not stop it."""

ATTACKS = {**STOPS, **SPENDS, **NESTS, **GROWS, **REFUSED, **PRINTS, **EXPRESSIONS}
_FILE = Place(Span("attack.j2", 1, 1), inline=False)
_INLINE = Place(Span("pack.yaml", 3, 7), inline=True)


def main() -> None:
    """Runs those named, or all."""
    way, *names = sys.argv[1:]
    _warm_up()
    for name in names or ATTACKS:
        with tempfile.TemporaryDirectory() as folder:
            if way != "engine":
                write_pack(Path(folder), name)
            print(json.dumps({"name": name, **_run_alone(partial(WAYS[way], name, folder))}), flush=True)


def write_pack(folder: Path, name: str) -> None:
    """A pack that holds the attack: as the template of a section, or as a `let` and the `where` of a list; or as its definitions."""
    _, define, attack = DEFINITIONS[name] if name in DEFINITIONS else ("", {}, ATTACKS[name])
    section = {"id": "main", "template": "attack.j2"} if name not in EXPRESSIONS else {"id": "main", "text": "{{ attack }}"}
    listed = {"id": "list", "items": {"from": "state.list", "where": attack, "text": "x"}}
    pack = {
        "promptc": 1,
        "name": "attack",
        "version": "1.0.0",
        "tokenizer": "chars/4",
        "budget": 10_000_000,
        **({"define": define} if define else {}),
    }
    whole = {**pack, "let": {"attack": attack}, "sections": [section, listed]} if name in EXPRESSIONS else {**pack, "sections": [section]}
    files = {"pack.yaml": json.dumps(whole), "attack.j2": attack, "self.j2": "{% include 'self.j2' %}", **FILES}
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8", newline="")


def _warm_up() -> None:
    """Import what attacks import, so that their memory is their own."""
    filters = (
        "upper title truncate indent wordwrap striptags e urlencode tojson json normalize one_line sort unique first int round".split()
    )
    text = "".join(f"{{{{ (state.x | {name}) is defined }}}}" for name in filters)
    with contextlib.suppress(PromptcError):
        load_template(text, _FILE, load_file=_load_file).render({"state": {"x": "a b"}})
    with tempfile.TemporaryDirectory() as folder:
        write_pack(Path(folder), "never-run")
        _run_check("", folder)
        _run_pack("", folder)


def _load_file(name: str) -> str:
    if name == "self.j2":
        return "{% include 'self.j2' %}"
    if name not in FILES:
        raise fail("PC0153", f"there is no file `{name}`")
    return FILES[name]


def _run_alone(work: Callable[[], str]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as out:
            json.dump(_run_limited(work), out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as result:
        text = result.read()
    _, status, usage = os.wait4(child, 0)
    if status or not text:
        return {"outcome": "died", "code": f"status {status}"}
    return {**json.loads(text), "peak": usage.ru_maxrss}


def _run_limited(work: Callable[[], str]) -> dict[str, Any]:
    mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (HANGS, HANGS))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runs = watch_runs()
    begun = time.process_time()
    found = _try(work)
    return {**found, "seconds": time.process_time() - begun, "before": before, "steps": sum(run.limits.steps - run.left for run in runs)}


def _run_engine(name: str, folder: str) -> str:
    names = {**NAMES, "__run__": Run(Words())}
    if name in EXPRESSIONS:
        return repr(load_expression(ATTACKS[name], _INLINE).evaluate(names))
    return load_template(ATTACKS[name], _FILE, load_file=_load_file).render(names)


def _run_pack(name: str, folder: str) -> str:
    return promptc.load(folder).render(NAMES["state"]).text


def _run_check(name: str, folder: str) -> str:
    return "".join(f"{found.code} {found.message}\n" for found in promptc.load(folder).check())


WAYS = {"engine": _run_engine, "render": _run_pack, "check": _run_check}


def _try(work: Callable[[], str]) -> dict[str, Any]:
    try:
        shown = work()
    except PromptcError as error:
        (first, *_) = error.diagnostics
        span = first.span
        place = [span.file, span.line, span.column] if span else None
        return {"outcome": "found", "code": first.code, "message": first.message, "help": first.help, "place": place}
    digest = hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {"outcome": "printed", "code": "", "message": digest, "tail": shown[-2:]}


if __name__ == "__main__":
    main()
