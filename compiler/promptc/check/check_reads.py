"""What the texts of a pack read: each is walked once, and asked for what is wrong with it and for what it reads."""

from collections.abc import Iterator, Sequence

from promptc.check.check_kinds import check_kinds
from promptc.check.check_unread import check_unread
from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel


def check_reads(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Reads that do not suit the kinds of what is read, and properties of the state that nothing reads."""
    scopes = Scopes(pack)
    yield from check_kinds(pack, looks, scopes)
    yield from check_unread(pack, looks, scopes)
