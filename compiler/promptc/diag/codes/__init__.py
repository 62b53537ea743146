"""The table of diagnostic codes: one file a family, `find_code` over them all. A code is never reused."""

from promptc.diag.codes.apply import APPLY_CODES
from promptc.diag.codes.check import CHECK_CODES
from promptc.diag.codes.code import Code
from promptc.diag.codes.compose import COMPOSE_CODES
from promptc.diag.codes.corpus import CORPUS_CODES
from promptc.diag.codes.counter import COUNTER_CODES
from promptc.diag.codes.gather import GATHER_CODES
from promptc.diag.codes.golden import GOLDEN_CODES
from promptc.diag.codes.index import INDEX_CODES
from promptc.diag.codes.offer import OFFER_CODES
from promptc.diag.codes.operation import OPERATION_CODES
from promptc.diag.codes.pack import PACK_CODES
from promptc.diag.codes.payload import PAYLOAD_CODES
from promptc.diag.codes.pending import PENDING_CODES
from promptc.diag.codes.read import READ_CODES
from promptc.diag.codes.render import RENDER_CODES
from promptc.diag.codes.state import STATE_CODES
from promptc.diag.codes.store import STORE_CODES
from promptc.diag.codes.template import TEMPLATE_CODES
from promptc.diag.codes.usage import USAGE_CODES

_FAMILIES = (
    *READ_CODES,
    *STORE_CODES,
    *COUNTER_CODES,
    *INDEX_CODES,
    *PACK_CODES,
    *COMPOSE_CODES,
    *CORPUS_CODES,
    *GATHER_CODES,
    *OFFER_CODES,
    *STATE_CODES,
    *TEMPLATE_CODES,
    *RENDER_CODES,
    *PAYLOAD_CODES,
    *CHECK_CODES,
    *USAGE_CODES,
    *APPLY_CODES,
    *GOLDEN_CODES,
    *PENDING_CODES,
    *OPERATION_CODES,
)
CODES: tuple[Code, ...] = tuple(sorted(_FAMILIES, key=lambda code: code.name))
_BY_NAME = {code.name: code for code in CODES}


def find_code(name: str) -> Code | None:
    """The entry of `PC0123`, or None."""
    return _BY_NAME.get(name)
