"""Cases and their goldens: what a pack is expected to make of its fixtures, whether it does, and which edit moved it.

Cases are read (`case`, `confine`, `discover`), run (`environment`, `resources`, `run`), judged (`verdict`, `judge`, `suite`), remembered
(`inputs`), settled (`pending`) and explained (`edits`, `cause`, `git`).

Public: `case`, `cause`, `confine`, `discover`, `environment`, `git`, `inputs`, `judge`, `pending`, `resources`, `suite`, `verdict`
"""
