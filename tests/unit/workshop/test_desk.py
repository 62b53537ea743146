"""What an editor is told anew, and what not."""

import shutil

from promptc.workshop.desk import Desk
from tests.contract.sources import ROOT


def test_counts_are_new_where_a_count_or_the_place_of_a_section_is_another(tmp_path):
    shutil.copytree(ROOT / "starters" / "chat", tmp_path / "chat")
    manifest = tmp_path / "chat" / "pack.yaml"
    text, desk = manifest.read_text(encoding="utf-8"), Desk()

    def is_told(text: str) -> bool:
        (pack,) = desk.hold(str(manifest), text)
        assert pack.load()
        return pack.count("")

    assert is_told(text)
    assert not is_told(text)
    assert not is_told(f"{text}# an afterthought\n")
    assert is_told(f"# what stands below has moved\n{text}")
    assert is_told(text.replace("budget: 80 ", "budget: 20 "))


def test_a_file_that_was_a_manifest_is_one_until_it_is_closed(tmp_path):
    """While its first line is typed anew, the findings must not stay as they were."""
    manifest, desk = str(tmp_path / "tavern.yaml"), Desk()
    (pack,) = desk.hold(manifest, "promptc: 1\n")
    assert desk.hold(manifest, "promtc: 1\n") == [pack]
    assert not pack.load()
    assert [one.message.partition(":")[0] for one in pack.findings] == ["this is not a manifest"]
    desk.release(manifest)
    assert not desk.packs


def test_a_manifest_that_is_not_saved_yet_is_that_of_the_files_beside_it(tmp_path):
    template, desk = tmp_path / "templates" / "rules.md.j2", Desk()
    (pack,) = desk.hold(str(tmp_path / "pack.yaml"), "promptc: 1\n")
    assert desk.hold(str(template), "x") == [pack]
    desk.release(str(tmp_path / "pack.yaml"))
    assert not desk.packs, "nothing is left of it"


def test_manifests_that_come_and_go_on_the_disk_are_seen(tmp_path):
    manifest, template, desk = tmp_path / "pack.yaml", tmp_path / "rules.md.j2", Desk()
    assert desk.hold(str(template), "x") == []
    manifest.write_text("promptc: 1\n", encoding="utf-8")
    assert desk.renew() == []
    (pack,) = desk.packs.values()
    manifest.unlink()
    assert desk.renew() == [pack]
    assert not desk.packs


def test_a_file_that_is_opened_while_its_pack_is_loaded_is_not_overlooked(tmp_path):
    shutil.copytree(ROOT / "starters" / "chat", tmp_path / "chat")
    manifest, template = (tmp_path / "chat" / name for name in ("inn.yaml", "templates/rules.md.j2"))
    (tmp_path / "chat" / "pack.yaml").rename(manifest)
    desk = Desk()
    (pack,) = desk.hold(str(manifest), manifest.read_text(encoding="utf-8"))
    for written, is_whole in (("{{ state.nobody }}", True), ("{% if %}", False)):
        assert pack.load() or not is_whole
        assert not pack.is_behind
        desk.hold(str(template), written)
        assert pack.is_behind, "perhaps nobody knew yet that the pack reads it"
        assert pack.load() is is_whole
        assert not pack.is_behind
    assert [one.code for one in pack.findings] == ["PC0401"]
