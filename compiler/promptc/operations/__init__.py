"""State operations (contract.md §9): changes of a state, in addition to rendering it.

`run` runs an operation and `edits` changes the state: both are pure. `state_file`, `archive` and `restore` read and write files, `endpoint`
sends a request to a model, `results` are the values that the library returns.

Public: `archive`, `edits`, `endpoint`, `restore`, `results`, `run`, `state_file`.
"""
