"""JSON Schema 2020-12: checks schemas, checks and fills values, explains faults, and fits schemas to providers.

`lint` checks a schema before it is used. `check` compiles a schema to Python functions that check values and fill in defaults, and
`runtime` contains what these functions call. `faults` explains what is wrong with a value. `fit` rewrites the schema of an answer for a
provider.

Public: `check`, `faults`, `fit`, `lint`, `runtime`.
"""
