"""One account for a render: whatever a pack evaluates, renders, counts or cuts charges it, wherever the pack writes it."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promptc
from promptc.diag.findings import FitError, PromptcError
from promptc.template.allow import CEILINGS
from promptc.template.runtime.run import Run
from tests.size import count_examples

ROOT = Path(__file__).parents[3]
MANY = "range(100) | map('string') | join"
LONG = "'word ' * 400"
BASE: dict = {"promptc": 1, "name": "small", "version": "1.0.0", "tokenizer": "chars/4", "budget": 1000000, "limits": {"steps": 30000}}
ROWS = {"rows": [{"id": f"r{n}", "role": "user", "text": f"line {n}"} for n in range(100)]}


def _items(**keys):
    return {"sections": [{"id": "main", "items": {"from": "state.rows", "text": "{{ item.text }}", **keys}}]}


def _section(**keys):
    return {"sections": [{"id": f"main{n}", "text": "x", **keys} for n in range(60)]}


def _ladder(*steps):
    return {
        "sections": [{"id": "main", "budget": 50, "overflow": [*steps], "items": {"from": "state.rows", "text": "{{ item.text }} of it"}}]
    }


# each of these is evaluated many times, and none of those times takes a tenth of the limit
POSITIONS = {
    "let": {"let": {f"l{n}": MANY for n in range(60)}, **_section()},
    "assert": {"asserts": [{"that": MANY, "else": "x"} for _ in range(60)], **_section()},
    "when": _section(when=MANY),
    "text": _section(text=f"{{{{ {MANY} }}}}"),
    "header": _section(header=f"{{{{ {MANY} }}}}"),
    "fence": _section(fence={"open": f"<{{{{ {MANY} }}}}>", "close": "</x>"}),
    "from": {"sections": [{"id": f"m{n}", "items": {"from": f"[{MANY}]", "text": "x"}} for n in range(60)]},
    "where": _items(where=MANY),
    "number": _items(number=f"0 * ({MANY} | length)"),
    "id": _items(id=f"item.id ~ ({MANY} | length)"),
    "dedupe": _items(dedupe={"by": f"item.id ~ ({MANY})"}),
    "sort": _items(sort=[MANY]),
    "limit_per": _items(limit_per={"by": MANY, "caps": {"x": 1}}),
    "group": _items(group={"by": MANY}),
    "group header": _items(group={"by": "item.id", "header": f"{{{{ {MANY} }}}}"}),
    "tally": _items(tally=MANY),
    "item": _items(text=f"{{{{ {MANY} }}}}"),
    "item fence": _items(fence={"open": f"<{{{{ {MANY} }}}}>", "close": "</x>"}),
    "keep": _items(keep=[{"where": MANY}]),
    "anchors": _items(window={"last": 1}, anchors={"where": f"not ({MANY})", "last": 1}),
    "evict order": _ladder({"evict": {"order": [MANY]}}),
    "evict by": _ladder({"evict": {"by": f"{MANY} | length"}}),
    "evict marker": _ladder({"evict": {"marker": f"{{{{ removed }}}} {{{{ {MANY} }}}}"}}),
    "lower": _ladder({"lower": {"by": f"{MANY} | length + item.text | length"}}),
    "recap where": _ladder({"recap": {"older": 0.5, "where": MANY, "template": "recap.j2"}}),
    "long items": _items(text=f"{{{{ {LONG} }}}}"),
    "long texts": _section(text=f"{{{{ {LONG} }}}}"),
    "notches": _ladder({"evict": {}}),
    "cuts": {
        "sections": [{"id": "main", "budget": 50, "overflow": [{"trim": {"at": "word"}}], "text": "{{ 'word ' * 300 }}"}],
    },
    "elements": {"sections": [{"id": "main", "items": {"from": "range(9000)", "limit": 1, "text": "x"}}]},
}


def _load(folder, pack):
    (folder / "recap.j2").write_text("recap", encoding="utf-8")
    (folder / "pack.yaml").write_text(json.dumps({**BASE, **pack}, ensure_ascii=False), encoding="utf-8")
    return promptc.load(folder / "pack.yaml")


def _try(pack, state):
    try:
        return "prompt", pack.render(state).text
    except FitError as error:
        return "unfit", str(error)
    except PromptcError as error:
        return "found", [(found.code, found.message, found.span and (found.span.line, found.span.column)) for found in error.diagnostics]


# contract 3.14
@pytest.mark.parametrize("name", POSITIONS)
def test_every_position_charges_the_render(name, tmp_path):
    pack = _load(tmp_path, POSITIONS[name])
    outcome, found = _try(pack, ROWS)
    assert outcome == "found" and {code for code, *_ in found} <= {"PC0430", "PC0590"}, (outcome, found)
    assert all("30000 steps" in message for _, message, _ in found)
    assert _try(pack, ROWS) == (outcome, found), "the same step each time"


def test_texts_together_are_bounded(tmp_path):
    many = {"limits": {"memory": 100000}, "sections": [{"id": f"m{n}", "text": "{{ '\U0001f600' * 2000 }}"} for n in range(40)]}
    with pytest.raises(PromptcError, match="texts of more than 100000 bytes"):
        _load(tmp_path, many).render({})


@pytest.mark.parametrize(
    "text", ["{{ 'x' * 3000 }}", "{% set a = '東' * 3000 %}", "{{ ['x'] | join('a' * 3000) }}", "{{ 'é' ~ 'x' * 2999 }}"]
)
def test_characters_that_are_not_ascii_count_four_bytes(text, tmp_path):
    with pytest.raises(PromptcError, match="bytes"):
        _load(tmp_path, {"limits": {"memory": 10000}, "sections": [{"id": "m", "text": text}]}).render({})


@pytest.mark.dear
@settings(max_examples=count_examples(40), deadline=None)
@given(st.lists(st.sampled_from(sorted(POSITIONS)), min_size=1, max_size=5), st.integers(500, 60_000))
def test_packs_of_bombs_end_within_their_steps(tmp_path_factory, names, steps):
    sections, rest = [], {}
    for place, name in enumerate(names):
        part = dict(POSITIONS[name])
        sections += [{**one, "id": f"{one['id']}_{place}"} for one in part.pop("sections")]
        rest |= part
    pack = _load(tmp_path_factory.mktemp("bombs"), {**rest, "sections": sections, "limits": {"steps": steps}})
    runs = _watch(lambda: _try(pack, ROWS))
    assert len(runs) == 1, "one account for all of it"
    assert runs[0].spent <= steps + 16_000, "at most one charge goes over"


@pytest.mark.parametrize("name", ["sentinel", "companion", "worldarchitect"])
def test_the_packs_make_one_account_and_stay_far_below_its_end(name):
    pack = promptc.load(ROOT / "packs" / name)
    states = sorted((ROOT / "fixtures" / name).glob("*/state.json"))[:6]
    for state in states:
        loaded = pack.load_state(state.read_bytes())
        runs = _watch(lambda loaded=loaded: _try(pack, loaded))
        assert len(runs) == 1
        assert runs[0].spent < runs[0].limits.steps // 50


def _watch(work):
    """The accounts that `work` opens, each with what it spent."""
    runs = []

    class Watched(Run):
        def __init__(self, *args):
            super().__init__(*args)
            self.end = None
            runs.append(self)

        def renew(self):
            self.end = self.left

        @property
        def spent(self):
            return self.limits.steps - (self.left if self.end is None else self.end)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptc.model.pack.Run", Watched)
        patch.setattr("promptc.template.runtime.run.Run", Watched)
        work()
    return runs


DEAR = {
    "marks that combine": {"text": "{{ '\u0301' * 840000 }}"},
    "short lines": {"text": "{{ '<a>\n' * 160000 }}", "fence": {"open": "<a>", "close": "</a>"}},
    "cuts of one long word": {"text": "{{ 'xqzj' * 75000 }}", "budget": 100, "overflow": [{"trim": {"at": "token"}}]},
    "cuts of a text that is guarded": {"text": "<|x|>{{ 'ab cd ' * 9000 }}", "budget": 100, "overflow": [{"trim": {"at": "token"}}]},
}


@pytest.mark.dear
@pytest.mark.parametrize("name", DEAR)
def test_what_takes_seconds_is_over_the_highest_limit(name, tmp_path):
    """Each took over two seconds of a processor, or would at twice its size, where characters alone were paid for."""
    sections = [{"id": "main", **DEAR[name]}]
    pack = _load(tmp_path, {"sections": sections, "tokenizer": "o200k_base", "budget": 100_000_000, "limits": {"steps": CEILINGS.steps}})
    with pytest.raises(PromptcError, match="PC0590"):
        pack.render({})
