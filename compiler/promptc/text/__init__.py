"""Texts: what counts as white, their normal forms, JSON, cuts, differences, moments, and keeping content from being read as structure.

`characters` is below all others; `guard` defuses; `json` renders, digests and points; `pattern` matches in linear time; `cutting` cuts
to a count of `counters`.

Public: `characters`, `counters`, `cutting`, `diff`, `guard`, `json`, `moment`, `pattern`.
"""
