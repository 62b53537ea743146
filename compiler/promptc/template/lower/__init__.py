"""Lowers Jinja's trees to Python: `module` checks a text and the files it includes, and lowers their statements.

`expressions` lowers expressions, and `pyast` builds pieces of Python.

Public: `expressions`, `module`, `pyast`.
"""
