"""Templates and expressions: checked and lowered to Python once (`parse`, `lower`), run as pure functions of their names (`runtime`).

`compile` has them when they are ready to run. `define` writes out the expressions that a pack names. `allow` lists what they may use, and
the limits on it. `place` maps them to source files, and `tracing` finds the origin of each printed character. `types` infers, before any
run, what can go wrong.

Public: `allow`, `compile`, `define`, `lower`, `place`, `runtime`, `signatures`, `tracing`, `types`.
"""
