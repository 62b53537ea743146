"""A golden that waits for someone's word."""

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal

Status = Literal["new", "changed"]


@frozen
class PendingGolden:
    """What a case gave, beside the golden it would replace. `case` is the case's name, `folder` its folder (absolute), `name` the golden's
    file name, `path` the golden from the working folder. `new` has no golden yet, `changed` differs from it.
    """

    case: str
    folder: str
    name: str
    path: str
    status: Status
