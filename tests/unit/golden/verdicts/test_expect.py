"""Every kind of claim holds where it is true, and fails where it is not."""

import pytest

from promptc.cli.shell import CaseShell
from promptc.golden.cases.case import CaseOutcome, CaseRun
from promptc.golden.cases.discover import load_case
from promptc.golden.running.resources import SuiteResources
from promptc.golden.running.run import run_case
from promptc.golden.verdicts.expect import check_expect

PACK = """\
promptc: 1
name: tavern
version: 1.0.0
tokenizer: cl100k_base
budget: 400
variants: {tone: {select: "'plain'", default: plain, cases: {plain: {}, loud: {}}}}
sections:
  - {id: place, text: "You stand in {{ state.place }}.", pinned: true}
  - id: seen
    header: "You see:"
    budget: 14
    items: {from: state.seen, id: item, text: "- {{ item }}"}
    overflow: [evict: {}]
  - {id: never, text: "Never.", when: state.place == 'nowhere'}
"""
STATE = '{"place": "the harbour", "seen": ["gulls", "a long ladder", "fog"]}'
CLAIMS = [
    ("exit: 0", "exit: 3"),
    ("tokens: '<= 40'", "tokens: '> 40'"),
    ("tokens: '< 400'", "tokens: 400"),
    ("tokens: '>= 3'", "tokens: '< 3'"),
    ("tokens: '<= 17'", "tokens: '< 17'"),
    ("tokens: '>= 17'", "tokens: '> 17'"),
    ("strain: null", "strain: high"),
    ("variants: {tone: plain}", "variants: {tone: loud}"),
    ("order: [place, seen]", "order: [seen, place]"),
    ("sections: {never: 'off'}", "sections: {never: present}"),
    ("sections: {seen: {items: 2}}", "sections: {seen: {items: '<= 1'}}"),
    ("sections: {seen: {items: 2.0}}", "sections: {seen: {items: 3.0}}"),
    ("sections: {seen: {tokens: '<= 14'}}", "sections: {seen: {tokens: '> 14'}}"),
    ("sections: {seen: {kept: [fog]}}", "sections: {seen: {kept: [gulls]}}"),
    ("sections: {seen: {dropped: [gulls]}}", "sections: {seen: {dropped: [fog]}}"),
    ("sections: {seen: {dropped: {gulls: evict}}}", "sections: {seen: {dropped: {gulls: where}}}"),
    ("sections: {place: present}", "sections: {plaice: present}"),
    ("contains: [harbour]", "contains: [castle]"),
    ("lacks: [castle]", "lacks: [harbour]"),
    ("lacks: [{match: 'l.dders'}]", "lacks: [{match: 'l.dder'}]"),
    ("lacks: [{match: 'harbo.r', except: [place]}]", "lacks: [{match: 'harbo.r', except: [seen]}]"),
    ("warnings: []", "warnings: [PC0503]"),
    ("errors: []", "errors: [PC0503]"),
    ("flags: {}", "flags: {due: [checkpoint]}"),
]


def test_a_claim_that_lists_a_note(tmp_path):
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "case.yaml").write_text("title: a claim\ncheck: true\nexpect: {exit: 0, warnings: [PC0642]}\n", encoding="utf-8")
    case = load_case(str(tmp_path))
    with SuiteResources() as resources:
        (found,) = check_expect(case, run_case(case, resources, CaseShell()))
    assert (
        found.message
        == "warnings is nothing, not `PC0642`; take out `PC0642`: `expect` lists no notes, `golden: [diagnostics]` compares them"
    )


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("[place, never, seen]", "order names `never`, which is off in this prompt: it has `place`, `seen`"),
        ("[place]", "order leaves out `seen`, which is in this prompt: it has `place`, `seen`"),
        ("[place, sean]", "order names `sean`, which is not a section: it has `place`, `seen`"),
        ("[seen, place]", "order is `place`, `seen`, not `seen`, `place`"),
    ],
)
def test_an_order_that_does_not_hold_says_which_section_is_wrong(tmp_path, order, told):
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "state.json").write_text(STATE, encoding="utf-8")
    (tmp_path / "case.yaml").write_text(f"title: a claim\nstate: state.json\nexpect: {{order: {order}}}\n", encoding="utf-8")
    case = load_case(str(tmp_path))
    with SuiteResources() as resources:
        (found,) = check_expect(case, run_case(case, resources, CaseShell()))
    assert found.message == told


# contract 14.6
@pytest.mark.parametrize(("true", "false"), CLAIMS, ids=[true for true, _ in CLAIMS])
def test_a_claim(tmp_path, true, false):
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "state.json").write_text(STATE, encoding="utf-8")
    for claim, count in ((true, 0), (false, 1)):
        (tmp_path / "case.yaml").write_text(f"title: a claim\nstate: state.json\nexpect: {{{claim}}}\n", encoding="utf-8")
        case = load_case(str(tmp_path))
        with SuiteResources() as resources:
            found = check_expect(case, run_case(case, resources, CaseShell()))
        assert [one.code for one in found] == ["PC0924"] * count, [one.message for one in found]
        assert all(one.span.file == "case.yaml" and one.span.line == 3 for one in found if "exit" not in claim)


@pytest.mark.parametrize("figure", ["recall", "recall_in_cap", "rejected"])
def test_a_claim_about_an_index(tmp_path, figure):
    """Each figure is compared by itself."""
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "case.yaml").write_text(
        f'title: a claim\nrecall: {{index: rules, queries: queries.tsv}}\nexpect: {{{figure}: ">= 90"}}\n', encoding="utf-8"
    )
    case = load_case(str(tmp_path))
    for value, told in ((90, []), (89, [f"{figure}: 89, not >= 90"]), (None, [f"{figure}: none, not >= 90"])):
        figures = {"recall": 100, "recall_in_cap": 100, "rejected": 100} | {figure: value}
        assert [one.message for one in check_expect(case, CaseRun((CaseOutcome(0, figures=figures),)))] == told
