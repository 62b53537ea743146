"""What `promptc check` finds wrong with a pack without a state: rules over every combination of cases and tiers.

`registry` lists the rules, runs them, and says how to add one; `rules` contains them, one file a topic. They build on which text is used
where and what it sees there (`texts`, `schema_types`), upper bounds of sizes (`bounds`), and the plans of the combinations
(`configurations`).

Public: `configurations`, `registry`, `texts`.
"""
