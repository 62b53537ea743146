"""State operations (contract.md §9): what a pack can do to a state besides rendering it.

`run` does one and `edits` changes the state: both are pure. `state_file`, `archive` and `restore` read and write files, `endpoint` asks a
model, `results` are what the library gives back.

Public: `archive`, `edits`, `endpoint`, `restore`, `results`, `run`, `state_file`.
"""
