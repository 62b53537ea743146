"""A case, run: `run` takes it turn by turn, in the circumstances of `environment`, with what cases share in `resources`.

Public: `environment`, `resources`, `run`.
"""
