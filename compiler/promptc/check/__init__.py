"""What `promptc check` finds wrong with a pack without a state: rules over every combination of cases and tiers.

`registry` lists the rules and tells how to add one; `rules` has them, a file a topic. They stand on what is read where (`texts`), which
type it has there (`scopes`, `schema_types`), at most how long it gets (`bounds`), and on the plans that there are (`configurations`).

Public: `configurations`, `registry`, `rules.items`
"""
