"""Files: read within a bound, written whole, locked. Nothing that a stranger put in their place is waited for or followed.

Public: `atomic`, `lock`, `paths`, `reading`.
"""
