"""Token counters behind one protocol: `counter` has it and the memory around it, `exact` loads one by name, `bpe` holds the vocabularies.

Public: `bpe`, `counter`, `exact`.
"""
