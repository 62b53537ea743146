"""Texts: what counts as white, their normal forms, JSON, cuts, differences, moments, and keeping content from being read as structure.

`characters` is below all others; `guard` defuses; `json` renders, digests and points; `cutting` cuts to a count of `counters`; `pattern`
matches a schema's patterns.

Public: `characters`, `counters`, `cutting`, `diff`, `guard`, `json`, `moment`, `pattern`, `pictures`.
"""
