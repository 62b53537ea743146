"""One section of items, from the list it reads to guarded texts: `read`, `arrange`, `render`; `select` does all three.

Public: `arrange`, `media`, `read`, `render`, `select`.
"""
