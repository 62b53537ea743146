"""The view of a render: all of it stands where it stands in the prompt, and what was cut where it stood."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from promptc.api import Pack
from promptc.diag.findings import DiskError, UsageError
from promptc.workshop.page import Bench, describe_controls
from promptc.workshop.view import Known, describe_view
from tests.contract.sources import ROOT

PACKS = ("sentinel", "helpdesk", "worldarchitect", "companion")


def see(bench, asked=None, known=None):
    """The view of what is asked, with the values that it names by numbers."""
    known = known if known is not None else Known()
    return {**bench.describe(asked or {}, known), "known": known.tell()}


def draw(view, now=None):
    """The texts of the messages behind the notch `now` (None: the last), as a page puts them together."""
    now = len(view["notches"]) if now is None else now
    return ["".join(_draw_piece(piece, now) for piece in list_pieces(view, one)) for one in view["messages"] if one["index"] is not None]


def list_pieces(view, message):
    """Each piece with the notch that took it, the one that made it, and its edits."""
    refs = [ref if isinstance(ref, list) else [ref] for ref in message["pieces"]]
    return [(view["known"]["values"][number], *fate, *[None, None, []][len(fate) :]) for number, *fate in refs]


def _draw_piece(piece, now):
    told, gone, made, edits = piece
    if told["kind"] != "item":
        return told["text"]
    if (made or 0) > now or (gone if gone is not None else now + 1) <= now:
        return ""
    done = [one for one in edits if one[0] <= now]
    text = told["whole"] if "whole" in told and not done else told["text"]
    if done and len(done[-1]) > 1:
        _, start, stop, middle = done[-1]
        units = text.encode("utf-16-le")
        text = units[: 2 * start].decode("utf-16-le") + middle + units[2 * stop :].decode("utf-16-le")
    body = f"{told['open']}\n{text}\n{told['close']}" if "open" in told else text
    return body + told.get("end", "\n")


@pytest.mark.parametrize("name", PACKS)
def test_what_stands_in_the_view_is_the_prompt(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    bench = Bench(f"packs/{name}", ())
    compared = 0
    for one in bench.list_shown()[::8]:
        view = see(bench, {"shown": one.id})
        assert json.loads(json.dumps(view)) == view
        if view.get("failed") or view["tokens"] is None:
            continue
        outcome = bench.render({"shown": one.id})
        contents = {}
        for part in outcome.emitted.parts:
            contents[part.message] = contents.get(part.message, "") + part.text
        assert draw(view) == [contents[index] for index in sorted(contents)], one.label
        assert sum(row["held"] for row in view["sections"]) + sum(tokens for _, tokens in view["rest"]) == view["tokens"]
        compared += 1
    assert compared > 2


# An extra that is missing, and a file of which only a copy of the case has the right size.
@pytest.mark.parametrize("given", ["{missing: [hf]}", "{large: {x.txt: 10}}", "{environment: {CI: '1'}}"])
def test_a_value_is_tried_on_a_case_with_circumstances_of_its_own(make_bench, tmp_path, given):
    make_bench(notes=[f"Note {at} about the rain." for at in range(30)])
    (tmp_path / "case").mkdir()
    (tmp_path / "case/case.yaml").write_text(f"title: t\nstate: ../state.json\ngiven: {given}\nexpect: {{warnings: [PC0540]}}\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    bench = Bench(str(tmp_path / "pack.yaml"), (str(tmp_path / "case"),))
    caps = [see(bench, {"tries": tries})["sections"][0]["cap"] for tries in ([], [["sections.notes.budget", "75"]])]
    assert caps == [200, 75]
    other = tmp_path / "other"
    shutil.copytree(tmp_path, other, ignore=shutil.ignore_patterns(".git", "case", "other"))
    (other / "pack.yaml").write_text((other / "pack.yaml").read_text().replace("budget: 200", "budget: 90"))
    beside = Bench(str(tmp_path / "pack.yaml"), (str(tmp_path / "case"),), against={"other": str(other)})
    assert see(beside, {"pack": "other"})["sections"][0]["cap"] == 90


def test_a_message_that_was_cut_stands_on_its_own(monkeypatch):
    monkeypatch.chdir(ROOT)
    bench = Bench("packs/companion", ("fixtures/companion/base/long_talk.json",))
    view = see(bench, {"tries": [["sections.recent.budget", "100"]]})
    gone = [one for one in view["messages"] if one["index"] is None]
    cut = [piece[0] for one in gone for piece in list_pieces(view, one) if piece[1] is not None]
    assert cut and {one["role"] for one in gone} == {"user", "assistant"}
    assert all(told["role"] == one["role"] for one in gone for told, *_ in list_pieces(view, one))
    standing = [one["index"] for one in view["messages"] if one["index"] is not None]
    assert standing == sorted(set(standing)) and len(standing) > 1


def test_the_first_notch_shows_what_was_there_before_any_cut(make_bench):
    bench = make_bench(budget=60, notes=[f"Note {at} tells of the harbour." for at in range(12)])
    view = see(bench)
    gone = [piece for one in view["messages"] for piece in list_pieces(view, one) if piece[1] is not None]
    assert gone and view["notches"]
    assert "".join(draw(view, 0)).count("tells of the harbour") == 12
    for at in range(len(view["notches"])):
        assert len("".join(draw(view, at + 1))) < len("".join(draw(view, at)))
    _, step, items, why, before, after, needs = view["notches"][gone[0][1] - 1]
    values = view["known"]["values"]
    assert gone[0][0]["item"] in values[items] and values[step][:2] == ["notes", "evict"] and values[step][2] and values[why]
    assert before > after and needs > 0


def test_a_cut_in_a_text_stands_where_it_was_made_in_units_of_scripts(make_bench):
    bench = make_bench(budget=70, overflow="[{trim: {marker: '[…]'}}]", notes=["𝄞 The lamp burns. " * 30])
    view = see(bench)
    ((told, _, _, edits),) = [piece for one in view["messages"] for piece in list_pieces(view, one) if piece[3]]
    assert told["text"].startswith("𝄞") and edits[-1][3].strip() == "[…]"
    assert "".join(draw(view)) == "".join(part.text for part in bench.render({}).emitted.parts)


def test_what_does_not_fit_is_shown_with_what_is_missing(make_bench):
    bench = make_bench(budget=5, pinned=True, notes=["A note that is much too long for so few tokens, and pinned."])
    view = see(bench)
    assert view["tokens"] is None and view["lack"] == "does not fit: `notes` is 10 tokens over its cap"
    assert [one["level"] for one in view["findings"]].count("error") == 1


def test_a_state_that_is_wrong_is_a_view_of_its_findings(make_bench):
    bench = make_bench(notes=["x"])
    bench_state(bench).write_text('{"notes": 3')
    view = see(bench)
    assert view["failed"] and view["findings"][0]["level"] == "error"


def test_a_turn_behind_the_end_of_a_session_is_not_shown_as_the_turn_that_ended_it(make_bench, tmp_path):
    make_bench(pinned=True, budget=40)
    (tmp_path / "talk").mkdir()
    states = [
        '{base: ../state.json, set: {/notes: ["A note."]}}',
        '{set: {/notes/0: "%s"}}' % ("A long note. " * 30),
        "{set: {/notes: []}}",
    ]
    (tmp_path / "talk/case.yaml").write_text(f"title: a session\nstates: [{', '.join(states)}]\n", encoding="utf-8")
    bench = Bench(str(tmp_path), (str(tmp_path / "talk"),))
    first, second, third = (see(bench, {"shown": one.id}) for one in bench.list_shown())
    assert first["tokens"] and second["tokens"] is None and second["lack"]
    assert third["failed"] and third["findings"][0]["message"].endswith("#3` is not rendered: turn 2 does not fit")
    assert [one["id"] for one in bench.measure_session({"shown": bench.list_shown()[2].id})["turns"]] == [bench.list_shown()[0].id]


def test_what_is_tried_changes_the_view_and_not_the_file(make_bench):
    bench = make_bench(budget=60, notes=[f"Note {at} tells of the harbour." for at in range(12)])
    before = see(bench)
    path = next(one["path"] for one in before["controls"]["sliders"] if one["section"] == "notes")
    after = see(bench, {"tries": [[path, "400"]]})
    assert before["notches"] and not after["notches"]
    assert after["controls"] == before["controls"]
    assert "60" in bench_manifest(bench).read_text()


def test_findings_belong_to_the_section_they_stand_in(make_bench):
    bench = make_bench(budget=60, notes=["x"], more="    when: state.notes == 'never'\n")
    bench.check({})
    found = see(bench)["findings"]
    assert found and {one["section"] for one in found} == {"notes"}


def test_controls_name_every_number_that_an_author_tunes():
    controls = describe_controls(Pack.load(ROOT / "packs" / "companion"))
    paths = {one["path"]: one for one in controls["sliders"]}
    assert paths["budget.context"]["value"] == 8192 and paths["budget.context"]["keys"] == ["budget", "context"]
    assert paths["sections.user_seed.budget.chars"]["keys"] == ["sections", "user_seed", "budget", "chars"]
    assert [one["name"] for one in controls["axes"]]
    pools = {one["path"]: one for one in describe_controls(Pack.load(ROOT / "fixtures" / "desk" / "base"))["sliders"]}
    assert (pools["pools.shelf.max"]["keys"], pools["pools.shelf.max"]["value"]) == (["pools", "shelf", "max"], 60)
    assert pools["pools.shelf.max"]["pool"] == "shelf"
    tools = {one["path"]: one for one in describe_controls(Pack.load(ROOT / "fixtures" / "mcp" / "base"))["sliders"]}
    assert (tools["tools.budget"]["section"], tools["tools.budget"]["keys"]) == ("tools", ["tools", "budget"])


def test_a_line_tells_its_template_and_its_state_key(make_bench):
    bench = make_bench(notes=["One.", "Two."])
    (line,) = bench.trace({}, 0, 1)["lines"]
    keys = [key["pointer"] for owner in line["owners"] for bit in owner["bits"] for key in bit["keys"]]
    assert "/notes/0" in keys
    assert bench.trace({}, 0, 99) == bench.trace({}, 7, 1) == {"lines": []}


def test_two_renders_are_compared_by_section(make_bench):
    bench = make_bench(budget=60, notes=[f"Note {at} tells of the harbour." for at in range(12)])
    path = "sections.notes.budget"
    assert bench.compare({}, {})["empty"]
    (section,) = bench.compare({}, {"tries": [[path, "400"]]})["sections"]
    assert section["id"] == "notes" and any(one["change"] == "gained" for one in section["items"])


def test_a_view_of_a_render_alone_has_no_controls(make_bench):
    outcome = make_bench(notes=["x"]).render({})
    assert "controls" not in describe_view(outcome, Known())


def test_what_views_have_in_common_is_known_once(make_bench):
    bench, known = make_bench(budget=60, notes=[f"Note {at} tells of the harbour." for at in range(12)]), Known()
    first = see(bench, known=known)
    has = [first["known"]["turn"], len(first["known"]["values"])]
    later = bench.describe({"tries": [["sections.notes.budget", "75"]]}, known)
    told = known.tell(has)
    assert told["from"] == has[1] and not [one for one in told["values"] if "harbour" in str(one)]
    whole = see(bench, {"tries": [["sections.notes.budget", "75"]]})
    assert draw({**later, "known": known.tell()}) == draw(whole) != draw(first)
    assert later["notches"] and [one[4:] for one in later["notches"]] == [one[4:] for one in whole["notches"]]
    for unknown in ([7, 3], [has[0], 10_000], [has[0], -1], None):
        assert known.tell(unknown)["from"] == 0


def test_what_is_too_much_to_know_is_told_anew(make_bench, monkeypatch):
    bench, known = make_bench(budget=60, notes=[f"Note {at} tells of the harbour." for at in range(12)]), Known()
    first = see(bench, known=known)
    known.renew()
    assert known.tell() == first["known"]
    monkeypatch.setattr("promptc.workshop.view._MOST_KNOWN", 500)
    known.renew()
    again = see(bench, known=known)
    assert again["known"]["turn"] == first["known"]["turn"] + 1 and known.tell([0, 3])["from"] == 0
    assert draw(again) == draw(first)


def test_what_is_written_was_shown_before_and_is_nothing_else(make_bench):
    bench = make_bench(budget=60, notes=["x"])
    manifest, asked = bench_manifest(bench), {"tries": [["sections.notes.budget", "75"]]}
    before = manifest.read_text()
    shown = bench.preview(asked)
    told = [(one["kind"], one["text"].strip()) for one in shown["lines"] if one["kind"] in ("gone", "come")]
    assert shown["count"] == 1 and told == [("gone", "budget: 60"), ("come", "budget: 75")]
    assert manifest.read_text() == before
    bench.write(asked, shown["digest"])
    assert manifest.read_text() == before.replace("budget: 60", "budget: 75")


def test_a_file_that_changed_since_it_was_shown_is_not_written(make_bench):
    bench = make_bench(budget=60, notes=["x"])
    manifest, asked = bench_manifest(bench), {"tries": [["sections.notes.budget", "75"]]}
    shown = bench.preview(asked)
    changed = f"{manifest.read_text()}# saved by an editor\n"
    manifest.write_text(changed)
    with pytest.raises(DiskError, match="PC0725"):
        bench.write(asked, shown["digest"])
    with pytest.raises(DiskError, match="PC0725"):
        bench.write({"tries": [["sections.notes.budget", "76"]]}, bench.preview(asked)["digest"])
    assert manifest.read_text() == changed


def test_what_stands_elsewhere_is_not_written(make_bench):
    bench = make_bench(budget="&cap 60", notes=["x"])
    with pytest.raises(UsageError, match="PC0668"):
        bench.preview({"tries": [["sections.notes.budget", "75"]]})


def test_what_a_pack_opened_is_closed_when_it_is_let_go(make_bench, monkeypatch):
    bench, closed = make_bench(notes=["x"]), []
    monkeypatch.setattr(Pack, "__exit__", lambda pack, *_: closed.append(pack))
    for value in range(100, 115):
        see(bench, {"tries": [["sections.notes.budget", str(value)]]})
    assert len(closed) == 4 and len({*map(id, closed)}) == 4
    bench.forget()
    assert len(closed) == 16


def bench_state(bench):
    return Path(bench.list_shown()[0].path)


def bench_manifest(bench):
    return bench_state(bench).with_name("pack.yaml")


KEPT = """\
promptc: 1
name: kept
version: 1.0.0
budget: 400
tokenizer: o200k_base
state: {schema: state.schema.json}
define: {shown: "item.day > 1"}
visible: "item.text != 'The mast.'"
sections:
  - id: notes
    title: Notes
    budget: 200
    items:
      from: state.notes
      where: shown
      text: "{{ section.title }} {{ item.day }}: {{ item.text }}"
      trim_each: {to: 8}
    overflow: [{evict: {}}]
