"""`promptc answer` says of an answer what `promptc apply --answer` would, all of it, and with its place."""

import json

import pytest

from tests.cli.conftest import ROOT

STATE_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "points": {"type": "array", "items": {"type": "string"}, "default": [], "maxItems": 2},
        "mood": {"enum": ["calm", "wild"], "default": "calm"},
    },
}
ANSWER_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["points"],
    "properties": {"points": {"type": "array", "items": {"type": "string", "minLength": 1}}},
}
PACK = """\
promptc: 1
name: small
version: 1.0.0
tokenizer: cl100k_base
budget: 1000
state: {schema: state.schema.json}
response: points.schema.json
sections: [{id: input, text: "{{ state.points | join }}"}]
variants:
  mood: {select: state.mood, cases: {calm: {}, wild: {response: null}}}
operations:
  note:
    args: {least: 1, asked: true}
    asks:
      first: {pack: ask.yaml, check: {headings: [Points]}, else: {text: "# Points"}}
      points:
        pack: ask.yaml
        when: args.asked
        check:
          schema: points.schema.json
          that:
            - that: answers.points.points | length >= args.least and answers.first
              else: "fewer than {{ args.least }}, after {{ answers.first }}"
        else: {text: '{"points": []}'}
    edits: [{set: /points, to: answers.points.points, when: answers.points}]
  rest: {edits: [{set: /points, to: "[]"}]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "pack.yaml": PACK,
        "ask.yaml": 'promptc: 1\nname: ask\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 900\nsections: [{id: input, text: "?"}]\n',
        "state.schema.json": json.dumps(STATE_SCHEMA),
        "points.schema.json": json.dumps(ANSWER_SCHEMA),
        "state.json": "{}",
        "wild.json": '{"mood": "wild"}',
        "good.json": '{"points": ["bell"]}',
        "bad.json": '{\n  "points": ["bell", ""],\n  "more": 1\n}\n',
        "many.json": '{"points": ["a", "b", "c"]}',
        "half.json": '{"points": ["bell"',
        "first.md": "# Points\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def places(done):
    return [(one["code"], one["file"], one["line"]) for one in json.loads(done.out)]


@pytest.mark.parametrize("words", [(), ("--mood", "calm"), ("--state", "state.json")])
def test_the_response_of_the_pack(folder, run, words):
    good, bad = run("answer", ".", "good.json", *words), run("answer", ".", "bad.json", "--format", "json", *words)
    assert (good.code, good.out, good.err) == (0, "nothing found\n", "")
    assert bad.code == 1 and places(bad) == [("PC0302", "bad.json", 2), ("PC0304", "bad.json", 3)]


@pytest.mark.parametrize("words", [("--mood", "wild"), ("--state", "wild.json")])
def test_a_case_without_a_response(folder, run, words):
    done = run("answer", ".", "good.json", *words)
    assert done.code == 2 and "PC0816" in done.err and "`note`" in done.err and not done.out


def test_another_schema(folder, run):
    done = run("answer", ".", "good.json", "--mood", "wild", "--schema", "state.schema.json")
    assert (done.code, done.out) == (0, "nothing found\n")
    assert run("answer", ".", "many.json", "--schema", "state.schema.json").code == 1


def test_from_standard_input_in_a_fence(folder, run):
    text = f"Here you are:\n```json\n{(folder / 'bad.json').read_text()}```\n"
    done = run("answer", ".", "-", "--format", "json", stdin=text.encode())
    assert places(done) == [("PC0302", "stdin", 4), ("PC0304", "stdin", 5)]


def test_what_is_no_json_and_no_text(folder, run):
    assert places(run("answer", ".", "half.json", "--format", "json"))[0][0].startswith("PC01")
    for raw in (b"", b"\xff\xfe\x00"):
        done = run("answer", ".", "-", stdin=raw)
        assert done.code == 1 and "PC0814" in done.out


@pytest.mark.parametrize(("text", "place"), [("x\n\n\n  ## Open\n\n## Done\n", 4), ("\ufeffOpen\r\nDone\r\nmore", 1), ("x\n## Done\n", 1)])
def test_the_line_of_a_heading(tmp_path, run, text, place):
    """A heading that comes too early has a line; one that is missing has none, so the first line stands for the file."""
    (tmp_path / "w.md").write_bytes(text.encode())
    done = run("answer", str(ROOT / "tests" / "cli" / "logbook"), "digest", str(tmp_path / "w.md"), "--format", "json")
    assert done.code == 1 and places(done) == [("PC0814", str(tmp_path / "w.md"), place)]


def test_what_an_operation_asks(folder, run):
    first = run("answer", ".", "note", "good.json")
    assert first.code == 1 and "it is missing the heading `Points`" in first.out
    assert run("answer", ".", "note", "first.md").out == "nothing found\n"
    second = run("answer", ".", "note", "good.json", "--ask", "points")
    assert second.code == 0 and "PC0817 note: 1 claim of `points` is not tested" in second.out
    assert places(run("answer", ".", "note", "bad.json", "--ask", "points", "--format", "json"))[0] == ("PC0302", "bad.json", 2)


def test_claims_see_arguments_and_earlier_answers(folder, run):
    asked = ("answer", ".", "note", "good.json", "--ask", "points", "--state", "state.json")
    (folder / "own.md").write_text("# Points\nmine")
    alone = run(*asked, "--arg", "least=2")
    assert (
        alone.code == 1 and "PC0815 the answer fails a claim of its check: fewer than 2, after # Points\n" in alone.out
    )  # the `else` of what is not given
    own = run(*asked, "--arg", "least=2", "--answer", "first=own.md")
    assert own.code == 1 and "fewer than 2, after # Points mine" in " ".join(own.out.split())
    assert run(*asked).out == run(*asked, "--answer", "first=first.md").out == "nothing found\n"
    more = run(*asked, "--answer", "first=first.md", "--arg", "least=2")
    assert more.code == 1 and "fewer than 2, after # Points" in more.out


def test_an_answer_that_cannot_be_booked(folder, run):
    asked = ("note", "many.json", "--ask", "points", "--state", "state.json", "--answer", "first=first.md")
    done = run("answer", ".", *asked)
    assert done.code == 1 and "PC0800 the answer to `points` fails its check:" in done.out and "`else`" not in done.out
    left = run("answer", ".", *asked, "--arg", "asked=false", "--arg", "least=9")
    assert left.code == 0 and "PC0809 warning: the operation does not ask `points` this time: promptc ignores the answer" in left.out
    assert (folder / "state.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((".",), "PC0720"),
        ((".", "note"), "PC0720"),
        ((".", "a", "b", "c"), "PC0720"),
        ((".", "nite", "good.json"), "PC0802"),
        ((".", "rest", "good.json"), "PC0806"),
        ((".", "note", "good.json", "--ask", "second"), "PC0806"),
        ((".", "good.json", "--ask", "points"), "PC0829"),
        ((".", "note", "good.json", "--mood", "calm"), "PC0829"),
        ((".", "-", "--state", "-"), "PC0829"),
        ((".", "good.json", "--mood", "clam"), "PC0702"),
        ((".", "note", "first.md", "--arg", "least=x"), "PC0721"),
        ((".", "note", "first.md", "--arg", "last=1"), "PC0803"),
        ((".", "note", "first.md", "--answer", "third=first.md"), "PC0806"),
    ],
)
def test_lines_that_ask_for_nothing_that_is_there(folder, run, words, code):
    done = run("answer", *words)
    assert done.code == 2 and code in done.err and not done.out


def test_a_file_that_is_not_there(folder, run):
    done = run("answer", ".", "gone.json")
    assert done.code == 4 and "cannot read the answer gone.json" in done.err
