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
