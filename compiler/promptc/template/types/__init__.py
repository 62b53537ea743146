"""The types of values before there are any: what a text of a pack gives, how much it prints at most, and what is wrong in every state.

`infer` is the way in; `types` are the types and `algebra` what is done with them; `bounds` measures, `trials` runs what reads nothing, and
`conditions` finds demands that clash.

Public: `algebra`, `bounds`, `conditions`, `infer`, `trials`, `types`, `walk`.
"""
