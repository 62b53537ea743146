"""JSON Schema 2020-12 as the compiler reads it: what a schema may say, whether a value fits it, what is wrong with one that does not.

`lint` reads a schema before it judges, `check` writes Python from it that checks values and fills in defaults, `runtime` is what that
code calls, `faults` tells what is wrong with a value, and `fit` says the schema of an answer in a provider's words.

Public: `check`, `faults`, `fit`, `lint`, `runtime`.
"""
