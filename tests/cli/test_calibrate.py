"""`promptc calibrate`: which lines are pairs, what the others are told, the file, and the packs that name it."""

import json
import random

import pytest

from promptc.text.counters.counter import CharacterCounter

PACK = """promptc: 1
name: shop
version: 1.0.0
tokenizer: chars/4
budget: 1000
output: {models: {openai: gpt-5.6}}
sections: [{id: main, text: hello}]
"""
NAMED = PACK.replace("tokenizer: chars/4", "tokenizer: {use: chars/4, calibration: usage.calibration.json}")
REPORT = {"pack": "shop", "counter": {"name": "chars/4", "digest": CharacterCounter().digest}, "tokens": 100}
LINE = {"report": REPORT, "usage": {"prompt_tokens": 104}, "provider": "openai", "model": "gpt-5.6", "at": "2026-11-24"}


@pytest.fixture
def calibrate(run, tmp_path, monkeypatch):
    """Runs the command over lines: `calibrate([LINE], "--quantile", "0.5")`. What is no text is written as JSON."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")

    def call(lines, *options):
        texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
        (tmp_path / "usage.jsonl").write_text("".join(f"{one}\n" for one in texts), encoding="utf-8")
        return run("calibrate", ".", "usage.jsonl", *options)

    return call


# contract 8.35
@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 120, "prompt_tokens_details": {"cached_tokens": 100}}, 120),
        ({"input_tokens": 120, "input_tokens_details": {"cached_tokens": 100}, "output_tokens": 7}, 120),
        ({"input_tokens": 20, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 70}, 120),
        ({"input_tokens": 120, "cache_creation_input_tokens": None, "cache_read_input_tokens": 0}, 120),
        ({"promptTokenCount": 120, "cachedContentTokenCount": 100}, 120),
        ({"prompt_token_count": 120}, 120),
        ({"prompt_eval_count": 120, "eval_count": 8}, 120),
    ],
)
def test_every_provider_says_it_in_words_of_its_own(usage, tokens, calibrate, tmp_path):
    assert calibrate([{**LINE, "usage": usage}], "-o", "out.json").code == 0
    (entry,) = json.loads((tmp_path / "out.json").read_text())["entries"]
    assert entry["ratio"] == tokens * 10_000


# contract 8.36
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"report": ', "it is no JSON"),
        ("[1]", "it is no JSON object"),
        ("[" * 5000, "it is no JSON"),
        ({**LINE, "report": None}, "it has no `report`"),
        ({**LINE, "report": {"a": 1}}, "its `report` is not a report of a render"),
        ({**LINE, "report": "../secret.json"}, "is not the path of a file in the folder of USAGE"),
        ({**LINE, "report": "/etc/passwd"}, "is not the path of a file in the folder of USAGE"),
        ({**LINE, "report": "none.json"}, "`none.json` cannot be read"),
        ({**LINE, "report": {**REPORT, "pack": "other"}}, "its report is of the pack `other`, not of `shop`"),
        ({**LINE, "report": {**REPORT, "counter": {"name": "o200k_base"}}}, "counted with another tokenizer"),
        ({**LINE, "report": {**REPORT, "tokens": None}}, "its render did not fit"),
        ({**LINE, "report": {**REPORT, "tokens": 0}}, "its report has no tokens"),
        ({**LINE, "usage": {"total_tokens": 3}}, "its `usage` has none of"),
        ({**LINE, "usage": {"prompt_tokens": 104.5}}, "that is no number of tokens"),
        ({**LINE, "usage": {"prompt_tokens": True}}, "that is no number of tokens"),
        ({**LINE, "usage": {"prompt_tokens": 10**12}}, "that is no number of tokens"),
        ({**LINE, "usage": {"prompt_tokens": 0}}, "reports no tokens"),
        ({**LINE, "usage": {"prompt_tokens": 10001}}, "more than 100 times the estimate"),
        ({**LINE, "usage": {"prompt_tokens": 104, "input_tokens": 5}}, "says two things: 5 and 104 tokens"),
        ({**LINE, "provider": "opnai"}, "did you mean `openai`?"),
        ({**LINE, "provider": ["openai"]}, "it names no provider that promptc knows"),
        ({**LINE, "report": {**REPORT, "overhead": {"provider": "gemini"}}}, "its report was made for gemini"),
        ({key: one for key, one in LINE.items() if key != "provider"}, "it names no provider"),
        ({**LINE, "model": None}, "it names no model"),
        ({**LINE, "model": "a\nb"}, "its `model` is not a name"),
        ({**LINE, "at": None}, "it names no day"),
        ({**LINE, "at": "24.11.2026"}, "its `at` is not a date"),
        ({**LINE, "at": "2026-02-30"}, "its `at` is not a date"),
    ],
)
def test_a_line_that_is_no_pair(line, says, calibrate):
    alone = calibrate([line])
    assert alone.code == 3 and not alone.out and "PC0757" in alone.err
    beside = calibrate([LINE, "", line])
    assert beside.code == 0 and "usage.jsonl:3:1: PC0758 warning: line 3 is left out" in beside.err and says in beside.err


def test_many_lines_that_are_none_are_summed_up(calibrate):
    done = calibrate([LINE, *["[]"] * 30])
    assert done.err.count("PC0758") == 21 and "10 more lines of usage.jsonl are left out" in done.err


def test_too_many_lines(calibrate):
    done = calibrate(["{}"] * 100_001)
    assert done.code == 3 and "PC0102" in done.err


# contract 8.35
def test_equal_lines_give_equal_bytes_and_dates_come_from_them(calibrate, tmp_path):
    lines = [{**LINE, "usage": {"prompt_tokens": 90 + n}, "at": f"2026-11-{n + 1:02d}T10:00:00Z", "model": f"m{n % 3}"} for n in range(28)]
    calibrate(lines, "-o", "one.json")
    random.Random(5).shuffle(lines)
    calibrate(lines, "-o", "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    first = json.loads((tmp_path / "one.json").read_text())["entries"][0]
    assert (first["first"], first["last"], first["pairs"]) == ("2026-11-01", "2026-11-28", 10)


def test_options_say_what_lines_leave_out(calibrate, tmp_path):
    bare = {"report": "r.json", "usage": {"prompt_eval_count": 130}}
    (tmp_path / "r.json").write_text(json.dumps(REPORT), encoding="utf-8")
    done = calibrate([bare, bare], "--provider", "ollama", "--model", "qwen3", "--date", "2026-11-20", "-o", "out.json")
    assert done.code == 0 and done.err == "1 entry written to out.json\n"
    (entry,) = json.loads((tmp_path / "out.json").read_text())["entries"]
    assert entry == {"provider": "ollama", "model": "qwen3", "pairs": 2, "ratio": 1_300_000, "first": "2026-11-20", "last": "2026-11-20"}


@pytest.mark.parametrize("given", [("--quantile", "1"), ("--quantile", "0"), ("--quantile", "99"), ("--date", "today"), ("--model", " ")])
def test_an_option_that_says_nothing(given, calibrate):
    done = calibrate([LINE], *given)
    assert done.code == 2 and "PC0720" in done.err and not done.out


def test_what_is_shown_fits_80_columns_and_names_what_is_far(calibrate):
    lines = [{**LINE, "usage": {"prompt_tokens": 95 + n % 12}, "model": "a-model-of-a-long-name-" * 3} for n in range(120)]
    done = calibrate([*lines, {**lines[0], "usage": {"prompt_tokens": 400}}])
    assert max(map(len, done.out.splitlines())) <= 80
    assert "1 pair far from the rest, not drawn: line 121 (4.0000)" in done.out
    assert "99 % of the pairs are below or here" in done.out


# contract 8.31, 8.32, 8.33 and 8.34
def test_a_pack_names_the_file(calibrate, run, tmp_path):
    calibrate([{**LINE, "usage": {"prompt_tokens": 125}}] * 200, "--date", "2026-11-24", "-o", "usage.calibration.json")
    (tmp_path / "pack.yaml").write_text(NAMED, encoding="utf-8")
    (tmp_path / "state.json").write_text("{}", encoding="utf-8")
    shown = run("explain", ".", "state.json").out
    assert "margin: 200 of 1,000 tokens held back, 800 left" in shown
    assert "source: usage.calibration.json, 99 % of 200 pairs, openai gpt-5.6" in shown
    assert "estimate: 2, by the ratio 1.2500 reported as at most 2" in shown
    assert "PC0697" not in run("check", ".").out
    (tmp_path / "pack.yaml").write_text(NAMED.replace("chars/4, cal", "o200k_base, cal"), encoding="utf-8")
    assert "PC0188" in run("render", ".", "state.json").err
    (tmp_path / "pack.yaml").write_text(NAMED.replace("use: chars/4", 'use: "hf:no.json", fallback: chars/4, margin: 10'), encoding="utf-8")
    assert "PC0188" in run("render", ".", "state.json").err


# contract 8.32
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"calibration": 2}, "is of another version"),
        ({"quantile": 0}, "has a quantile"),
        ({"entries": []}, "needs a list of 1 to 1000 entries"),
        ({"more": 1}, "needs an object with"),
        ({"counter": {"name": 1, "digest": ""}}, "has a `name` of its counter that is not a string"),
    ],
)
def test_a_file_of_another_form(change, says, calibrate, run, tmp_path):
    calibrate([LINE], "-o", "usage.calibration.json")
    path = tmp_path / "usage.calibration.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, **change}), encoding="utf-8")
    (tmp_path / "pack.yaml").write_text(NAMED, encoding="utf-8")
    done = run("render", ".", "-", stdin=b"{}")
    assert done.code == 3 and "usage.calibration.json:1:" in done.err and says in done.err and "PC0187" in done.err


# contract 8.32
@pytest.mark.parametrize(
    "change",
    [{"provider": "x"}, {"model": ""}, {"pairs": 0}, {"ratio": 10**9}, {"ratio": 1.5}, {"first": "2026"}, {"last": None}, {"x": 1}],
)
def test_an_entry_of_another_form(change, calibrate, run, tmp_path):
    calibrate([LINE], "-o", "usage.calibration.json")
    path = tmp_path / "usage.calibration.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, "entries": [{**whole["entries"][0], **change}]}), encoding="utf-8")
    (tmp_path / "pack.yaml").write_text(NAMED, encoding="utf-8")
    done = run("render", ".", "-", stdin=b"{}")
    assert done.code == 3 and "PC0187" in done.err
