"""From files to plain models: a pack's manifest, templates and schemas, a state, files of segments, a corpus.

`pack` loads a pack with `manifest`, `shape`, `texts`, `sections`, `output`, `indexes` and `operations`; `kept_pack` finds one again in the
cache. `yaml` and `json` read any text of theirs with the place of every value; `state` and `schema` say what a state may be.

Public: `json`, `kept_pack`, `manifest`, `output`, `pack`, `segments`, `shape`, `sources`, `state`, `yaml`
"""
