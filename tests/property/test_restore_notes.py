"""Restores of a state in its file: whatever was appended, taken out and put back before, equal elements or not, killed or not, nothing is
lost and nothing doubled."""

import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promptc
from promptc.operations import state_file as rewriting
from promptc.operations.archive import list_archives, read_archive
from promptc.operations.edits import make_diff
from promptc.operations.restore import make_restoration, read_note
from promptc.operations.run import run_operation
from tests.size import count_examples

_PACK = """\
promptc: 1
name: log
version: 1.0.0
tokenizer: chars/4
budget: 2000
state: {schema: state.schema.json}
sections: [{id: main, role: user, text: hello}]
operations:
  add: {args: {more: []}, edits: [{append: /log, each: args.more}]}
  drop: {args: {n: ""}, edits: [{keep: /log, where: item != args.n, archive: log}]}
  tail: {args: {k: 1}, edits: [{keep: /log, last: args.k, archive: log}]}
"""
_SCHEMA = '{"type": "object", "properties": {"log": {"type": "array", "items": {"type": "string"}, "default": []}}}'
_STAGES = ("write_archive", "write_state", "settle_note")
_KINDS = ("append", "append", "add", "drop", "tail", "restore", "all")
_STEPS = st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(0, 6), st.sampled_from([None] * 4 + list(_STAGES))), max_size=12)
_ENDS = st.lists(st.integers(0, 8), max_size=6)


class _KilledError(Exception):
    pass


class _Log:
    """A state's file, and what it should hold: `all` that was ever in it, `now` the places in that of what is in it, `out` the places
    that each archive holds, as often as it was taken."""

    def __init__(self, folder, pack, letters):
        self.path, self.pack, self.letters = folder / "s.json", pack, letters
        self.all, self.now, self.out, self.is_killed, self.is_in_order = [], [], [], False, True
        self.path.write_text('{"log": []}')

    def read(self):
        return json.loads(self.path.read_text())["log"]

    def list(self):
        return sorted(list_archives(self.path.with_name("s.json.archive")), key=lambda path: path.name)

    def do(self, kind, number, stage):
        if kind in ("append", "add"):
            self.append(number, by_hand=kind == "append" and not self.is_killed)
        elif kind in ("restore", "all"):
            files = self.list()
            self.restore(files if kind == "all" or not files else [files[number % len(files)]], stage)
        else:
            stays = [self.read()[at] != self.letters(number) for at in range(len(self.now))]
            if kind == "tail":
                stays = [at >= len(self.now) - number for at in range(len(self.now))]
            self.take(kind, {"k": number} if kind == "tail" else {"n": self.letters(number)}, stays, stage)

    def append(self, number, *, by_hand):
        more = [self.letters(len(self.all) + at) for at in range(number % 3 + 1)]
        if by_hand:
            self.path.write_text(json.dumps({"log": [*self.read(), *more]}))
        else:
            self.call(
                lambda raw, path: make_diff(self.pack, run_operation(self.pack, raw, "add", {"more": more}), raw, file=path.name), None
            )
        self.now += range(len(self.all), len(self.all) + len(more))
        self.all += more

    def take(self, name, args, stays, stage):
        gone = [at for at, stay in zip(self.now, stays, strict=True) if not stay]
        change = self.call(lambda raw, path: make_diff(self.pack, run_operation(self.pack, raw, name, args), raw, file=path.name), stage)
        if change is not None and gone:
            self.now = [at for at, stay in zip(self.now, stays, strict=True) if stay]
            self.out.append((change, gone))

    def restore(self, files, stage):
        def make(raw, path):
            archives = [read_archive(file) for file in files]
            names = [file.name for file in files]
            return make_restoration(self.pack, raw, archives, name="s.json", note=read_note(path, raw), files=names)[0]

        newer = len(files) < len(self.list())
        if self.call(make, stage) is None:
            return
        names = {file.name for file in files}
        back = [at for name, gone in self.out if name in names for at in gone]
        self.is_in_order = self.is_in_order and not (newer and back)
        self.out = [(name, gone) for name, gone in self.out if name not in names]
        self.now = sorted([*self.now, *back])

    def call(self, make, stage):
        """The name of the archive (empty: none), or None where it is killed before the state is replaced."""
        with pytest.MonkeyPatch.context() as patched:
            if stage is not None:
                patched.setattr(rewriting, stage, _kill)
            try:
                done = rewriting.rewrite_state(str(self.path), make, folder=None, wait=1, purpose="test")
                self.is_killed = False
            except _KilledError:
                self.is_killed = True
                if stage != "settle_note":
                    return None
                given = json.loads(self.path.with_name("s.json.note").read_text())
                names = given["now"]["/log"]["out"]
                return names[-1] if names else ""
        return done.archives[-1].path.name if done.archives else ""

    def check(self):
        assert Counter(self.read()) == Counter(self.all[at] for at in self.now)
        if self.is_in_order:
            assert self.read() == [self.all[at] for at in self.now]


def _kill(*_, **__):
    raise _KilledError


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    made = tmp_path_factory.mktemp("pack")
    (made / "pack.yaml").write_text(_PACK)
    (made / "state.schema.json").write_text(_SCHEMA)
    return promptc.load(made)


# contract 9.26
@pytest.mark.parametrize("letters", [lambda at: "ab"[at % 2], lambda at: "abc"[at * at % 3], "u{}".format], ids=["two", "three", "unlike"])
@given(steps=_STEPS, ends=_ENDS)
@settings(max_examples=count_examples(60), deadline=None)
def test_nothing_is_lost_or_doubled(pack, letters, steps, ends):
    with tempfile.TemporaryDirectory() as made:
        log = _Log(Path(made), pack, letters)
        for kind, number, stage in steps:
            log.do(kind, number, stage)
            log.check()
        for number in ends:
            log.do("restore", number, None)
            log.check()
        for _ in range(2):
            log.do("all", 0, None)
            log.check()
            assert Counter(log.read()) == Counter(log.all)
