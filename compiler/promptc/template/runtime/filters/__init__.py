"""The filters and tests that templates may use. Each pays before it works. `table` looks one up by name and loads its module.

Public: `table`.
"""
