"""What a section reads: paths of the state, filters as their author wrote them, and the order."""

from collections.abc import Iterator, Mapping

from promptc.blockmap.phrase import Phrase, join_phrases, say
from promptc.model.pack import Assign, Band, PackModel
from promptc.model.section import MICRO, Items, Retrieve, Section, Segments, iter_expressions
from promptc.model.sources import StateIndex

Path = tuple[str, ...]
_ROOTS = ("item", "each")


def describe_data(section: Section, pack: PackModel) -> tuple[Phrase, ...]:
    """The paths of the state, also those behind a `let` or an index, then what is read of each item, then filters and order."""
    reads = frozenset(_iter_reads(section))
    paths = _shorten(_expand(reads, pack))
    found = [join_phrases([say("{}", path) for path in paths], ", ")] if paths else []
    found += [_name_parts(root, reads) for root in _ROOTS if any(path[0] == root and len(path) > 1 for path in reads)]
    return (*found, *(_iter_filters(section.items) if section.items is not None else ()))


def _iter_reads(section: Section) -> Iterator[Path]:
    yield from section.reads
    if section.items is not None:
        for _, code in iter_expressions(section.items.source):
            yield from code.reads


def _expand(reads: frozenset[Path], pack: PackModel) -> set[Path]:
    """The paths of the state: a name of `let` reads what its expression reads."""
    lets = _find_lets(pack)
    return {found for path in reads for found in ((path,) if path[0] == "state" else lets.get(path[0], ()))}


def _find_lets(pack: PackModel) -> Mapping[str, frozenset[Path]]:
    found: dict[str, frozenset[Path]] = {}
    for let in pack.lets:
        value = let.value.value if isinstance(let.value, Band | Assign) else let.value
        inner = (path for read in value.reads for path in ((read,) if read[0] == "state" else found.get(read[0], ())))
        found[let.name] = frozenset(inner)
    return found


def _shorten(paths: set[Path]) -> list[str]:
    """Sorted; a path that another one goes on from is left out, and so is the state itself."""
    kept = [one for one in paths if len(one) > 1 and not any(len(other) > len(one) and other[: len(one)] == one for other in paths)]
    return [".".join(path) for path in sorted(kept)]


def _name_parts(root: str, reads: frozenset[Path]) -> Phrase:
    names = sorted({path[1] for path in reads if path[0] == root and len(path) > 1})
    what = "of each item: " if root == "item" else "of what each item belongs to: "
    return (*say(what), *join_phrases([say("{}", name) for name in names], ", "))


def _iter_filters(items: Items) -> Iterator[Phrase]:
    source = items.source
    if isinstance(source, Segments | Retrieve) and source.where is not None:
        yield say("of the source where {}", source.where.text)
    if isinstance(source, Retrieve):
        yield from (say(f"score {boost.add / MICRO:+g} where {{}}", boost.where.text) for boost in source.boosts)
    if items.where is not None:
        yield say("where {}", items.where.text)
    if items.sort:
        keys = [say("{} falling" if key.desc else "{}", key.by.text) for key in items.sort]
        yield (*say("sorted by "), *join_phrases(keys, ", "))
    if items.group is not None:
        yield say("grouped by {}", items.group.by.text)


def list_index_reads(section: Section, pack: PackModel) -> tuple[Phrase, ...]:
    """The list in the state that an index the section asks is made of."""
    source = section.items.source if section.items is not None else None
    if not isinstance(source, Retrieve):
        return ()
    made = [index for index in pack.indexes if index.name in source.indexes and isinstance(index, StateIndex)]
    return tuple(say("index {} over {}", index.name, index.source.text) for index in made)
