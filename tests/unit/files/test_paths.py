"""No path of a pack leads out of its folder."""

import contextlib
import os

import pytest

from promptc.api import Pack
from promptc.diag.findings import DiskError, PromptcError, Span
from promptc.files import paths
from promptc.files import reading as reading
from promptc.files.paths import name_shipped, read_pack_file
from promptc.files.reading import MAX_PACK_FILE, check_pack_path
from promptc.frontend.texts import PackFiles

SPAN = Span("pack.yaml", 7, 13)


@pytest.fixture
def pack(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    folder = tmp_path / "pack"
    (folder / "moods").mkdir(parents=True)
    (folder / "rules.md").write_bytes(b"one\r\ntwo\rthree\n")
    (folder / "moods" / "calm.md").write_text("calm")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "inner.md").symlink_to("rules.md")
    (folder / "gone.md").symlink_to("nothing")
    (folder / "out").symlink_to(outside)
    return folder


@pytest.fixture(params=["stepwise", "checked"])
def way(request, monkeypatch):
    """Both ways of opening: by name in an open folder, and for systems that cannot, by path."""
    monkeypatch.setattr(reading, "_STEPWISE", request.param == "stepwise")


def finding(folder, relative):
    with pytest.raises(PromptcError) as caught:
        read_pack_file(folder, relative, SPAN)
    (found,) = caught.value.diagnostics
    assert found.span == SPAN
    return found


# contract 3.16
def test_files_are_read_as_they_stand_and_texts_with_plain_line_ends(pack, way):
    assert read_pack_file(pack, "rules.md", SPAN) == b"one\r\ntwo\rthree\n"
    assert PackFiles().read_text(str(pack), "rules.md", SPAN) == "one\ntwo\nthree\n"
    assert PackFiles().read_text(str(pack), "moods/calm.md", SPAN) == "calm"


# contract 3.15
@pytest.mark.parametrize(
    "relative",
    [
        "", "../outside/secret.md", "moods/../../outside/secret.md", "moods/../rules.md", "..", ".", "./rules.md",
        "moods//calm.md", "moods/",
        "/etc/passwd", "~/x", "~root/x", "moods\\calm.md", "..\\x", "C:x", "file:/etc/passwd", "http://x/y",
        "a\0b", "a\nb", "a\x7fb",
        "con", "CON.md", "moods/aux.j2", "LPT1", "rules.md.", "rules.md ", "what?", "a*", "a|b", 'a"b', "<a>", "x" * 256, "é" * 130,
        "/".join(["a"] * 300), "\ud800",
    ],
)  # fmt: skip
def test_only_plain_relative_paths_are_read(pack, way, relative):
    assert check_pack_path(relative)
    assert finding(pack, relative).code == "PC0150"


@pytest.mark.parametrize("relative", ["rules.md", "a/b/c.j2", "é.md", "a b.md", ".hidden", "...x", "console.md", "%2e%2e/x", "${HOME}/x"])
def test_plain_paths_are_plain(relative):
    assert check_pack_path(relative) is None


# contract 3.15
@pytest.mark.parametrize("relative", ["link.md", "inner.md", "gone.md", "out/secret.md"])
def test_links_are_not_followed(pack, way, relative):
    assert finding(pack, relative).code == "PC0152"


def test_a_missing_file_is_named_with_the_nearest_one(pack, way):
    found = finding(pack, "moods/clam.md")
    assert (found.code, found.help) == ("PC0151", "did you mean `moods/calm.md`?")
    assert finding(pack, "rules.md/x").code == "PC0151"
    assert finding(pack, "nowhere/x.md").code == "PC0151"


def test_only_regular_files_are_read(pack, way):
    os.mkfifo(pack / "pipe")
    assert finding(pack, "pipe").code == "PC0153"
    assert finding(pack, "moods").code == "PC0153"


