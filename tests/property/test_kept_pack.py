"""A pack from the cache is the pack of its files: whatever byte of whatever file changes, the same comes of it as without a cache. So is
one that is loaded again, from what an earlier load made."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.frontend.kept_pack import find_kept

STATE = {"name": "Ida", "turn": 3, "lines": ["one", "two", "three"]}
FILES = {
    "base/pack.yaml": """\
promptc: 1
name: base
version: 1.0.0
tokenizer: chars/4
budget: 2000
sections:
  - {id: rules, template: rules.md, pinned: true}
""",
    "base/rules.md": "Be kind.\nBe brief.\n",
    "own/pack.yaml": """\
promptc: 1
extends: ../base
name: own
version: 1.0.0
state: {schema: state.schema.json}
tools: [say.json]
response: answer.json
variants:
  mood: {select: state.turn, default: calm, cases: {calm: {}, tense: {tools: [cry.json]}}}
output: {format: messages}
sections:
  talk:
    after: rules
    header: "So far."
    items: {from: state.lines, id: this.number, template: line.md.j2}
    overflow: [{evict: {}}]
  input:
    after: talk
    text: "{{ state.name }} at turn {{ state.turn }}"
    pinned: true
""",
    "own/say.json": '{"name": "say", "description": "Say it.", "input_schema": {"type": "object"}}',
    "own/cry.json": '{"name": "cry", "description": "Cry out.", "input_schema": {"type": "object"}}',
    "own/answer.json": '{"properties": {"b": {"type": "string"}, "a": {"type": "null"}}}',
    "own/line.md.j2": "{% include 'mark.md.j2' %}{{ item }} {# said #}\n",
    "own/mark.md.j2": "{% macro mark(n) %}<{{ n }}>{% endmacro %}{{ mark(state.turn) }} ",
    "own/state.schema.json": json.dumps(
        {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "minLength": 2},
                "turn": {"type": "integer", "default": 1},
                "lines": {"type": "array", "items": {"type": "string"}, "default": []},
            },
        }
    ),
}
_PARTS = 1_000_000
PLACES = [(name, place) for name, text in FILES.items() for place in range(len(text.encode()))]


class _Trial:
    """The pack in a folder of its own, and a cache beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pack = str(folder / "own")
        self.cache = Cache(str(folder / "cache"))
        for name, text in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(text.encode())

    def render(self, *, cached: bool) -> object:
        """What comes of a render of the pack as it is."""
        return self.show(lambda: Pack.load(self.pack, self.cache if cached else None))

    def show(self, load: Callable[[], Pack]) -> object:
        """What comes of a render: messages, what is offered beside them, and warnings; or the findings."""
        try:
            with load() as pack:
                prompt = pack.render(pack.load_state(json.dumps(STATE).encode()))
                offered = json.dumps([prompt.tools, prompt.response])  # with the order of their keys
                return prompt.messages, offered, prompt.tokens, prompt.warnings, prompt.report
        except PromptcError as wrong:
            return type(wrong), wrong.diagnostics

    def is_kept(self) -> bool:
        """Whether the next render will find the pack."""
        return find_kept(self.cache, self.pack) is not None


@pytest.fixture(scope="module")
def trial():
    folder = Path(tempfile.mkdtemp())
    yield _Trial(folder)
    shutil.rmtree(folder)


@given(st.sampled_from(PLACES), st.integers(1, 255))
def test_a_changed_byte_misses(trial, place, change):
    name, at = place
    path = trial.folder / name
    whole = FILES[name].encode()
    path.write_bytes(whole)
    before = trial.render(cached=True)
    assert trial.is_kept() and trial.render(cached=True) == before == trial.render(cached=False)
    path.write_bytes(whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :])
    try:
        assert not trial.is_kept()
        assert trial.render(cached=True) == trial.render(cached=True) == trial.render(cached=False)
    finally:
        path.write_bytes(whole)
    assert trial.render(cached=True) == before


@given(st.sampled_from(sorted(FILES)), st.sampled_from(["longer", "shorter", "empty", "gone", "folder", "link", "crlf", "bom"]))
def test_a_changed_file_misses(trial, name, change):
    path = trial.folder / name
    whole = FILES[name].encode()
    before = trial.render(cached=True)
    assert trial.is_kept()
    path.unlink()
    try:
        _change(path, whole, change)
        assert not trial.is_kept()
        assert trial.render(cached=True) == trial.render(cached=True) == trial.render(cached=False)
    finally:
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        path.write_bytes(whole)
    assert trial.render(cached=True) == before


