"""An index of a pack, asked queries whose answers are known."""

import os

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.typed import Any
from promptc.golden.cases.case import Case
from promptc.golden.find_home import show_path
from promptc.golden.outcome import CaseOutcome
from promptc.golden.read_plain import read_plain

_TOP = 6
_CAP = 1000
_LONGEST = 4_000_000
_TENTHS = 10


def ask_index(pack: Pack, case: Case) -> CaseOutcome:
    """The shares of queries that find their answer, in whole per cent: `recall` among the best six, `recall_in_cap` within the cap.

    Raises `PromptcError` for an index that is not there or cannot be read, and for queries that cannot be.
    """
    from promptc.frontend.corpora import open_corpus
    from promptc.frontend.segments import read_queries
    from promptc.model.sources import CorpusIndex
    from promptc.sources.retrieval.index import judge_index
    from promptc.sources.retrieval.retrieve import ChunkQuery, Retriever

    name, version = case.asked["index"], case.asked.get("version")
    indexes = {one.name: one for one in pack.model.indexes if isinstance(one, CorpusIndex)}
    if name not in indexes:
        raise UsageError([Diagnostic("PC0731", f"the pack has no index `{name}` over files", help=suggest(name, indexes))])
    path = os.path.normpath(os.path.join(case.folder, case.asked["queries"]))
    shown = show_path(path, case.root)
    known = read_queries(read_plain(path, shown, _LONGEST, case.node.value["recall"].value["queries"].span), shown)
    opened = open_corpus(indexes[name], pack.model.counting.counter.digest, version, os.environ)
    retriever = Retriever()

    def ask(query: str) -> Any:
        return retriever.ask(opened, ChunkQuery(query, version=version, floor=0, top=_TOP, candidates=_TOP))

    judged = judge_index(known, ask, floor=ChunkQuery("").floor, top=_TOP, cap=case.asked.get("cap", _CAP))
    return CaseOutcome(0, figures={"recall": judged.recall(_TOP) // _TENTHS, "recall_in_cap": judged.recall_in_cap // _TENTHS})
