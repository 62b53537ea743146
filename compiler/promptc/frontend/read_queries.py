"""Queries whose answers are known, as `promptc index eval` reads them."""

from __future__ import annotations

from promptc.diag.findings import Diagnostic, PromptcError, Source
from promptc.files.reading import decode_text
from promptc.sources.retrieval.index import Answer, KnownAnswer
from promptc.text.guard import find_form

_ANY = "||"


def read_queries(data: bytes, name: str) -> tuple[KnownAnswer, ...]:
    """The queries of a tab-separated file: a query, then FILE#HEADING with `||` between any of several, or nothing where nothing is to be
    found. Further columns are not read, nor is a first line whose first column is `query`, nor are empty lines.

    FILE is the end of a path in the corpus; it ends at the last `#` but where it ends in `.md` before. Raises `PromptcError` with every
    line that is not so (PC0196).
    """
    source = Source(name, find_form("NFC", decode_text(data, name)))
    known: list[KnownAnswer] = []
    wrong: list[Diagnostic] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        columns = line.split("\t")
        if not line.strip() or (number == 1 and columns[0].strip().lower() == "query"):
            continue
        expected = columns[1].strip() if len(columns) > 1 else ""
        answers = [_read_answer(one.strip()) for one in expected.split(_ANY)] if expected else []
        if None in answers or not columns[0].strip():
            message = "an answer is FILE#HEADING" if columns[0].strip() else "a line has no query"
            wrong.append(Diagnostic("PC0196", message, source.span(number, 1), "such as `combat.md#Initiative`, with tabs between columns"))
        known.append(KnownAnswer(columns[0].strip(), tuple(one for one in answers if one is not None)))
    if wrong or not known:
        raise PromptcError(wrong or [Diagnostic("PC0196", "the file has no queries", source.span(1, 1), "write a query, a tab, an answer")])
    return tuple(known)


def _read_answer(given: str) -> Answer | None:
    file, mark, heading = given.partition(".md#")
    if mark:
        file = f"{file}.md"
    else:
        file, mark, heading = given.rpartition("#")
    return Answer(file.removeprefix("/"), heading.strip()) if mark and file and heading.strip() else None
