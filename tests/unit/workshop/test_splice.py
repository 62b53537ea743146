"""Values are changed at their place, and every other byte stays."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.api import Pack
from promptc.diag.findings import DiskError, UsageError
from promptc.files import atomic
from promptc.frontend.manifest import find_value, iter_numbers, load_manifest
from promptc.frontend.yaml import load_yaml
from promptc.workshop.splice import ChangedValue, list_unwritable, splice, write_values
from promptc.workshop.tune import list_knobs

PACK = """\
# of a shop
promptc: 1
name: shop
version: 1.0.0
tokenizer: o200k_base
budget: 900   # in all
sections:
  - id: notes   # what we know
    # how much of it
    budget: {min: 10, max: 300}  # no more
    text: |
      budget: 600
  - text: "it's # no comment"
    id: rules
    pinned: true
  - {id: tail, budget: '30%', text: 'it''s'}
"""


def change(text, **changes):
    named = [(path.replace("__", "."), json.dumps(value, ensure_ascii=False)) for path, value in changes.items()]
    return splice(text.encode(), "pack.yaml", named).after.decode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_only_the_values_change(end, mark):
    text = mark + PACK.replace("\n", end)
    expected = text.replace("900", "1000").replace("max: 300", "max: 45").replace("'30%'", "'25%'")
    assert change(text, budget=1000, sections__notes__budget__max=45, sections__tail__budget="25%") == expected


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("sections__notes__pinned", "  # what we know\n", "  # what we know\n    pinned: 7\n"),
        ("sections__rules__budget", "pinned: true\n", "pinned: true\n    budget: 7\n"),
        ("sections__rules__budget__max", "pinned: true\n", "pinned: true\n    budget: {max: 7}\n"),
        ("sections__notes__budget__grow", "max: 300}", "max: 300, grow: 7}"),
    ],
)
def test_a_key_is_added_to_its_mapping(path, old, new):
    assert old in PACK
    assert change(PACK, **{path: 7}) == PACK.replace(old, new, 1)


def test_a_key_is_added_before_a_block_of_text_and_at_an_end_without_a_line_end():
    assert change("a:\n  - t: |\n      x\n", **{"a[0]__b": 1}) == "a:\n  - b: 1\n    t: |\n      x\n"
    assert change("a: 1", b=True) == "a: 1\nb: true"


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("a: &x 1\nb: *x\n", "b", "an alias uses the same value"),
        ("a: &x {c: 1}\nb: *x\n", "a.c", "an alias uses the same value"),
        ("a: &x 1\n", "a", "has an anchor"),
        ("a: state.n\n", "a", "the text `state.n`, which may be an expression"),
        ("a: {b: 1}\n", "a", "it is a mapping"),
        ("a: [1]\n", "a", "it is a list"),
        ("a:\nb: 1\n", "a", "not a value on one line"),
        ("a: {}\n", "a.b", "no mapping with keys"),
    ],
)
def test_what_stands_elsewhere_is_refused(text, path, why):
    with pytest.raises(UsageError) as raised:
        splice(text.encode(), "pack.yaml", [(path, "5")])
    assert why in raised.value.diagnostics[0].message


@pytest.mark.parametrize("text", ["a: |\n  x\n", "a: x\n  y\n", 'a: "x\n  y"\n'])
def test_a_text_of_several_lines_is_refused(text):
    with pytest.raises(UsageError, match="not a value on one line"):
        splice(text.encode(), "pack.yaml", [("a", "z")])


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff\u2028\u2029\ufffe\uffff"), max_size=20)
)
def test_any_text_reads_as_it_was_given(value):
    for text in ("a: 'b'  # c\n", 'a: "b"  # c\n', "a: b  # c\n"):
        made = change(text, a=value)
        assert load_yaml(made.encode(), "", "").value["a"].value == value
        assert made.endswith("  # c\n")


PACKS = sorted(one for top in ("packs", "fixtures") for one in Path(top).glob("**/pack.yaml") if "bad" not in one.parts)


@pytest.mark.parametrize("file", PACKS, ids=str)
def test_numbers_of_every_pack_change_alone(file):
    content = file.read_bytes()
    root = load_yaml(content, str(file), "")
    tried = 0
    for path, node in iter_numbers(root):
        if not path.endswith("budget"):
            continue
        try:
            after = splice(content, str(file), [(path, "54321")]).after
        except UsageError:
            continue
        tried += 1
        before, made = content.split(b"\n"), after.split(b"\n")
        differing = [at for at, (one, other) in enumerate(zip(before, made, strict=True)) if one != other]
        assert differing == [node.span.line - 1]
        assert find_value(load_yaml(after, str(file), ""), path).value == 54321
    assert tried or b"budget" not in content or b"extends" in content or b"model:" in content or b"context:" in content


def test_a_manifest_is_written_and_loads_with_the_values(tmp_path):
    file = tmp_path / "pack.yaml"
    file.write_bytes(PACK.encode())
    made = write_values(str(tmp_path), [("budget", "1234"), ("sections.notes.budget.max", "40"), ("sections.notes.budget.min", "10")])
    assert made.changes == (
        ChangedValue("budget", "900", "1234", f"{file}:6:9"),
        ChangedValue("sections.notes.budget.max", "300", "40", f"{file}:10:28"),
    )
    assert made.name == str(file)
    assert file.read_text() == PACK.replace("900", "1234").replace("max: 300", "max: 40")
    assert Pack.load(tmp_path).name == "shop"
    assert find_value(load_manifest(tmp_path), "budget").value == 1234


def test_a_value_of_a_base_or_a_patch_is_refused(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "pack.yaml").write_bytes(PACK.encode())
    child = tmp_path / "pack.yaml"
    child.write_text("promptc: 1\nname: child\nversion: 1.0.0\nextends: base\npatches:\n  p: {sections: {rules: {budget: 9}}}\n")
    before = child.read_bytes()
    for path, why in (
        ("budget", "in a pack that this one extends"),
        ("sections.rules.budget", "only `patches.p.sections.rules.budget` sets it"),
    ):
        with pytest.raises(UsageError, match=why):
            write_values(str(tmp_path), [(path, "800")])
    assert child.read_bytes() == before


def test_what_belongs_to_a_section_of_a_base_is_refused(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "pack.yaml").write_bytes(PACK.encode())
    (tmp_path / "pack.yaml").write_text("promptc: 1\nname: child\nversion: 1.0.0\nextends: base\n")
    with pytest.raises(UsageError, match="the key around it is in a pack that this one extends"):
        write_values(str(tmp_path), [("sections.rules.budget", "800")])


@pytest.mark.parametrize("path", ["budget", "sections.notes.budget.max", "sections.rules.budget", "sections.tail.budget"])
def test_the_help_for_a_value_of_a_base_can_be_pasted(tmp_path, path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "pack.yaml").write_bytes(PACK.encode())
    child = tmp_path / "pack.yaml"
    child.write_text("promptc: 1\nname: child\nversion: 1.0.0\nextends: base\n")
    with pytest.raises(UsageError) as raised:
        write_values(str(tmp_path), [(path, "80")])
    help = raised.value.diagnostics[0].help
    assert help.startswith("change it there, or write `")
    child.write_text(f"{child.read_text()}{help.split('`')[1]}\n")
    assert find_value(Pack.load(str(tmp_path)).model.manifest, path).value == 80


def test_two_keys_of_a_new_mapping_come_into_one(tmp_path):
    made = change(PACK, sections__rules__budget__min=1, sections__rules__budget__max=7)
    assert made == PACK.replace("pinned: true\n", "pinned: true\n    budget: {min: 1, max: 7}\n")


def test_a_manifest_that_is_a_link_is_not_written(tmp_path):
    (tmp_path / "pack").mkdir()
    other = tmp_path / "other.yaml"
    other.write_bytes(PACK.encode())
    (tmp_path / "pack" / "pack.yaml").symlink_to(other)
    with pytest.raises(DiskError):
        write_values(str(tmp_path / "pack"), [("budget", "800")])
    assert other.read_bytes() == PACK.encode()


def test_a_file_that_changes_meanwhile_is_left(tmp_path, monkeypatch):
    file = tmp_path / "pack.yaml"
    file.write_bytes(PACK.encode())
    load, edited = Pack.load, PACK.replace("shop", "stall")

    def load_and_edit(*given, **named):
        found = load(*given, **named)
        monkeypatch.setattr(atomic, "_fill", lambda *given, **named: (file.write_text(edited), fill(*given, **named)))
        return found

    fill = atomic._fill
    monkeypatch.setattr(Pack, "load", load_and_edit)
    with pytest.raises(DiskError, match="it has changed meanwhile"):
        write_values(str(tmp_path), [("budget", "800")])
    assert file.read_text() == edited and [one.name for one in tmp_path.iterdir()] == ["pack.yaml"]


# --- drawn manifests ---

COMMENTS = st.sampled_from(["", "  # budget: 5", '   # it\'s {max: 3} of "all" &x *x', " #"])


@st.composite
def draw_budget(draw, indent):
    """The YAML of a budget, as authors write it: plain, quoted, in braces or a block, some with an anchor."""
    size, end = draw(st.sampled_from(["40", "'30%'", '"25%"', "30%", "900"])), draw(COMMENTS)
    inner = " " * (indent + 2)
    return draw(
        st.sampled_from(
            [
                f" {size}{end}",
                f"   {size}{end}",
                f" &held{indent} {size}{end}",
                f" {{max: {size}}}{end}",
                f" {{ max : {size} , min: 3}}{end}",
                f" {{tokens: 70,}}{end}",
                f"{end}\n{inner}# most\n{inner}max: {size}{end}\n{inner}min: 7",
                f"{end}\n\n{inner}chars:  {draw(st.sampled_from(['800', '0800']))}{end}",
            ]
        )
    )


@st.composite
def draw_manifest(draw):
    lines = [f"# {draw(COMMENTS)}", "promptc: 1", "name: drawn", "version: 1.0.0", "tokenizer: o200k_base", f"budget: 9000{draw(COMMENTS)}"]
    lines += ["", f"sections:{draw(COMMENTS)}"]
    for at in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            size = draw(st.sampled_from(["60", "{max: 60}", "{min: 2, max: '10%'}", "'5%'"]))
            lines.append(f'  - {{id: s{at}, text: "budget: 7 # {{}}", budget: {size}}}{draw(COMMENTS)}')
            continue
        body = [f"id: s{at}{draw(COMMENTS)}", "text: |\n      budget: 50\n      # none", f"budget:{draw(draw_budget(4))}"]
        body = draw(st.permutations(body))
        lines += [f"  - {body[0]}", *(f"    {one}" for one in body[1:]), *draw(st.sampled_from([[], ["", "  # next"]]))]
    text = draw(st.sampled_from(["", "\ufeff"])) + "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n# end\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


# contract 12.13
@given(draw_manifest(), st.data())
def test_only_tuned_values_of_a_drawn_manifest_change(tmp_path_factory, content, data):
    file = tmp_path_factory.mktemp("drawn") / "pack.yaml"
    file.write_bytes(content)
    knobs = list_knobs(load_manifest(file))
    fixed = list_unwritable(str(file), [one.path for one in knobs])
    for path in fixed:
        assert "&held" in content.decode(), fixed
        with pytest.raises(UsageError, match="PC0668"):
            write_values(str(file), [(path, "11")])
        assert file.read_bytes() == content
    chosen = data.draw(st.lists(st.sampled_from([one for one in knobs if one.path not in fixed]), unique_by=lambda one: one.path))
    tries = [(one.path, one.spell(data.draw(st.integers(8, 99)))) for one in chosen]
    tried = Pack.load(file, tries=tries).model.manifest.plain()
    made = write_values(str(file), tries)
    assert file.read_bytes() == made.after and made.before == content
    assert load_manifest(file).plain() == tried
    lines = content.decode().splitlines(keepends=True)
    for one in made.changes:
        line, column = (int(part) - 1 for part in one.at.rsplit(":", 2)[1:])
        assert lines[line][column:].startswith(one.old)
        lines[line] = lines[line][:column] + one.new + lines[line][column + len(one.old) :]
    assert "".join(lines).encode() == made.after
