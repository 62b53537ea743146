"""`promptc explain`: every view is a golden at 80 columns, and says the same as the report."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import pytest

from tests.contract.sources import ROOT

STATE = "keep/state.json"
VIEWS = {
    "meter": [],
    "meter_cut": ["--budget", "150", "--quiet"],
    "meter_messages": ["--format", "messages", "--patch", "brief", "--mood", "stern"],
    "meter_estimate": ["--budget", "95", "--quiet"],
    "meter_unfit": ["--budget", "20", "--quiet"],
    "why_whole": ["--why", "recent/t6"],
    "why_shortened": ["--why", "recent/t7"],
    "why_cut": ["--why", "lore/hall", "--budget", "150"],
    "why_window": ["--why", "recent/t1"],
    "why_where": ["--why", "lore/secret"],
    "why_double": ["--why", "lore/keys-again"],
    "why_limit_per": ["--why", "lore/tower"],
    "why_limit": ["--why", "lore/dog"],
    "why_guarded": ["--why", "recent/t9"],
    "why_text": ["--why", "input/text"],
    "why_section": ["--why", "recent", "--budget", "150"],
    "why_off": ["--why", "quiet", "--set", "/turn=4"],
    "stages": ["--stages", "recent", "--budget", "150"],
    "stages_sorted": ["--stages", "lore", "--budget", "150"],
    "source_text": ["--source", "2"],
    "source_item": ["--source", "6-7"],
    "source_cut": ["--source", "15"],
    "source_guarded": ["--source", "18-19"],
    "source_layout": ["--source", "3-5"],
    "source_message": ["--source", "1:1", "--format", "messages"],
    "sweep": ["--sweep", "--budget", "160"],
    "sweep_range": ["--sweep", "60:240:20"],
    "without": ["--without", "lore"],
}
UNFIT = {"meter_unfit"}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_the_golden(view, keep, run, golden):
    done = run("explain", "keep", STATE, *VIEWS[view])
    assert done.code == (3 if view in UNFIT else 0)
    assert max(map(len, done.out.splitlines())) <= 80
    assert all(line == line.rstrip() for line in done.out.splitlines() if not line.startswith("▕"))
    golden(f"explain_{view}.txt", done.out)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", ["40", "60", "120"])
def test_a_view_keeps_to_its_width(view, width, keep, run):
    """Names, numbers and places are never broken, so that a narrow one may run over."""
    done = run("explain", "keep", STATE, *VIEWS[view], "--width", width)
    assert max(map(len, done.out.splitlines())) <= max(int(width), 72)


@pytest.mark.parametrize("view", [name for name in VIEWS if not name.startswith("meter")])
def test_every_view_is_there_as_json(view, keep, run):
    assert json.loads(run("explain", "keep", STATE, *VIEWS[view], "--json").out)


def test_the_meter_adds_up(keep, run):
    report = json.loads(run("explain", "keep", STATE, "--json").out)
    meter = run("explain", "keep", STATE).out
    head, *lines = meter.split("\n\n")[1].splitlines()
    items, tokens = (slice(head.index(name) - 2, head.index(name) + len(name)) for name in ("items", "tokens"))
    held = {line.split()[0]: line[tokens].strip() for line in lines}
    shown = {line.split()[0]: line[items].strip() for line in lines}
    lists = ("lore", "recent")
    assert {section["id"]: str(section["charge"]) for section in report["sections"]} == {
        name: count for name, count in held.items() if name not in ("total", "shared")
    }
    assert held["total"] == str(report["tokens"])
    assert {section["id"]: str(len(section["items"])) if section["id"] in lists else "" for section in report["sections"]} == {
        name: count for name, count in shown.items() if name not in ("total", "shared")
    }


# contract 12.3
def test_a_render_that_does_not_fit_is_explained(keep, run):
    done = run("explain", "keep", STATE, "--budget", "20", "--json")
    assert done.code == 3 and json.loads(done.out)["error"]["missing"] > 0
    assert "PC0532" in done.err
    assert "in what was tried" in run("explain", "keep", STATE, "--budget", "20", "--why", "rules/text").out


def test_what_does_not_fit_has_no_lines_to_tell_of(keep, run):
    done = run("explain", "keep", STATE, "--budget", "20", "--source", "1")
    assert (done.code, done.out) == (3, "") and "PC0532" in done.err


def test_a_prompt_without_a_line_says_so(run, tmp_path):
    pack, state = tmp_path / "pack.yaml", tmp_path / "state.json"
    pack.write_text(
        "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 9\nsections: [{id: one, text: ' '}]\n", encoding="utf-8"
    )
    state.write_text("{}", encoding="utf-8")
    done = run("explain", str(pack), str(state), "--source", "1")
    assert (done.code, done.out) == (2, "") and "there are 0 lines" in done.err


def test_a_percentage_that_others_leave_too_little_of_says_so(run, tmp_path):
    pack, state = tmp_path / "pack.yaml", tmp_path / "state.json"
    lines = 'items: {from: "range(40)", text: "{{ item }}"}, overflow: [evict: {}]'
    pack.write_text(
        "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 40\n"
        f'sections: [{{id: talk, budget: 30, {lines}}}, {{id: docs, budget: "50%", {lines}}}]\n',
        encoding="utf-8",
    )
    state.write_text("{}", encoding="utf-8")
    goal = "for its cap of 12 tokens, what others leave of its share of 20"
    for more in ((), ("--why", "docs")):
        assert goal in run("explain", str(pack), str(state), "--width", "200", *more).out
        assert "what others leave" not in run("explain", str(pack), str(state), "--budget", "60", *more).out


def test_a_line_is_told_as_it_is_shown_with_what_the_state_has(keep, run):
    """As JSON: whole values, and the pieces are the line."""
    lines = json.loads(run("explain", "keep", STATE, "--source", "1-31", "--json").out)
    shown = run("render", "keep", STATE).out.splitlines()
    assert [line["text"] for line in lines] == shown
    state = json.loads((keep / "state.json").read_text(encoding="utf-8"))
    for line in lines:
        bits = [bit for owner in line["owners"] for bit in owner["bits"]]
        assert "".join(bit["text"] for bit in bits).removesuffix("\n") == line["text"]
        for key in (key for bit in bits for key in bit["keys"]):
            value = state
            for step in key["pointer"].split("/")[1:]:
                value = value[int(step)] if isinstance(value, list) else value[step]
            assert json.loads(key["value"]) == value


def test_without_shows_what_would_make_it_fit(keep, run):
    done = run("explain", "keep", STATE, "--budget", "80", "--without", "quiet", "--without", "lore")
    assert done.code == 3 or "no fit" in done.out


def test_a_sweep_finds_the_least_budget_that_fits(keep, run):
    sweep = json.loads(run("explain", "keep", STATE, "--sweep", "--json").out)
    least, top = sweep["points"][0]["budget"], sweep["points"][-1]["budget"]
    assert run("render", "keep", STATE, "--budget", str(least)).code == 0
    assert run("render", "keep", STATE, "--budget", str(least - 1)).code == 3
    assert run("render", "keep", STATE, "--budget", str(top)).out == run("render", "keep", STATE).out
    assert run("render", "keep", STATE, "--budget", str(top - 1)).out != run("render", "keep", STATE).out
    for one in sweep["reaches"]:
        before = run("render", "keep", STATE, "--budget", str(one["appears"] - 1), "--only", one["section"])
        assert before.out == ""
        assert run("render", "keep", STATE, "--budget", str(one["appears"]), "--only", one["section"]).out


def test_a_sweep_where_no_budget_helps_says_why(run, tmp_path):
    """A cap of its own does not grow with the whole."""
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
    pack, state = tmp_path / "pack.yaml", tmp_path / "state.json"
    pack.write_text(head + "sections: [{id: rules, text: 'Never say never.', pinned: true, budget: 2}]\n", encoding="utf-8")
    state.write_text("{}", encoding="utf-8")
    done = run("explain", str(pack), str(state), "--sweep")
    assert (done.code, done.out) == (3, "")
    assert "PC0530 section `rules` is pinned and needs" in done.err
    shown = run("explain", str(pack), str(state), "--sweep", "50:100:50")
    assert shown.code == 3 and shown.out.count("no fit") == 2


DESK = ("explain", "fixtures/desk/base", "fixtures/desk/base/state.json", "--quiet")


def _hold(run, value):
    """What the section holds by the report of a render, which knows nothing of sweeps."""
    report = json.loads(run(*DESK, "--json", "--try", f"sections.clips.budget={value}").out)
    section = next(one for one in report["sections"] if one["id"] == "clips")
    return report["tokens"], section["items"]


def test_a_knee_is_the_least_value_with_all_that_more_would_give(run):
    sweep = json.loads(run(*DESK, "--sweep", "sections.clips.budget", "--json").out)
    knee, most = sweep["knee"], _hold(run, 175)
    assert _hold(run, knee) == most != _hold(run, knee - 1)
    assert all((_hold(run, one["value"]) == most) == (one["value"] >= knee) for one in sweep["points"])
    assert sweep["own"]["value"] == 60 and 60 in [one["value"] for one in sweep["points"]]
    assert [one["total"] for one in sweep["points"]] == [_hold(run, one["value"])[0] for one in sweep["points"]]


def test_where_a_larger_value_holds_less_there_is_no_knee(run, tmp_path):
    """More items raise the tier, which shows fewer."""
    text = "promptc: 1\nname: low\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 90\n"
    text += "sections: [{id: log, budget: 40, items: {from: state.log, text: 'word {{ item }}', window: {last: 9}}}]\n"
    text += "strain: {tiers: [{name: low, at: 0}, {name: high, at: 0.5, sections: {log: {items: {window: {last: 2}}}}}]}\n"
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "state.json").write_text(json.dumps({"log": list(range(60))}), encoding="utf-8")
    done = run("explain", str(tmp_path), str(tmp_path / "state.json"), "--sweep", "sections.log.items.window.last=1..40")
    assert "knee: none, a larger value may hold less; most is 19 tokens, at 9" in done.out
    assert "high" in done.out and "low" in done.out


def test_a_sweep_of_a_key_as_a_picture_and_as_csv(run):
    asked = (*DESK, "--sweep", "sections.clips.budget=10..100")
    texts = [one.text for one in ET.fromstring(run(*asked, "--svg").out).iter("{http://www.w3.org/2000/svg}text")]
    assert any("knee: 75" in one for one in texts) and any(one.endswith("· knee") for one in texts)
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--csv").out)))
    points = json.loads(run(*asked, "--json").out)["points"]
    assert [{name: str(one[name] if one[name] is not None else "") for name in rows[0]} for one in points] == rows
    budgets = list(csv.DictReader(io.StringIO(run(*DESK, "--sweep", "100:200:50", "--csv").out)))
    assert [(one["budget"], one["total"], one["input"]) for one in budgets] == [("100", "", "0"), ("150", "119", "4"), ("200", "153", "4")]


def test_a_sweep_of_a_key_reads_a_state_from_a_pipe_once(run):
    state = (ROOT / "fixtures/desk/base/state.json").read_bytes()
    piped = run("explain", "fixtures/desk/base", "-", "--quiet", "--sweep", "sections.clips.budget", stdin=state)
    assert piped.code == 0 and piped.out == run(*DESK, "--sweep", "sections.clips.budget").out


def test_a_sweep_from_one_budget_to_another(run):
    told = json.loads(run(*DESK, "--sweep", "100..200", "--json").out)
    budgets = [one["budget"] for one in told["points"]]
    assert (budgets[0], budgets[-1]) == (100, 200) and told["own"] in budgets and 3 < len(budgets) < 20
    alike = json.loads(run(*DESK, "--sweep", "100:200:100", "--json").out)["points"]
    assert [told["points"][0], told["points"][-1]] == alike


def test_a_key_of_the_manifest_is_no_pack(run):
    done = run(*DESK, "--sweep", "version")
    assert done.code == 3 and "PC0203" in done.err and "extra argument" not in done.err


def test_a_sweep_of_which_nothing_fits(run):
    done = run(*DESK, "--sweep", "sections.clips.budget=0..2")
    assert done.code == 3 and "knee: none, it does not fit at 2" in done.out


def test_one_of_anything_is_not_counted_as_several(run, tmp_path):
    """Three tokens where two may be; then one of a total of one."""
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\n"
    pack, state = tmp_path / "pack.yaml", tmp_path / "state.json"
    state.write_text("{}", encoding="utf-8")
    for budget, says in ((2, "does not fit 2 tokens: 1 token is missing\n"), (1, "does not fit 1 token: 2 tokens are missing\n")):
        pack.write_text(f"{head}budget: {budget}\nsections: [{{id: rules, text: Never lie, pinned: true}}]\n", encoding="utf-8")
        done = run("explain", str(pack), str(state))
        assert done.code == 3 and says in done.out
    assert "PC0532 the prompt does not fit the budget of 1 token: " in done.err
    pack.write_text(f"{head}budget: 9\nsections: [{{id: rules, text: Never lie}}]\n", encoding="utf-8")
    assert "there is 1 line\n" in run("explain", str(pack), str(state), "--source", "4").err
    assert "there is 1 message\n" in run("explain", str(pack), str(state), "--source", "4:1", "--format", "messages").err


_SHORT = "promptc: 1\nname: short\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 3\nsections:\n"
_TALK = """{id: talk, items: {from: "['A gate.', 'A wolf.']", text: "{{ item }}"}"""


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("}\ntruncate: [fail: {section: talk}]", " 3 tokens: 1 token is missing"),
        (", budget: 3, overflow: [fail: {}]}", ": `talk` is 2 tokens over its cap"),
        (", budget: {chars: 8}, overflow: [fail: {}]}", ": `talk` is 7 characters over its cap"),
        (", budget: 1, required: true}", ": `talk` is required, and no content of it is left"),
        (", budget: 9}\nstrain: {tiers: [{name: a, at: 0, do: [fail: {section: talk}]}]}", ": the strain tier fails for `talk`"),
    ],
)
def test_the_meter_says_what_a_prompt_that_does_not_fit_lacks(run, tmp_path, more, says):
    (tmp_path / "pack.yaml").write_text(f"{_SHORT}  - {_TALK}{more}\n", encoding="utf-8")
    (tmp_path / "state.json").write_text("{}", encoding="utf-8")
    done = run("explain", str(tmp_path), str(tmp_path / "state.json"))
    assert done.code == 3 and f"\ndoes not fit{says}\n" in done.out, done.out + done.err


# contract 12.5
@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--why", "recnt/t1"], "did you mean `recent`?"),
        (["--why", "recent/t11x"], "did you mean `t11`?"),
        (["--stages", "nothing"], "PC0704"),
        (["--without", "nothing"], "PC0704"),
        (["--sweep", "9:1:1"], "PC0721"),
        (["--sweep", "1:2"], "PC0721"),
        (["--sweep", "9..1"], "is not of the form MIN:MAX:STEP or MIN..MAX"),
        (["--sweep", "9.."], "is not of the form MIN:MAX:STEP or MIN..MAX"),
        (["--sweep", "sections.lore.budget", "--try", "sections.lore.budget=9"], "set the same value"),
        (["--sweep", "sections.loer.budget"], "did you mean `lore`?"),
        (["--sweep", "sections.lore.budget=9..9"], "has no range of the form MIN..MAX"),
        (["--sweep", "sections.lore.budget=x"], "has no range of the form MIN..MAX"),
        (["--sweep", "sections.lore.budget=0:999:1"], "holds more than 200 values"),
        (["--sweep", "sections.lore.budget", "--csv", "--svg"], "one at a time"),
        (["--sweep", "sections.lore.budget", "--csv", "--json"], "one at a time"),
        (["--csv"], "`--csv` prints a sweep"),
        (["--source", "0"], "such as `--source 12`"),
        (["--source", "9-2"], "PC0721"),
        (["--source", "99"], "there are 31 lines"),
        (["--source", "1:1"], "names a message of a text"),
        (["--source", "1", "--format", "messages"], "names no message"),
        (["--source", "9:1", "--format", "messages"], "there are"),
        (["--source", "1-2000"], "more than 1000 lines"),
        (["--sweep", "1:999999:1"], "more than 1000"),
        (["--why", "recent", "--stages", "recent"], "one at a time"),
        (["--width", "x"], "whole number"),
    ],
)
def test_what_cannot_be_shown_is_a_usage_error(flags, says, keep, run):
    done = run("explain", "keep", STATE, *flags)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_sweep_may_stand_anywhere(keep, run):
    assert run("explain", "--sweep", "keep", STATE) == run("explain", "keep", STATE, "--sweep") == run("explain", "keep", "--sweep", STATE)


def test_ids_that_repeat_have_a_story_each(keep, run):
    done = run("explain", "keep", STATE, "--set", '/turns/11/id="t7"', "--why", "recent/t7")
    assert done.out.count("recent/t7: ") == 1
    assert "recent/t7#2: in the prompt" in run("explain", "keep", STATE, "--set", '/turns/11/id="t7"', "--why", "recent/t7#2").out
    twice = run("explain", "keep", STATE, "--set", '/turns/0/id="t2"', "--why", "recent/t2").out
    assert twice.count("recent/t2: not in the prompt") == 2


def test_control_characters_of_the_state_are_shown_escaped(keep, run):
    done = run("explain", "keep", STATE, "--set", '/turns/12/id="\\u001b[31m"', "--why", "recent/\x1b[31m")
    assert "\x1b" not in done.out and "\\x1b[31m" in done.out


# contract 12.5
def test_colours_are_for_terminals_or_on_demand(keep, run, monkeypatch):
    assert "\x1b[" not in run("explain", "keep", STATE).out
    coloured = run("explain", "keep", STATE, "--color", "always").out
    assert "\x1b[32m" in coloured
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run("explain", "keep", STATE).out == coloured
    assert "\x1b[" not in run("explain", "keep", STATE, "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("explain", "keep", STATE).out


def test_what_was_guarded_in_a_header_is_told_of_the_header(run, tmp_path):
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\noutput: {fence: {open: '<a>', close: '</a>'}}\n"
    pack, state = tmp_path / "pack.yaml", tmp_path / "state.json"
    pack.write_text(head + "sections: [{id: rules, header: '</a>', text: one}]\n", encoding="utf-8")
    state.write_text("{}", encoding="utf-8")
    assert "rules, header, line 1: fence </a> was escaped" in run("explain", str(pack), str(state)).out


def test_parts_of_messages_that_are_left_out_are_told(run):
    """Of an item that stays, of one that goes whole, of the section and in its stages."""
    folder = ROOT / "fixtures" / "bad" / "PC0581"

    def ask(*view: str) -> str:
        done = run("explain", str(folder), str(folder / "state.json"), *view)
        assert done.code == 0
        return str(done.out)

    assert "left out    by parts: `image`\n" in ask("--why", "log/6")
    assert "`parts` lets none of its parts pass: `image`, `document`" in ask("--why", "log/7")
    assert "1 item; 4 parts of messages left out by parts; 2 left out by empty" in ask("--why", "log")
    assert "2 by empty, 4 parts of messages by parts" in ask("--format", "messages")
    stages = " ".join(ask("--stages", "log").split())
    assert "`image` of item `6`; `image`, `document` of item `7`; `tool_use` of item `8`" in stages and "`7` · `8`" in stages


# contract 3.26
def test_definitions_are_told_under_their_names(tmp_path, run, monkeypatch):
    """Of a `where`, with what they stand for; of a line of output, as the template names them."""
    monkeypatch.chdir(tmp_path)
    head = {"promptc": 1, "name": "named", "version": "1.0.0", "tokenizer": "chars/4", "budget": 100}
    manifest = head | {
        "define": {"hinge": "'hinge' in item.tags", "about(who)": "hinge and item.of == who", "shout(text)": "text | upper"},
        "sections": [
            {"id": "rows", "items": {"from": "state.rows", "id": "item.id", "where": "about('ada')", "text": "{{ shout(item.id) }}!"}}
        ],
    }
    (tmp_path / "pack.yaml").write_text(json.dumps(manifest), encoding="utf-8")
    rows = [{"id": "a", "tags": ["hinge"], "of": "ada"}, {"id": "b", "tags": [], "of": "ada"}]
    (tmp_path / "state.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
    why = " ".join(run("explain", "pack.yaml", "state.json", "--why", "rows/b").out.split())
    meant = "`about(who)` is hinge and item.of == who; `hinge` is 'hinge' in item.tags"
    assert f"`where` is false for it: about('ada') ({meant})" in why
    source = run("explain", "pack.yaml", "state.json", "--source", "1").out
    assert "{{ shout(item.id) }}" in source and '/rows/0/id = "a"' in source


# --- the picture ---


def _draw(run, *arguments):
    done = run("explain", *arguments, "--svg", "--quiet")
    return done, ET.fromstring(done.out)


def _list_texts(picture):
    return [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_says_what_the_meter_says(keep, run):
    """Every word of the head, the table and the cuts; a bar is drawn."""
    done, picture = _draw(run, "keep", STATE, "--budget", "150")
    meter = run("explain", "keep", STATE, "--budget", "150", "--quiet").out
    shown = set(" ".join(_list_texts(picture)).split())
    table = re.sub("[▏▎▍▌▋▊▉█░▕]", " ", meter.partition(": not selected")[0].rpartition("\n")[0])
    assert done.code == 0 and not set(table.split()) - shown
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}rect"))) > len(table.splitlines()) // 3


def test_the_picture_stays_in_its_frame(keep, run):
    _, picture = _draw(run, "keep", STATE, "--budget", "150")
    width, height = int(picture.get("width")), int(picture.get("height"))
    for one in picture.iter("{http://www.w3.org/2000/svg}rect"):
        assert int(one.get("x")) + int(one.get("width")) <= width and int(one.get("y")) <= height
    for one in picture.iter("{http://www.w3.org/2000/svg}text"):
        run_off = 0 if "e" in (one.get("class") or "").split() else 8 * len(one.text)
        assert int(one.get("x")) + run_off <= width and int(one.get("y")) < height


def test_the_picture_of_what_does_not_fit(keep, run):
    done, picture = _draw(run, "keep", STATE, "--budget", "20")
    assert done.code == 3 and any("does not fit 20 tokens" in text for text in _list_texts(picture))


def test_names_are_text_in_the_picture(run, tmp_path):
    """Ids come from the state: none of them is a tag, or a character that XML cannot hold."""
    text = "promptc: 1\nname: odd\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 3\ntruncate: [log]\n"
    text += 'sections: [{id: log, items: {from: state.log, id: item.id, text: "{{ item.text }}"}}]\n'
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    for name, shown in {"<script>x</script>": "<script>x</script>", "a&b\x1b[31m": "a&b\\x1b[31m", "\ufffe\u202e": "\ufffd\\u202e"}.items():
        state = {"log": [{"id": one, "text": "word word word"} for one in (name, "last")]}
        (tmp_path / "state.json").write_text(json.dumps(state), encoding="utf-8")
        done, picture = _draw(run, str(tmp_path), str(tmp_path / "state.json"))
        assert "<script" not in done.out and "\x1b" not in done.out
        assert any(f"`{shown}`" in text for text in _list_texts(picture))


@pytest.mark.parametrize("other", [["--json"], ["--why", "lore"], ["--sweep"]])
def test_a_picture_is_one_view(other, keep, run):
    done = run("explain", "keep", STATE, "--svg", *other)
    assert done.code == 2 and "`--svg`" in done.err


# contract 5.51 and 13.20
def test_what_another_order_would_have_kept_is_a_golden_as_json(run, golden):
    given = ("fixtures/desk/base", "fixtures/desk/base/state.json", "--budget", "140", "--quiet")
    report = json.loads(run("explain", *given, "--json").out)
    golden("explain_slack.json", json.dumps(report.pop("slack"), indent=1) + "\n")
    schema = json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(run("explain", *given, "--json").out), schema)


def test_a_render_tries_no_other_order(run, tmp_path, monkeypatch):
    """Neither its report nor its meter: only `explain` asks, and of its views the meter."""
    tried = []
    monkeypatch.setattr("promptc.explain.slack.list_slack", lambda *_: tried.append(True) or ())
    report = tmp_path / "report.json"
    given = ("fixtures/desk/base", "fixtures/desk/base/state.json", "--quiet")
    assert run("render", *given, "--report", str(report)).code == 0
    assert "slack" not in json.loads(report.read_text(encoding="utf-8"))
    assert run("render", *given, "--budget", "20").code == 3
    assert run("explain", *given, "--why", "clips/bridge").code == 0
    assert not tried
    assert run("explain", *given).code == 0 and tried


_MANY = """promptc: 1
name: talk
version: 1.0.0
tokenizer: chars/4
budget: 4000
sections:
  - {id: rules, text: Be brief.}
  - id: talk
    items: {from: state.talk, window: {last: 3}, message: {role: item.role, content: item.content, parts: [text, tool_use, tool_result]}}
  - {id: input, role: user, text: Go on.}
output: {format: messages}
"""


def test_a_section_of_several_messages_is_explained(tmp_path, run):
    use = {"type": "tool_use", "id": "u", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "u", "content": "x" * 900}
    talk = [("assistant", [use]), ("user", [result]), ("assistant", "Done."), ("user", "Thanks.")]
    (tmp_path / "pack.yaml").write_text(_MANY)
    (tmp_path / "state.json").write_text(json.dumps({"talk": [{"role": role, "content": content} for role, content in talk]}))
    asked = ("explain", str(tmp_path), str(tmp_path / "state.json"))
    assert "messages 1 to 2\n" in run(*asked, "--why", "talk").out
    assert "    the tool use or the results it belongs to are not selected: `1`\n" in run(*asked, "--stages", "talk").out
    whole = run(*asked, "--why", "talk/1", "--try", "sections.talk.items.window.last=4").out
    assert re.search(r"\.\.\. \d+\s+characters\s+more", whole) and "x" * 500 not in re.sub(r"\s", "", whole)


def test_an_item_without_its_section_is_found(keep, run):
    assert "an item is named with its section: `recent/t6`" in run("explain", "keep", STATE, "--why", "t6").err


def test_an_argument_too_many_is_told_with_those_that_are_taken(run):
    done = run("diff", ".", "a.json", "b.json", "c.json")
    assert done.code == 2 and "`b.json c.json` is too much: `promptc diff` takes A B" in done.err


def test_an_option_without_its_value_says_what_it_takes(run):
    done = run("explain", ".", STATE, "--stages")
    assert done.code == 2 and "`--stages` needs a value: `--stages SECTION`" in done.err and "`promptc explain --help`" in done.err


def test_the_first_value_that_cuts_nothing_is_the_knee(keep, run):
    """The last row of a sweep keeps all that is wanted: nothing can grow. A window wants more with each value."""
    for value, told in (
        ("budget=20:400:380", "knee: 400, from there on nothing of `recent` is cut"),
        ("items.window.last=1:2:1", "knee: none up to 2"),
    ):
        assert told in run("explain", "keep", STATE, "--sweep", f"sections.recent.{value}").out
