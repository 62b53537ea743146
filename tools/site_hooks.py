"""Hooks with which MkDocs shows this repository: documents outside docs/ become pages, and Markdown is read as in CommonMark.

The links in a document work as links to files. For the site, a link that leaves docs/ is changed to the page or file that the site has for
its target.
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
"""Pages for those who change promptc: the search ranks them below the guides and the reference, like those of `OUTSIDE`."""
SHOWN = ("schemas",)
"""Folders whose files are copied to the site unchanged."""

_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)")
_FENCE = re.compile(r" *(```|~~~)")
_CODE = re.compile(r"`[^`]+`")
_ITEM = re.compile(r"( *)(?:[-*]|\d+\.) +")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files from outside docs/."""
    shown = [path for folder in SHOWN for path in sorted((ROOT / folder).glob("*.json"))]
    for path in [*(ROOT / name for name in OUTSIDE), *shown]:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page's text with links for the site, and lists in the form that Python-Markdown reads."""
    name = page.file.src_uri
    if name in OUTSIDE or name.startswith(ASIDE):
        page.meta["search"] = {"boost": 0.2}
    folder = posixpath.dirname(name if name in OUTSIDE else f"docs/{name}")
    return _LINK.sub(lambda found: found[1] + _lead(found[2], folder, posixpath.dirname(name)), "\n".join(_iter_lines(markdown)))


def _lead(link: str, folder: str, here: str) -> str:
    """Return a link of a document in `folder` of the repository in the form for a page in `here` of the site."""
    target = posixpath.normpath(posixpath.join(folder, link))
    return posixpath.relpath(target.removeprefix("docs/"), here or ".")


def _iter_lines(markdown: str) -> Iterator[str]:
    """Yield lines with the additions that Python-Markdown needs and CommonMark does not.

    These are a blank line before a list, and after paragraphs in an item; an indentation of four for the content of an item; and no
    backslash before a bar for code in a table.
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
