"""What can be said about a pack, template or state, and the values it is said with: every module of promptc stands on these.

`findings` are findings, errors, and what each code means; `frozen` and `typed` stand for `dataclasses` and `typing` at a
fraction of the time that importing those takes.

Public: `findings`, `frozen`, `typed`.
"""
