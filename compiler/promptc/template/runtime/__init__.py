"""All that lowered code calls when it runs. Everything is paid for on a `Run` before it is done; nothing here imports Jinja.

`program` holds the code, `run` the account, `callables` and `objects` what a template can name, `values` what it does, and
`errors` explains what went wrong.

Public: `callables`, `errors`, `filters`, `objects`, `program`, `run`, `values`.
"""
