"""Token counters with a common protocol.

`counter` defines the protocol and a cache for counts; `exact` loads a counter by name; `bpe` has the vocabularies.

Public: `bpe`, `counter`, `exact`.
"""
