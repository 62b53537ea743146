"""The indexes over files of a pack, as the commands of `promptc index` name them."""

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.model.sources import CorpusIndex, StateIndex


def find_corpus_indexes(pack: Pack, names: tuple[str, ...] = ()) -> tuple[CorpusIndex, ...]:
    """Those of that name, or all of them, in the manifest's order. `UsageError` (PC0731) for a name that is none."""
    known = {index.name: index for index in pack.model.indexes if isinstance(index, CorpusIndex)}
    unknown = [name for name in names if name not in known]
    if unknown or not known:
        found = f"the pack has no index `{unknown[0]}` over files" if unknown else "the pack has no index over files"
        help = suggest(unknown[0], known) if unknown and known else 'declare one: `indexes: {rules: {corpus: "rules/*.md"}}`'
        raise UsageError([Diagnostic("PC0731", found, help=help)])
    return tuple(index for name, index in known.items() if not names or name in names)


def find_state_index(pack: Pack, name: str) -> StateIndex | None:
    """The index of that name, if it is over a list in the state."""
    return next((one for one in pack.model.indexes if isinstance(one, StateIndex) and one.name == name), None)
