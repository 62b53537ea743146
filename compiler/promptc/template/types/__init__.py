"""The types of values before there are any: what a text of a pack gives, how much it prints at most, and what is wrong in every state.

`infer` is the way in; `types` are the types and `algebra` what is done with them; `conditions` finds demands that clash.

Public: `algebra`, `bounds`, `conditions`, `filters`, `infer`, `trials`, `types`, `walk`
"""
