"""`fix_pack`: what goes is what the findings name, byte by byte as drawn; what is rendered stays, and so does what is not certain."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.api import Pack
from promptc.check.registry import check_pack
from promptc.diag.findings import DiskError, Span
from promptc.workshop.mend import count_fixable, fix_pack, list_fixes, name_difference
from tests.contract.sources import ROOT

OURS = sorted(path for path in (ROOT / "fixtures/mend").iterdir() if path.is_dir())
SCHEMA = {"type": "object", "properties": {"note": {"type": "string", "maxLength": 300}}, "required": ["note"]}
STATES = [{"note": "x"}, {"note": "One bell. " * 30}]
HEAD = "promptc: 1\nname: drawn\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 300\nstate: {schema: state.schema.json}\n"
TAIL = "output: {format: messages, messages: [{role: developer, sections: [%s]}]}\n"

comments = st.none() | st.sampled_from(["# why", "#", "#not - a: key", "# 'quoted', {x: 1}", "#\u00e9\U0001f514"])
gaps = st.sampled_from([" ", "   "])


def check(pack):
    return pack.check()


def fix(folder):
    return fix_pack(str(folder), check)


def write(folder, text):
    (folder / "state.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    (folder / "pack.yaml").write_bytes(text.encode())
    return folder


def render(folder, states=STATES):
    pack = Pack.load(folder)
    return [pack.render(pack.load_state(one)).messages for one in states]


@st.composite
def entries(draw, pairs, indent, lead):
    """Entries of a block mapping as they are written and as they should be left: `lead` stands in front of the first."""
    before, after = [], []
    is_first, opening = True, lead
    for key, value, goes in pairs:
        above = draw(comments) if not is_first else None
        if above is not None:
            before.append(f"{indent}{above}")
            after.append(f"{opening}{above}" if opening != indent else f"{indent}{above}")
            opening = indent
        behind = draw(comments)
        said = f"{draw(gaps)}{behind}" if behind is not None else ""
        before.append(f"{lead if is_first else indent}{key}:{draw(gaps)}{value}{said}")
        is_first = False
        if not goes:
            after.append(f"{opening}{before[-1][len(indent) :]}")
            opening = indent
        elif behind is not None:
            after.append(f"{opening}{behind}")
            opening = indent
    return before, after


@st.composite
def sections(draw, name):
    goes = draw(st.booleans())
    pairs = [("id", name, False), ("text", '"{{ used }}"', False), ("budget", "90", False), *([("role", "user", True)] if goes else [])]
    pairs = draw(st.permutations(pairs))
    if draw(st.booleans()):
        shown = [", ".join(f"{key}: {value}" for key, value, goes in pairs if not (goes and is_after)) for is_after in (False, True)]
        behind = draw(comments)
        said = f"  {behind}" if behind is not None else ""
        return tuple([f"  - {{{one}}}{said}"] for one in shown)
    return draw(entries(pairs, "    ", "  - "))


@st.composite
def packs(draw):
    """The text of a pack, and what is to be left of it."""
    names = [f"d{number}" for number in range(draw(st.integers(0, 3)))]
    pairs = draw(st.permutations([("used", '"state.note"', False), *((name, '"1 > 0"', True) for name in names)]))
    ids = [f"s{number}" for number in range(draw(st.integers(1, 3)))]
    made = [(["define:"], ["define:"]), draw(entries(pairs, "  ", "  ")), (["sections:"], ["sections:"])]
    made += [draw(sections(name)) for name in ids]
    end, mark = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from(["", "\ufeff"]))
    texts = [mark + HEAD + "".join(f"{line}\n" for one in made for line in one[at]) + TAIL % ", ".join(ids) for at in (0, 1)]
    return tuple(one.replace("\n", end) for one in texts)


@given(packs())
def test_the_file_is_what_was_drawn_without_what_goes_and_renders_the_same(tmp_path_factory, drawn):
    folder = write(tmp_path_factory.mktemp("drawn"), drawn[0])
    rendered, found = render(folder), check(Pack.load(folder))
    fixed = fix(folder)
    assert (fixed.before.decode(), fixed.after.decode(), fixed.refused) == (*drawn, None)
    assert len(fixed.mended) == count_fixable(str(folder), found) == sum(one.removable is not None for one in found)
    fixed.write()
    assert (folder / "pack.yaml").read_bytes() == drawn[1].encode()
    assert render(folder) == rendered
    assert not [one for one in check(Pack.load(folder)) if one.removable is not None]


@pytest.mark.parametrize("folder", OURS, ids=lambda one: one.name)
def test_each_fix_alone_is_one_that_leaves_the_pack_whole(folder, tmp_path):
    """What programs are given, laid over the text by its lines and columns."""
    for name in ("pack.yaml", "state.schema.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    found = check(Pack.load(tmp_path))
    fixes = list_fixes(str(tmp_path), found)
    assert fixes
    for one in fixes:
        (edit,) = one.change.edits
        lines = (folder / "pack.yaml").read_text("utf-8").splitlines(keepends=True)
        places = ((edit.line, edit.column), (edit.end_line, edit.end_column))
        start, stop = (sum(map(len, lines[: line - 1])) + column - 1 for line, column in places)
        text = "".join(lines)
        (tmp_path / "pack.yaml").write_text(text[:start] + edit.new + text[stop:], encoding="utf-8")
        left = check(Pack.load(tmp_path))
        assert len(left) == len(found) - 1 and one.found.message not in {left_one.message for left_one in left}


def test_a_definition_that_another_calls_has_no_fix_of_its_own(tmp_path):
    """They go together with `--fix`, or first the one that calls it."""
    define = 'define:\n  twice(a): "a + a"\n  four: "twice(2)"\n  eight: "four + four"\n'
    write(tmp_path, f"{HEAD}{define}sections:\n  - {{id: s, text: '{{{{ state.note }}}}'}}\n")
    found = check(Pack.load(tmp_path))
    names = [one.found.message for one in list_fixes(str(tmp_path), found)]
    assert names == [f"nothing uses the definition `{one}`" for one in ("four", "eight")]
    assert len(fix(tmp_path).mended) == count_fixable(str(tmp_path), found) == 3


DEAD = "  - id: s\n    budget: 20\n    text: '{{ state.note }}'\n    overflow: %s\n"
KEPT = {
    "a comment in brackets": DEAD % "[{drop: {}},  # all\n      {trim: {}}]",
    "a step behind it that acts": "  - {id: s, budget: 20, text: '{{ state.note }}'}\n  - {id: t, budget: 20, text: '{{ state.note }}'}\n"
    "truncate: [{drop: {section: s}}, {trim: {section: s}}, {drop: {section: t}}]\n",
    "an alias": DEAD % "&steps [{drop: {}}, {trim: {}}]" + "  - {id: t, budget: 20, text: '{{ state.note }}', overflow: *steps}\n",
    "a patch": DEAD % "[{drop: {}}, {trim: {}}]" + "patches: {whole: {sections: {s: {budget: 90}}}}\n",
    "another part of the pack": DEAD % "[{drop: {}}, {trim: {}}]" + "patches: {whole: {budget: 200}}\n",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_certain_stays(name, tmp_path):
    write(tmp_path, f"{HEAD}sections:\n{KEPT[name]}")
    assert "PC0611" in {one.code for one in check(Pack.load(tmp_path))}
    fixed = fix(tmp_path)
    assert not fixed.mended and fixed.after == fixed.before and fixed.refused is None


def test_a_patch_of_another_section_keeps_nothing(tmp_path):
    text = DEAD % "[{drop: {}}, {trim: {}}]" + "  - {id: t, budget: 20, text: hello}\npatches: {short: {sections: {t: {budget: 9}}}}\n"
    write(tmp_path, f"{HEAD}sections:\n{text}")
    assert len(fix(tmp_path).mended) == 1


def test_what_only_the_fixed_was_used_by_goes_too(tmp_path):
    steps = "[{drop: {}}, {trim: {order: [early], at: word}}]"
    text = f"{HEAD}define: {{early: 'state.note == 1'}}\nsections:\n{DEAD % steps}"
    write(tmp_path, text)
    fixed = fix(tmp_path)
    assert [one.code for one in fixed.mended] == ["PC0611", "PC0639"]
    for gone in ("define: {early: 'state.note == 1'}\n", ", {trim: {order: [early], at: word}}"):
        text = text.replace(gone, "")
    assert fixed.after.decode() == text


def test_a_base_is_another_pack(tmp_path):
    (tmp_path / "base").mkdir()
    write(tmp_path / "base", f"{HEAD}define: {{old: '1 > 0'}}\nsections: [{{id: s, text: hello}}]\n")
    (tmp_path / "child").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "child/pack.yaml").write_text("promptc: 1\nname: child\nversion: 1.0.0\nextends: ../base\n", encoding="utf-8")
    found = check(Pack.load(tmp_path / "child"))
    assert "PC0639" in {one.code for one in found}
    assert not count_fixable(str(tmp_path / "child"), found) and not fix(tmp_path / "child").mended


def test_a_file_that_changed_meanwhile_is_not_replaced(tmp_path):
    write(tmp_path, f"{HEAD}sections:\n{DEAD % '[{drop: {}}, {trim: {}}]'}")
    fixed = fix(tmp_path)
    (tmp_path / "pack.yaml").write_text("mine", encoding="utf-8")
    with pytest.raises(DiskError) as raised:
        fixed.write()
    assert raised.value.diagnostics[0].code == "PC0725"
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".yaml"] == ["pack.yaml"]
    assert (tmp_path / "pack.yaml").read_text("utf-8") == "mine"


CHANGES = {
    "budget": ("budget: 20", "budget: 21"),
    "a text": ("{{ state.note }}", "{{ state.note }}."),
    "a step": ("trim: {at: word}", "trim: {at: token}"),
    "no step": ("overflow: [{drop: {}}", "overflow: [{fail: {}}"),
    "a section": ("sections:\n", "sections:\n  - {id: more, text: hello}\n"),
    "the total": ("budget: 300", "budget: 301"),
    "a limit": ("version: 1.0.0", "version: 1.0.1"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_proof_sees_what_else_changed(name, tmp_path):
    """Beside the last step, which may go, the packs differ in one thing."""
    text = f"{HEAD}sections:\n{DEAD % '[{drop: {}}, {trim: {at: word}}, {trim: {}}]'}"
    old = Pack.load(write(tmp_path, text)).model
    found = [one for one in check_pack(old) if one.removable is not None][-1:]
    without = text.replace(", {trim: {}}", "")
    assert name_difference(old, Pack.load(write(tmp_path, without)).model, found) == ""
    assert name_difference(old, Pack.load(write(tmp_path, text)).model, found) != ""
    changed = Pack.load(write(tmp_path, without.replace(*CHANGES[name], 1))).model
    assert name_difference(old, changed, found) != ""


def test_a_place_in_another_file_is_none_of_the_manifest(tmp_path):
    write(tmp_path, f"{HEAD}sections:\n{DEAD % '[{drop: {}}, {trim: {}}]'}")
    (found,) = [one for one in check(Pack.load(tmp_path)) if one.removable is not None]
    other = type(found)(found.code, found.message, found.span, "", "warn", Span("other.yaml", found.span.line, found.span.column))
    assert count_fixable(str(tmp_path), [found]) == 1 and not count_fixable(str(tmp_path), [other])


def test_media_that_no_part_passes_goes_with_what_it_reads(tmp_path):
    message = "{role: item.role, content: item.content, media: {tokens: part.pages}}"
    body = f"sections: [{{id: log, items: {{from: state.log, message: {message}}}}}]\noutput: {{format: messages}}\n"
    fixed = fix(write(tmp_path, HEAD.replace("state: {schema: state.schema.json}\n", "") + body))
    assert (fixed.refused, [one.code for one in fixed.mended]) == (None, ["PC0695"])
