"""Everything that lowered code calls when it runs. It pays on a `Run` for each piece of work before the work is done. Nothing here imports
Jinja.

`program` has the code, `run` the account, `callables` and `objects` what a template can name, `values` its operators, and `errors` explains
what went wrong.

Public: `callables`, `errors`, `filters`, `objects`, `program`, `run`, `values`.
"""
