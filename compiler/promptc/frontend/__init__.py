"""Loads files into plain models: a pack's manifest, templates and schemas, a state, files of segments, a corpus.

`pack` compiles a pack, `kept_pack` finds a compiled pack in the cache, `state` loads a state, `sources` opens the sources that a pack names
outside its files, and `corpus` reads the documents of an index. `yaml` and `json` parse text and know the place of every value.

Public: `corpus`, `json`, `kept_pack`, `manifest`, `output`, `pack`, `schema`, `segments`, `shape`, `sources`, `state`, `texts`, `yaml`.
"""
