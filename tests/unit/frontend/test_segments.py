"""Segments, as files hold them."""

import pytest

from promptc.diag.findings import PromptcError
from promptc.frontend.segments import load_segments


# --- Folders of segments, as a stranger may hand them over ---
def test_a_link_out_of_the_folder_is_refused_and_not_read(tmp_path):
    (tmp_path / "secret").write_text("nobody's business", encoding="utf-8")
    folder = tmp_path / "segments"
    folder.mkdir()
    (folder / "x.md").symlink_to(tmp_path / "secret")
    with pytest.raises(PromptcError, match="PC0174") as wrong:
        load_segments(folder)
    assert "is a symbolic link" in str(wrong.value) and "business" not in str(wrong.value)
