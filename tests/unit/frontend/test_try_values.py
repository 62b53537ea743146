"""What is tried of a pack counts as if its file said so: paths, values, what is laid over them, and what is kept."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.findings import PromptcError, UsageError
from promptc.frontend.manifest import find_value, iter_numbers, load_manifest
from promptc.model.state import Node
from tests.contract.sources import ROOT
from tests.size import take_part

PACK = """\
promptc: 1
name: tavern
version: 1.0.0
tokenizer: chars/4
budget: 200
define: {low(n): n < 3}
sections:
  - {id: place, text: "You stand in {{ state.place }}.", pinned: true}
  - id: seen
    budget: 9
    items: {from: state.seen, id: item, text: "- {{ item }}"}
    overflow:
      - evict: {floor: 1}
      - drop: {}
  - id: tags
    items: {from: state.tags, text: "# {{ item }}", limit_per: {by: item, caps: {v1.5: 1, v1: 2}}}
patches:
  short: {sections: {seen: {budget: 2}}}
variants:
  mood:
    select: state.mood
    default: calm
    cases: {calm: {}, wild: {sections: {seen: {budget: 5}}}}
strain:
  tiers:
    - {name: low, at: 0}
    - {name: high, at: 0.9, sections: {place: {text: "{{ state.place }}"}}}
