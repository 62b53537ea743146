"""One section of items, from the list it reads to guarded texts: read, arranged, rendered; `select` does all three.

Public: `arrange`, `read`, `render`, `select`
"""
