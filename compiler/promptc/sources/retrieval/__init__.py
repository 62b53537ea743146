"""Retrieval of chunks from files or from a list in the state, by words and by vectors, with scores that can be explained.

`building` makes an index of documents, `index` stores it on disk, `local` opens it, and `retrieve` queries it; `postgres` stores chunks in
a database. Scores are whole millionths. Nothing here depends on a clock, a random number or the order of files in a folder.

Public: `building`, `encoder`, `index`, `local`, `postgres`, `retrieve`, `scoring`.
"""