truncate: [seen]
"""
STATE: dict[str, Any] = {"place": "the harbour", "seen": ["gulls", "a ladder", "fog"], "mood": "calm", "tags": []}


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    return tmp_path


def _seen(pack: Path, *tries: tuple[str, str], **asked: Any) -> list[str]:
    text = Pack.load(pack, tries=tries).render({**STATE, "mood": asked.pop("mood", "calm")}, **asked).text
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


# contract 12.9
def test_a_value_takes_the_place_of_the_files(pack: Path) -> None:
    assert _seen(pack) == ["gulls", "a ladder", "fog"]
    assert _seen(pack, ("sections.seen.budget", "5")) == ["a ladder", "fog"]
    assert _seen(pack, ("sections.seen.budget", "{max: 2}")) == ["fog"]


def test_of_two_values_for_one_key_the_last_counts_and_a_later_path_goes_through_an_earlier_value(pack: Path) -> None:
    assert _seen(pack, ("sections.seen.budget", "5"), ("sections.seen.budget", "2")) == ["fog"]
    assert _seen(pack, ("sections.seen.budget", "{max: 9}"), ("sections.seen.budget.max", "2")) == ["fog"]


def test_null_takes_a_key_or_an_entry_out(pack: Path) -> None:
    with pytest.raises(PromptcError, match="PC0531"):
        _seen(pack, ("sections.seen.budget", "1"), ("sections.seen.overflow[1]", "null"))
    assert _seen(pack, ("sections.seen.budget", "1")) == []
    assert "harbour" not in Pack.load(pack, tries=[("sections.place", "null"), ("strain", "~")]).render(STATE).text


def test_entries_go_by_name_or_place_and_names_may_hold_dots(pack: Path) -> None:
    assert Pack.load(pack, tries=[("strain.tiers.high.at", "0.1")]).render(STATE).report["strain"] == "high"
    assert Pack.load(pack, tries=[("strain.tiers[1].at", "0.1")]).render(STATE).report["strain"] == "high"
    tags = {**STATE, "tags": ["v1.5"] * 4}
    assert Pack.load(pack, tries=[("sections.tags.items.limit_per.caps.v1.5", "3")]).render(tags).text.count("# v1.5") == 3
    assert _seen(pack, ("define.low(n)", "n < 4")) == ["gulls", "a ladder", "fog"]


def test_keys_that_are_missing_on_the_way_are_made(pack: Path) -> None:
    assert Pack.load(pack, tries=[("output.separator", "'~'")]).render(STATE).text.count("~") == 1


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("sections.sene.budget", "`sections` has no `sene`"),
        ("sections.new", "`sections` has no `new`"),
        ("patches.sort.sections", "`patches` has no `sort`"),
        ("pools.memory.max", "the pack has no `pools`"),
        ("variants.mood.cases.wlid", "`variants.mood.cases` has no `wlid`"),
        ("strain.tiers.hgih.at", "`strain.tiers` has no `hgih`"),
        ("strain.tiers[2].at", "`strain.tiers` has no entry [2]"),
        ("sections[0].budget", "`sections` has no entry [0]"),
        ("sections.seen.overflow.evict", "`sections.seen.overflow` has no `evict`"),
        ("sections.seen.budget.max", "`sections.seen.budget` is 9, which has no `max`"),
        ("sections.seen.limits[0]", "the pack has no list at `sections.seen.limits`"),
        ("sections.", "`sections` has no `.`"),
        ("sections..seen", "`sections` has no `.`"),
        (".", "the manifest has no `.`"),
        ("[", "the manifest has no `[`"),
        ("", "no value is named"),
        ("extends", "a base is laid under the manifest before anything is tried"),
        ("extends.x", "a base is laid under the manifest before anything is tried"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(pack: Path, path: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        Pack.load(pack, tries=[(path, "1")])
    assert [one.code for one in refused.value.diagnostics] == ["PC0718"]
    assert says in refused.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("path", "value", "code", "column"),
    [
        ("sections.seen.budgte", "1", "PC0201", 1),
        ("section.seen.budget", "1", "PC0201", 1),
        ("sections.seen.budget", "-1", "PC0206", 1),
        ("sections.seen.budget", "{max: 1, mni: 2}", "PC0201", 10),
        ("sections.place.text", "'{{ state.plaze }} {{'", "PC0401", 1),
        ("truncate", "[sene]", "PC0251", 2),
        ("sections.seen.budget", "{a: [}", "PC0110", 6),
        ("sections.seen.budget", "!!int 3", "PC0113", 1),
        ("sections.seen.budget", "&a [*a]", "PC0118", 5),
        ("sections.seen.note", '"\x1b"', "PC0104", 2),
        ("sections.seen.note", "\udc80", "PC0101", 1),
    ],
)
def test_what_is_wrong_with_a_value_stands_at_its_place(pack: Path, path: str, value: str, code: str, column: int) -> None:
    with pytest.raises(PromptcError) as refused:
        Pack.load(pack, tries=[(path, value)]).render(STATE)
    found = refused.value.diagnostics[0]
    assert found.code == code and found.span is not None
    assert (found.span.file, found.span.line, found.span.column) == (f"--try {path}", 1, column)


def test_variants_patches_and_tiers_are_laid_over_it(pack: Path) -> None:
    tried = ("sections.seen.budget", "9")
    assert _seen(pack, tried, mood="wild") == ["a ladder", "fog"]
    assert _seen(pack, tried, patches=["short"]) == ["fog"]
    assert _seen(pack, ("patches.short.sections.seen.budget", "9"), patches=["short"]) == ["gulls", "a ladder", "fog"]
    assert _seen(pack, ("variants.mood.cases.wild.sections.seen.budget", "9"), mood="wild") == ["gulls", "a ladder", "fog"]


def test_what_sets_it_too_is_told_once(pack: Path) -> None:
    (found,) = Pack.load(pack, tries=[("sections.seen.budget", "9")]).model.remarks
    assert (found.code, found.level) == ("PC0719", "note")
    assert "`variants.mood.cases.wild` sets `sections.seen.budget`, too, and so does `patches.short`" in found.message
    (tier,) = Pack.load(pack, tries=[("sections.place.text", "here")]).model.remarks
    assert "`strain.tiers.high` sets `sections.place.text`" in tier.message
    assert not Pack.load(pack, tries=[("patches.short.sections.seen.budget", "9")]).model.remarks
    assert not Pack.load(pack, tries=[("sections.seen.overflow[0].evict.floor", "0")]).model.remarks


def test_a_base_gives_way_to_it(pack: Path) -> None:
    child = pack / "child.yaml"
    child.write_text("promptc: 1\nname: child\nversion: 1.0.0\nextends: .\nsections: {seen: {budget: 5}}\n", encoding="utf-8")
    assert _seen(child) == ["a ladder", "fog"]
    assert _seen(child, ("sections.seen.budget", "9")) == ["gulls", "a ladder", "fog"]
    assert _seen(child, ("sections.seen.overflow[0].evict.floor", "3"), ("sections.seen.budget", "9")) == ["gulls", "a ladder", "fog"]


def test_the_report_tells_it_and_the_digest_is_another(pack: Path) -> None:
    plain, tried = (Pack.load(pack, tries=tries).render(STATE).report for tries in ((), [("budget", "200")]))
    assert tried.pop("tries") == ["budget=200"] and "tries" not in plain
    assert tried["digests"].pop("pack") != plain["digests"].pop("pack")
    assert tried == plain


def test_counts_are_kept_and_the_pack_is_not(pack: Path, tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"))

    def render(*tries: tuple[str, str]) -> str:
        with Pack.load(pack, cache, tries=tries) as loaded:
            return loaded.render(STATE).text

    plain = render()
    assert "gulls" in plain and "gulls" not in render(("sections.seen.budget", "2"))
    assert render() == plain
    kept = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    render(("sections.seen.budget", "3"))
    assert [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()] == kept


def test_every_number_can_be_named(pack: Path) -> None:
    manifest = load_manifest(pack)
    found = {path: node.value for path, node in iter_numbers(manifest)}
    assert found["sections.seen.overflow[0].evict.floor"] == 1 and found["strain.tiers.high.at"] == 0.9
    assert all(find_value(manifest, path) is node for path, node in iter_numbers(manifest))
    assert find_value(manifest, "sections.place.budget") is None


# --- as if the file said so ---


def _list_edits() -> list[tuple[str, str]]:
    """The numbers that stand at one path: in the file an alias changes with its anchor, and what is tried changes one path."""
    edits = []
    for pack in sorted((ROOT / "packs").iterdir()):
        numbers = list(iter_numbers(load_manifest(pack)))
        places = [str(node.span) for _, node in numbers]
        edits += [
            (pack.name, path)
            for path, node in numbers
            if not path.startswith(("promptc", "tokenizer")) and places.count(str(node.span)) == 1
        ]
    return edits


def _edit(text: str, node: Node, number: str) -> str:
    """The file with that number where the old one stands."""
    lines = text.splitlines(keepends=True)
    line, start = lines[node.span.line - 1], node.span.column - 1
    assert line[start:].startswith(node.raw)
    lines[node.span.line - 1] = line[:start] + number + line[start + len(node.raw) :]
    return "".join(lines)


def _outcome(path: Path, state: bytes, tries: list[tuple[str, str]]) -> Any:
    """What comes of it, but for places and digests."""
    try:
        outcome = Pack.load(path, tries=tries).compile(state)
    except PromptcError as refused:
        return sorted((one.code, one.message) for one in refused.diagnostics)
    text = outcome.emitted.text if outcome.emitted is not None else sorted((one.code, one.message) for one in outcome.errors)
    cuts = [(one["step"], one["items"], one["count"]) for one in outcome.report["cuts"]]
    return text, outcome.report["tokens"], outcome.report["ladders"].keys(), cuts


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("name", "path"), _list_edits())
def test_it_is_as_if_the_file_said_so(name: str, path: str, tmp_path: Path) -> None:
    state = min((ROOT / "fixtures" / name / "base").glob("*.json")).read_bytes()
    shutil.copytree(ROOT / "packs" / name, tmp_path / name)
    manifest = tmp_path / name / "pack.yaml"
    text = manifest.read_text(encoding="utf-8")
    node = find_value(load_manifest(tmp_path / name), path)
    assert node is not None
    for number in take_part(("0", str(node.value * 2)), 2):
        manifest.write_text(text, encoding="utf-8")
        tried = _outcome(tmp_path / name, state, [(path, number)])
        manifest.write_text(_edit(text, node, number), encoding="utf-8")
        assert tried == _outcome(tmp_path / name, state, [])
