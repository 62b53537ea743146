"""Which cases there are and what each says: `discover` finds and reads them, `case` is one, `confine` keeps its paths within its fence.

Public: `case`, `confine`, `discover`.
"""
