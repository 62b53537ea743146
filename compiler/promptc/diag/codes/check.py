"""Codes of the family `check`."""

from promptc.diag.codes.code import Code

CHECK_CODES: tuple[Code, ...] = ()
