"""A pending golden and the one it would replace, side by side."""

from pathlib import Path

from promptc.compare import Difference
from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import field, frozen
from promptc.files.reading import IrregularError, LinkError, read_file
from promptc.golden.cases.case import PENDING, name_golden
from promptc.golden.compare_outputs import PROMPTS, GoldenOutput, compare_outputs
from promptc.golden.find_kind import find_kind
from promptc.golden.find_stale import find_stale
from promptc.golden.pending import PendingGolden
from promptc.golden.read_plain import MAX_PLAIN_BYTES

_HELP = "`promptc test` writes what differs now"


@frozen(eq=False)
class Seen:
    """What is shown of a pending golden: `found`, from the bytes `old` (None: no golden yet, or no file) and `new`; and the files it was
    made of that are others now (`stale`).
    """

    found: Difference
    old: bytes | None = field(repr=False)
    new: bytes = field(repr=False)
    stale: tuple[str, ...] = ()

    def is_as(self, other: "Seen") -> bool:
        """Whether the same would be accepted in place of the same."""
        return (self.old, self.new, self.stale) == (other.old, other.new, other.stale)


def read_pending(pending: PendingGolden) -> Seen:
    """What differs. Prompts are compared section by section where the case's own reports say which is where, other goldens as a whole.

    Raises `DiskError` (PC0945) for a file that cannot be read, and for a pending golden that is not there any more.
    """
    kind, turn = find_kind(pending.name)
    old, new = _read(pending, pending.name), _read(pending, pending.name + PENDING)
    if new is None:
        is_there = Path(pending.folder, pending.name + PENDING).is_symlink() or Path(pending.folder, pending.name + PENDING).exists()
        reason = "is no file" if is_there else "is not there any more"
        raise DiskError([Diagnostic("PC0945", f"{pending.path}{PENDING} {reason}", help=_HELP)])
    reports: tuple[bytes | None, bytes | None] = (None, None)
    if kind in PROMPTS:
        name = name_golden("report", turn)
        golden = _read(pending, name)
        reports = (golden, _read(pending, name + PENDING) or golden)
    found = compare_outputs(kind, GoldenOutput(old or b"", reports[0] if old is not None else None), GoldenOutput(new, reports[1]))
    return Seen(found, old, new, find_stale(pending))


def _read(pending: PendingGolden, name: str) -> bytes | None:
    """None where nothing is, or no file: links are not followed."""
    try:
        return read_file(Path(pending.folder, name), MAX_PLAIN_BYTES)
    except (FileNotFoundError, IrregularError, LinkError):
        return None
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0945", f"cannot read {pending.path}: {wrong.strerror or wrong}")]) from wrong
