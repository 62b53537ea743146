"""One section of items, from the list it reads to guarded texts.

The stages are `read`, `arrange` and `render`; `select` runs all three. `media` reads parts that are not text.

Public: `arrange`, `media`, `read`, `render`, `select`.
"""
