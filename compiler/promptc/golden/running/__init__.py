"""Running a case: `run` runs it turn by turn, in the circumstances that `environment` makes, with what cases share in `resources`.

Public: `environment`, `resources`, `run`.
"""
