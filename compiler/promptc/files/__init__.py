"""Files: bounded reads, atomic writes, locks. Nothing that a stranger puts in place of a file is waited for or followed.

Public: `atomic`, `lock`, `paths`, `reading`.
"""
