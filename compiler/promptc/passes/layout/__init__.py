"""The layout of the output: what surrounds items, and the exact count of everything.

`layout` is the layout of a plan, `ledger` a run of pieces with its exact count, and `section` one section while it is fitted.

Public: `layout`, `ledger`, `section`.
"""