@given(st.sampled_from(PLACES), st.integers(1, 255), st.sampled_from([(), (("sections.input.pinned", "false"),)]))
def test_a_pack_that_is_loaded_again_is_the_pack_of_its_files(trial, place, change, tries):
    name, at = place
    path = trial.folder / name
    whole = FILES[name].encode()
    path.write_bytes(whole)
    before = Pack.load(trial.pack, tries=tries)
    path.write_bytes(whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :])
    try:
        assert trial.show(before.reload) == trial.show(lambda: Pack.load(trial.pack, tries=tries))
    finally:
        path.write_bytes(whole)
    again = before.reload()
    assert trial.show(lambda: again) == trial.show(lambda: before) == trial.show(lambda: Pack.load(trial.pack, tries=tries))
    assert again.inputs == before.inputs


_MOVING = {
    "base": """\
promptc: 1
name: base
version: 1.0.0
tokenizer: chars/4
budget: 400
define:
  share(n): |
    n / state.guests
sections: [{id: talk, text: Hello.}]
""",
    "own": """\
promptc: 1
extends: ../base
name: own
version: 1.0.0
sections:
  talk:
    text: |
      {{ share(3) }}
""",
    "alone": """\
promptc: 1
name: alone
version: 1.0.0
tokenizer: chars/4
budget: 400
sections:
  - id: talk
    text: |
      {{ 3 / state.guests }}
""",
}


@pytest.mark.parametrize(("pack", "moved", "text"), [("alone", "alone", "{{ 3"), ("own", "own", "{{ share"), ("own", "base", "n / state")])
def test_a_text_that_moves_under_its_key_is_found_where_it_stands_now(tmp_path: Path, pack: str, moved: str, text: str) -> None:
    """It begins at the same place, it is the same text, and yet what fails in it stands two columns on."""
    for name, manifest in _MOVING.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pack.yaml").write_text(manifest, encoding="utf-8")
    before = Pack.load(tmp_path / pack)
    first = _fail(before)
    (tmp_path / moved / "pack.yaml").write_text(_MOVING[moved].replace(text, f"  {text}"), encoding="utf-8")
    assert _fail(before.reload()) == _fail(Pack.load(tmp_path / pack)) != first


def _fail(pack: Pack) -> tuple[Diagnostic, ...]:
    with pytest.raises(PromptcError) as wrong:
        pack.render({"guests": 0})
    return wrong.value.diagnostics


def _change(path: Path, whole: bytes, change: str) -> None:
    if change == "folder":
        path.mkdir()
    elif change == "link":
        (path.parent / "other").write_bytes(whole)
        path.symlink_to("other")
    elif change != "gone":
        made = {
            "longer": whole + b"\n",
            "shorter": whole[:-1],
            "empty": b"",
            "crlf": whole.replace(b"\n", b"\r\n"),
            "bom": b"\xef\xbb\xbf" + whole,
        }
        path.write_bytes(made[change] if made[change] != whole else whole + b" ")


def test_a_base_that_becomes_a_link_misses(trial):
    before = trial.render(cached=True)
    assert trial.is_kept()
    (trial.folder / "base").rename(trial.folder / "moved")
    (trial.folder / "base").symlink_to("moved")
    try:
        assert not trial.is_kept()
        assert trial.render(cached=True) == trial.render(cached=False) != before
    finally:
        (trial.folder / "base").unlink()
        (trial.folder / "moved").rename(trial.folder / "base")


@given(st.data())
def test_a_damaged_entry_is_written_anew(trial, data):
    before = trial.render(cached=True)
    path = data.draw(st.sampled_from(sorted((trial.folder / "cache").iterdir())))
    whole = path.read_bytes()
    at = data.draw(st.integers(0, _PARTS - 1)) * len(whole) // _PARTS  # an entry's length depends on what else was compiled
    path.write_bytes(whole[:at] if data.draw(st.booleans()) else whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    assert not trial.is_kept()
    assert trial.render(cached=True) == before
    assert trial.is_kept()
