"""Codes of the family `pack`."""

from promptc.diag.codes.code import Code

PACK_CODES: tuple[Code, ...] = ()