"""
KEPT_TRIES = (
    ("sections.notes.budget", "20"),
    ("sections.notes.budget", "30"),
    ("sections.notes.items.trim_each.to", "4"),
    ("sections.notes.budget", "33"),
    ("sections.notes.title", "Log"),
    ("define.shown", "item.day > 2"),
    ("visible", "item.day < 4"),
    ("sections.notes.items.text", '"{{ item.text }}"'),
    ("tokenizer", "cl100k_base"),
    ("state.schema", "other.schema.json"),
    ("sections.notes.budget", "25"),
)


def test_a_view_of_a_state_shown_before_is_that_of_a_fresh_page(tmp_path):
    """What a page keeps of a state is not believed where any value that is tried has a say in it."""
    note = {"type": "object", "properties": {"day": {"type": "integer"}, "text": {"type": "string", "default": "The sail."}}}
    for name, text in (("state", "The sail."), ("other", "The mast.")):
        note["properties"]["text"]["default"] = text
        schema = {"type": "object", "properties": {"notes": {"type": "array", "items": note}}}
        (tmp_path / f"{name}.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"notes": [{"day": day} if day % 2 else {"day": day, "text": f"Rope {day}."} for day in range(9)]}))
    (tmp_path / "pack.yaml").write_text(KEPT, encoding="utf-8")
    kept, seen = Bench(str(tmp_path), [str(state)]), []
    for path, value in KEPT_TRIES:
        asked = {"tries": [[path, value]]}
        view = see(kept, asked)
        assert view == see(Bench(str(tmp_path), [str(state)]), asked), (path, value)
        seen.append("".join(draw(view)))
    assert len(set(seen)) > len(seen) - 3
