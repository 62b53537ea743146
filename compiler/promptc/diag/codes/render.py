"""Codes of the family `render`."""

from promptc.diag.codes.code import Code

RENDER_CODES: tuple[Code, ...] = ()
