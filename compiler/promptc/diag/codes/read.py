"""Codes of the family `read`."""

from promptc.diag.codes.code import Code

READ_CODES: tuple[Code, ...] = ()
