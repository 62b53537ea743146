"""Codes of the family `usage`."""

from promptc.diag.codes.code import Code

USAGE_CODES: tuple[Code, ...] = ()
