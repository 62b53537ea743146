"""One section of items, from the list it reads to guarded texts.

The stages are `read`, `arrange` and `render`; `select` runs all three.

Public: `arrange`, `media`, `read`, `render`, `select`.
"""