def test_size_is_bounded(pack, way):
    (pack / "big").write_bytes(b"x" * (MAX_PACK_FILE + 1))
    assert finding(pack, "big").code == "PC0102"
    (pack / "big").write_bytes(b"x" * MAX_PACK_FILE)
    assert len(read_pack_file(pack, "big", SPAN)) == MAX_PACK_FILE


def test_what_cannot_be_read_is_an_error_of_the_disk(pack, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reading, "_open_stepwise", refuse)
    monkeypatch.setattr(reading, "_open_checked", refuse)
    with pytest.raises(DiskError, match=r"PC0154 `rules.md` cannot be read: Permission denied"):
        read_pack_file(pack, "rules.md", SPAN)


def test_a_file_that_is_no_text_is_reported_at_its_own_place(pack):
    (pack / "bad.md").write_bytes(b"ok\nno\xff")
    with pytest.raises(PromptcError) as caught:
        PackFiles().read_text(str(pack), "bad.md", SPAN)
    assert str(caught.value.diagnostics[0].span) == "bad.md:2:3"


def test_no_file_stays_open(pack):
    before = _count_open()
    for relative in ("rules.md", "moods", "link.md", "moods/none.md", "out/secret.md"):
        with contextlib.suppress(PromptcError):
            read_pack_file(pack, relative, SPAN)
    assert _count_open() == before


def _count_open():
    opened = os.open(os.devnull, os.O_RDONLY)
    os.close(opened)
    return opened


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("quite_other.md.j2", "choose one of `a.md.j2`, `b.md.j2`"),
        ("state", "did you mean `state.json`?"),
        ("templates/a.md.j2", "did you mean `a.md.j2`?"),
        ("x.txt", "add the file, or correct the path, which begins in the pack's folder"),
    ],
)
def test_only_files_that_may_be_meant_are_named(tmp_path, asked, known):
    for name in ("a.md.j2", "b.md.j2", "state.json", ".gitignore", "pack.yaml"):
        (tmp_path / name).write_text("", encoding="utf-8")
    with pytest.raises(PromptcError) as caught:
        read_pack_file(tmp_path, asked, SPAN)
    assert caught.value.diagnostics[0].help == known


NAMED = {
    "pack.yaml": """\
promptc: 1
name: named
version: 1.0.0
tokenizer: {use: o200k_base, calibration: usage.json}
budget: 400
state: {schema: state.schema.json}
output: {format: messages}
tools: [tool.json]
response: answer.json
indexes: {pages: {corpus: "pages/*.md", synonyms: synonyms.yaml}}
sections:
  - {id: rules, template: rules.md.j2}
  - {id: found, items: {from: {retrieve: {index: pages, query: state.ask}}, text: "{{ item.text }}"}}
""",
    "usage.json": "{}",
    "state.schema.json": "{}",
    "tool.json": "{}",
    "answer.json": "{}",
    "synonyms.yaml": "{}",
    "rules.md.j2": "Be brief. {% include 'part.md' %}",
    "part.md": "Part.",
}


@pytest.mark.parametrize("unread", NAMED)
def test_each_file_that_a_manifest_names_is_an_error_of_the_disk_if_it_cannot_be_read(tmp_path, monkeypatch, unread):
    """The exit code is 4, not 3: nothing says that the pack is invalid."""
    for name, text in NAMED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def refuse(path, *more):
        if str(path).endswith(unread):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *more)

    opened = reading.os.open
    monkeypatch.setattr(reading, "_STEPWISE", False)
    monkeypatch.setattr(reading.os, "open", refuse)
    with pytest.raises(DiskError, match=r"PC0(154|419) .*Permission denied"):
        Pack.load(tmp_path / "pack.yaml")


def test_a_checkout_has_it_two_levels_up():
    assert name_shipped("schemas", "pack.schema.json").is_file()


def test_a_wheel_has_it_beside_the_modules(tmp_path, monkeypatch):
    (tmp_path / "schemas").mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path)
    assert name_shipped("schemas", "x.json") == tmp_path / "schemas" / "x.json"
