"""Text: white space, normal forms, JSON, cuts, differences, dates and times, and guards that keep content from being read as structure.

`characters` is the lowest module: it imports none of the others. `guard` escapes; `json` renders JSON, digests it and resolves pointers;
`pattern` matches in linear time; `cutting` cuts a text to a count by one of the `counters`.

Public: `characters`, `counters`, `cutting`, `diff`, `guard`, `json`, `moment`, `pattern`.
"""
