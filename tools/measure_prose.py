"""Print how hard documents and messages are to read: Flesch's reading ease by textstat (55 and more is plain) and the longest sentence.

Only prose counts: no code, no tables, no headings. A piece of code inside a sentence counts as one word. Of the table of codes, the
summaries, reasons and fixes count. The messages are those that goldens and pages show, as they are printed; a text that a message quotes
also counts as one word.
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
_PRINTED = re.compile(r"^(?:\S+: )?PC\d{4} (?:(warning|note): )?(.+)")
_HELP = "    help: "
_EXCERPT = re.compile(r" *\d* \|")
_SHOWN = re.compile(r"^```(?:text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_QUOTE = re.compile(r'"[^"]*"')
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+")


def list_sentences(markdown: str) -> list[str]:
    """Return the sentences of a document. An item of a list is one sentence or several."""
    return list(_iter_sentences(_CODE.sub("code", _LINK.sub(r"\1", _LEFT_OUT.sub("\n", markdown)))))


def list_code_sentences(table: str) -> list[str]:
    """Return the sentences of the table of codes, in its order."""
    return [one for code in tomllib.loads(table).values() for key in ("summary", "why", "fix") for one in list_sentences(code[key])]


def list_message_sentences() -> dict[str, list[str]]:
    """Return the sentences of every message that a golden or a page shows, by kind: errors, warnings, notes, helps.

    Duplicates count once.
    """
    found: dict[str, dict[str, None]] = {kind: {} for kind in ("error", "warning", "note", "help")}
    for text in _iter_printed():
        for kind, said in _iter_messages(text):
            found[kind] |= dict.fromkeys(_iter_sentences(_CODE.sub("code", _QUOTE.sub("code", said))))
    return {kind: [*sentences] for kind, sentences in found.items()}


def measure_ease(sentences: list[str]) -> float:
    """Return Flesch's reading ease; 55 and more is plain."""
    from textstat import textstat

    return float(textstat.flesch_reading_ease("\n".join(f"{one.rstrip('.:;!?')}." for one in sentences)))


def main(names: list[str]) -> int:
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        _print_measures(name, list_code_sentences(text) if name.endswith("codes.toml") else list_sentences(text))
    printed = list_message_sentences()
    for kind, sentences in printed.items():
        _print_measures(f"messages, {kind}", sentences)
    _print_measures("messages, all", [one for sentences in printed.values() for one in sentences])
    return 0


def _print_measures(name: str, sentences: list[str]) -> None:
    longest = max(sentences, key=lambda one: len(one.split()))
    print(f"{measure_ease(sentences):5.1f}  longest {len(longest.split()):2}  {name}: {longest}")


def _iter_printed() -> Iterator[str]:
    """Yield texts that a terminal showed: the goldens of diagnostics, those of commands, and the blocks of pages."""
    for folder in ("fixtures", "tests/fixtures"):
        for path in sorted((ROOT / folder).rglob("golden*.diagnostics.txt")):
            yield path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "tests" / "cli" / "goldens").glob("*.txt")):
        yield path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        yield from _SHOWN.findall(path.read_text(encoding="utf-8"))


def _iter_messages(text: str) -> Iterator[tuple[str, str]]:
    """Yield each message and help with its kind. The lines below a message that are not an excerpt continue it."""
    kind = ""
    for line in text.splitlines():
        if printed := _PRINTED.match(line):
            kind = printed[1] or "error"
            yield kind, printed[2]
        elif line.startswith(_HELP):
            yield "help", line.removeprefix(_HELP)
        elif kind and line.startswith("    ") and not _EXCERPT.match(line):
            yield kind, line.strip()
        elif not line.startswith(" "):
            kind = ""


def _iter_sentences(prose: str) -> Iterator[str]:
    for paragraph in _PARAGRAPH.split(prose):
        yield from (" ".join(one.split()) for one in _END.split(_MARK.sub("", paragraph).strip()) if one.strip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
