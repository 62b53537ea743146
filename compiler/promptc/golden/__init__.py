"""Cases and their goldens: what a pack is expected to make of its fixtures, whether it does, and which edit moved it.

Cases are found and read (`discover`, `case`, `confine`), run (`environment`, `resources`, `run`), judged (`judge`, `verdict`, `suite`) and
remembered (`inputs`). What differs waits for someone's word (`pending`) and is traced to an edit (`cause`, with `edits` and `git`).

Public: `case`, `cause`, `confine`, `discover`, `environment`, `git`, `inputs`, `judge`, `pending`, `resources`, `suite`, `verdict`.
"""
