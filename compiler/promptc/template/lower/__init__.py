"""From Jinja's tree to Python's: `module` checks and lowers a text and the files it brings in, statement by statement, with
`expressions`; `pyast` writes pieces of Python.

Public: `expressions`, `module`, `pyast`.
"""
