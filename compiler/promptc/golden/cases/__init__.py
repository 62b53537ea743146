"""Finding and reading cases: `discover` finds and reads them, `case` is one case, `confine` keeps its paths inside its fence.

Public: `case`, `confine`, `discover`.
"""
