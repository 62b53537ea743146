"""The filters and tests that templates may use, each paid for before it works. `table` finds one by its name and loads its module.

Public: `table`.
"""
