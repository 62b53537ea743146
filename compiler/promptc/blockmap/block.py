"""The block map of a pack as values."""

from promptc.blockmap.phrase import Phrase
from promptc.diag.frozen import frozen


@frozen
class Block:
    """One section: where it comes from, what of the state it reads, what bounds it, what it leaves out as said before, and remarks."""

    id: str
    title: str
    role: str
    source: Phrase
    data: tuple[Phrase, ...] = ()
    caps: tuple[Phrase, ...] = ()
    dedupe: tuple[Phrase, ...] = ()
    notes: tuple[Phrase, ...] = ()


@frozen
class BlockChange:
    """What one case, tier or patch makes of one block."""

    block: str
    says: tuple[Phrase, ...]


@frozen
class Variation:
    """A case of an axis, a tier or a patch, the blocks it changes, and what it makes of the plan as a whole. A tier is told by what it
    changes over the one before."""

    kind: str
    name: str
    changes: tuple[BlockChange, ...]
    plan: tuple[Phrase, ...] = ()


@frozen
class BlockMap:
    """Of one plan. `plan` tells which, and how much it may hold; `blocks` are in the order of the output."""

    pack: str
    version: str
    plan: tuple[Phrase, ...]
    blocks: tuple[Block, ...]
    variations: tuple[Variation, ...]
