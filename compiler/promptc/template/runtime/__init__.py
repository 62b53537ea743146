"""All that lowered code calls when it runs. Everything is paid for on a `Run` before it is done; nothing here imports Jinja.

`program` holds the code, `run` the account, `callables` and `objects` what a template can name, `values` and `operators` what it does.

Public: `callables`, `errors`, `objects`, `program`, `run`, `values`
"""
