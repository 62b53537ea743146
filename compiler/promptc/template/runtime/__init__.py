"""Everything that lowered code calls when it runs. All work is paid for on a `Run` before it is done. Nothing here imports Jinja.

`run` has the account, `callables` and `objects` what a template can name, `values` its operators, and `errors` explains what went wrong.

Public: `callables`, `errors`, `filters`, `objects`, `run`, `values`.
"""
