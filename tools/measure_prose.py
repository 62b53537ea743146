"""Print how hard documents are to read: Flesch's reading ease by textstat (55 and more is plain) and the longest sentence.

Only prose counts: no code, no tables, no headings. A piece of code inside a sentence counts as one word. Of the table of codes the
summaries, reasons and fixes count.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LEFT_OUT = re.compile(r"^ *```.*?^ *```$|^(?:#|\||<!--)[^\n]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]+`")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )")
_MARK = re.compile(r"^ *(?:[-*]|\d+\.) +")
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+")


def list_sentences(markdown: str) -> list[str]:
    """The sentences of a document; an item of a list is one, or several."""
    return list(_iter_sentences(_CODE.sub("code", _LINK.sub(r"\1", _LEFT_OUT.sub("\n", markdown)))))


def list_code_sentences(table: str) -> list[str]:
    """The sentences of the table of codes, in its order."""
    return [one for code in tomllib.loads(table).values() for key in ("summary", "why", "fix") for one in list_sentences(code[key])]


def main(names: list[str]) -> int:
    from textstat import textstat

    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        sentences = list_code_sentences(text) if name.endswith("codes.toml") else list_sentences(text)
        ease = textstat.flesch_reading_ease("\n".join(f"{one.rstrip('.:;!?')}." for one in sentences))
        longest = max(sentences, key=lambda one: len(one.split()))
        print(f"{ease:5.1f}  longest {len(longest.split()):2}  {name}: {longest}")
    return 0


def _iter_sentences(prose: str) -> Iterator[str]:
    for paragraph in _PARAGRAPH.split(prose):
        yield from (" ".join(one.split()) for one in _END.split(_MARK.sub("", paragraph).strip()) if one.strip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
