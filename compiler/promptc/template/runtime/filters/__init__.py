"""The filters and tests that templates may use, each paid for before it works. `table` finds them by name and loads their module.

Public: `table`, `text`, `values`
"""
