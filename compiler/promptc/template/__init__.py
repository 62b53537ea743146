"""Templates and expressions: checked and lowered to Python once (`parse`, `lower`), run as a pure function of their names (`runtime`).

`compile` loads them, `define` writes out the expressions that a pack names, `allow` says what they may use and how much of it, `place`
where each stands, and `tracing` where each printed character came from. `types` infers before any run what can go wrong in one.

Public: `allow`, `compile`, `define`, `place`, `runtime`, `signatures`, `tracing`, `types`.
"""
