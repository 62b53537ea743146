"""Codes of the family `template`."""

from promptc.diag.codes.code import Code

TEMPLATE_CODES: tuple[Code, ...] = ()
