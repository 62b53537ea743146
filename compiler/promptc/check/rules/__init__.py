"""The rules of `promptc check`, one file a topic. Each rule finds one kind of fault. `check/registry` runs them and says how to add one.

Public: `budgets`, `items`, `operations`, `overlap`, `reads`, `steps`, `texts`, `variants`.
"""
