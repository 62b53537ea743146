"""Codes of the family `state`."""

from promptc.diag.codes.code import Code

STATE_CODES: tuple[Code, ...] = ()
