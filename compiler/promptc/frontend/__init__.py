"""From files to plain models: a pack's manifest, templates and schemas, a state, files of segments, a corpus.

`pack` loads a pack part by part, `kept_pack` finds one again in the cache, `state` loads a state, and `sources` opens what a pack names
outside itself, `corpus` the documents of an index. `yaml` and `json` read any text of theirs and know the place of every value.

Public: `corpus`, `json`, `kept_pack`, `manifest`, `output`, `pack`, `schema`, `segments`, `shape`, `sources`, `state`, `texts`,
`yaml`.
"""
