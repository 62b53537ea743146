"""What MkDocs needs to show this repository: documents outside docs/ become pages, and Markdown is read as CommonMark reads it.

A document keeps links that work as files. Here a link that leaves docs/ is led to what the site has of its target: a page or a file.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Documents at the top of the repository that are pages, too."""
ASIDE = ("decisions/", "architecture", "contract", "explanation/benchmarks", "explanation/systems", "performance")
"""What is for those who change promptc: the search gives it after the guides and the reference. So it does with `OUTSIDE`."""
SHOWN = ("schemas",)
"""Folders whose files the site holds as they are."""

_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)")
_FENCE = re.compile(r" *(```|~~~)")
_CODE = re.compile(r"`[^`]+`")
_ITEM = re.compile(r"( *)(?:[-*]|\d+\.) +")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what stands outside docs/."""
    shown = [path for folder in SHOWN for path in sorted((ROOT / folder).glob("*.json"))]
    for path in [*(ROOT / name for name in OUTSIDE), *shown]:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page's text with links as the site has them, and lists as Python-Markdown reads them."""
    name = page.file.src_uri
    if name in OUTSIDE or name.startswith(ASIDE):
        page.meta["search"] = {"boost": 0.2}
    folder = posixpath.dirname(name if name in OUTSIDE else f"docs/{name}")
    return _LINK.sub(lambda found: found[1] + _lead(found[2], folder, posixpath.dirname(name)), "\n".join(_iter_lines(markdown)))


def _lead(link: str, folder: str, here: str) -> str:
    """A link of a document in `folder` of the repository, as a page in `here` of the site writes it."""
    target = posixpath.normpath(posixpath.join(folder, link))
    return posixpath.relpath(target.removeprefix("docs/"), here or ".")


def _iter_lines(markdown: str) -> Iterator[str]:
    """Lines with what CommonMark can do without and Python-Markdown cannot: a blank line before a list, and after paragraphs in an item;
    all that an item holds indented by four; and code in a table without a backslash before a bar.
    """
    is_code, is_loose, before = False, False, ""
    missing: int | None = None
    for line in markdown.split("\n"):
        item = None if is_code else _ITEM.match(line)
        if item and before.strip() and (missing is None or (is_loose and not item[1])):
            yield ""
        if item and not item[1]:
            missing, is_loose = max(4 - len(item[0]), 0), False
        elif line[:1].strip():
            missing = None
        is_loose = is_loose or not line
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and line.startswith("|"):
            line = _CODE.sub(lambda code: code[0].replace("\\|", "|"), line)
        before = line
        yield line if line[:1].strip() or not line else " " * (missing or 0) + line
