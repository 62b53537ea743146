"""The rules of `promptc check`, a file a topic: each finds one sort of fault. `check/registry` asks them and tells how to add one.

Public: `budgets`, `items`, `operations`, `overlap`, `reads`, `steps`, `texts`, `variants`.
"""
