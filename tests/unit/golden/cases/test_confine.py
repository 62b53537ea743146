"""Where a case belongs."""

import pytest

from promptc.golden.cases.confine import choose_pack, choose_root, is_inside, name_case
from promptc.golden.cases.discover import iter_cases


def make(folder, *files):
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


# contract 14.9
@pytest.mark.parametrize(
    ("files", "case", "root", "pack", "name"),
    [
        (["packs/inn/pack.yaml"], "fixtures/inn/fog", "", "packs/inn", "inn/fog"),
        (["packs/inn/pack.yaml"], "packs/inn/cases/fog", "", "packs/inn", "inn/cases/fog"),
        (["packs/x", "fixtures/inn/fog/pack.yaml"], "fixtures/inn/fog", "", "fixtures/inn/fog", "inn/fog"),
        (["packs/x", "fixtures/inn/pack.yaml"], "fixtures/inn/fog", "", "fixtures/inn", "inn/fog"),
        (["inn/pack.yaml"], "inn/cases/fog", "inn", ".", "cases/fog"),
        (["inn/pack.yaml", "inn/deep/pack.yaml"], "inn/deep/cases/fog", "inn/deep", ".", "cases/fog"),
        ([".git/config"], "tests/prompts/fog", "", "packs/prompts", "tests/prompts/fog"),
        (["a/packs/x", "a/b/packs/x"], "a/b/fixtures/inn/fog", "a/b", "packs/inn", "inn/fog"),
    ],
)
def test_root_pack_and_name(tmp_path, files, case, root, pack, name):
    make(tmp_path, *files, f"{case}/case.yaml")
    folder, wanted = str(tmp_path / case), str(tmp_path / root) if root else str(tmp_path)
    assert choose_root(folder) == wanted
    assert choose_pack(folder, wanted) == pack
    assert name_case(folder, wanted) == name


def test_what_is_looked_into(tmp_path):
    make(tmp_path, "b/case.yaml", "b/golden.txt", "b/golden.txt.new", "a/x/case.yaml", "c/golden.txt", "c/notes.md")
    make(tmp_path, ".git/x/case.yaml", "node_modules/x/case.yaml", "b/__pycache__/case.yaml", "d/state.json")
    (tmp_path / "link").symlink_to("b")
    found = list(iter_cases([str(tmp_path / "b"), str(tmp_path)]))
    shown = [(place.folder.removeprefix(f"{tmp_path}/"), place.goldens, place.is_case) for place in found]
    assert shown == [("a/x", (), True), ("b", ("golden.txt", "golden.txt.new"), True), ("c", ("golden.txt",), False)]


@pytest.mark.parametrize("path", ["a", "a/b.json", "./a", "a..b/c", "..a"])
def test_a_path_that_stays_inside(path):
    assert is_inside(path)


@pytest.mark.parametrize("path", ["", "/a", "..", "../a", "a/../b", "a\\b", "c:/a", "a\0b"])
def test_a_path_that_may_lead_out(path):
    assert not is_inside(path)
