"""Check the built site.

Every link and anchor must lead somewhere. No page may request anything from another host. Each page must have the headings, list items,
rows, links and pieces of code that its document has according to CommonMark.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
COUNTED = frozenset("h1 h2 h3 h4 li tr pre a".split())
_OWN_LINKS = ("headerlink", "md-content__button")
_REMOTE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"]?)(?:https?:)?//[^)'\"]+")
_BLANKS = re.compile(r"[ \n]+")  # not tabs: they separate the columns of a file
_HOST = "http://site"


class PageParser(HTMLParser):
    """The anchors, links, requests and counted elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.asked: list[str] = []
        self.held: Counter[str] = Counter()
        self._article = 0
        self._code: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors.add(values.get("id", ""))
        if tag == "a":
            self.links += [values["href"]] if "href" in values else []
        else:
            self.asked += [values[name] for name in ("src", "href", "data", "poster") if name in values]
            self.asked += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]
        self._article += tag == "article"
        own = any(name in values.get("class", "") for name in _OWN_LINKS) or values.get("id", "").startswith("__")
        if self._article and tag in COUNTED and not own:
            self.held[f"<{tag}>"] += 1
        if self._article and tag == "code":
            self._code = []

    def handle_data(self, data: str) -> None:
        if self._code is not None:
            self._code.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._article -= tag == "article"
        if tag == "code" and self._code is not None:
            self.held[_BLANKS.sub(" ", "".join(self._code)).strip()] += 1
            self._code = None


def main(arguments: list[str]) -> int:
    site = Path(arguments[0]).resolve()
    pages = {path.relative_to(site).as_posix(): _read_page(path) for path in sorted(site.rglob("*.html"))}
    found = [*_iter_broken(site, pages), *_iter_remote(site, pages), *_iter_lost(pages)]
    print("\n".join(found), file=sys.stderr) if found else None
    links = sum(len(page.links) + len(page.asked) for page in pages.values())
    print(f"{len(pages)} pages, {links} links: {len(found)} wrong")
    return 1 if found or not pages else 0


def _read_page(path: Path) -> PageParser:
    page = PageParser()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _iter_broken(site: Path, pages: dict[str, PageParser]) -> Iterator[str]:
    """Yield links to a file that does not exist, or to an anchor that its page does not have."""
    for name, page in pages.items():
        for link in page.links + page.asked:
            whole = urlsplit(urljoin(f"{_HOST}/{name}", link))
            if f"{whole.scheme}://{whole.netloc}" != _HOST:
                continue
            target = unquote(whole.path).lstrip("/") or "index.html"
            target += "index.html" if target.endswith("/") else ""
            if not (site / target).is_file():
                yield f"{name}: {link}: there is no file {target}"
            elif target in pages and unquote(whole.fragment) not in pages[target].anchors:
                yield f"{name}: {link}: {target} has no anchor {whole.fragment}"


def _iter_remote(site: Path, pages: dict[str, PageParser]) -> Iterator[str]:
    """Yield what a page or a style sheet would request from another host when it is opened."""
    for name, page in pages.items():
        yield from (f"{name}: asks for {link}" for link in page.asked if urlsplit(link).netloc)
    for path in sorted([*site.rglob("*.css"), *site.rglob("*.html")]):
        yield from (f"{path.relative_to(site)}: asks for {found}" for found in _REMOTE.findall(path.read_text(encoding="utf-8")))


def _iter_lost(pages: dict[str, PageParser]) -> Iterator[str]:
    """Yield what the theme's Markdown renders differently from CommonMark: a list that became a paragraph, a table that became text."""
    reader = MarkdownIt("commonmark").enable("table")
    for document in [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"))]:
        name = document.relative_to(ROOT).as_posix().removeprefix("docs/").replace("README.md", "index.md").replace(".md", ".html")
        read = PageParser()
        read.feed(f"<article>{reader.render(document.read_text(encoding='utf-8'))}</article>")
        if name not in pages:
            yield f"{name}: there is no such page"
            continue
        for held in sorted(read.held | pages[name].held):
            if read.held[held] != pages[name].held[held]:
                yield f"{name}: {pages[name].held[held]} times {held!r}, but {read.held[held]} in the document"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
