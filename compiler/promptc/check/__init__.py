"""What `promptc check` finds wrong with a pack before there is a state: rules over every combination of cases and tiers.

`registry` lists the rules, asks them, and tells how to add one; `rules` has them, a file a topic. They stand on what is read where
(`texts`), its type there (`scopes`, `schema_types`), how long it gets at most (`bounds`), and the plans there are (`configurations`).

Public: `configurations`, `registry`, `scopes`, `texts`.
"""
