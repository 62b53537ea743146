"""Findings about a pack, template or state, and the frozen values that all modules of promptc are built on.

`findings` has the findings, the errors, and what each code means. `frozen` and `typed` replace `dataclasses` and `typing`, in a fraction of
the time that importing those takes.

Public: `findings`, `frozen`, `typed`.
"""
