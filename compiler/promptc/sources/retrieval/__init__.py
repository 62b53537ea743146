"""Chunks of files or of a list in the state, found by words and by meaning, with scores that can be explained.

`building` makes an index of documents, `index` keeps it on disk, `local` opens it, `retrieve` asks it; `postgres` holds chunks in a
database. Scores are whole millionths; nothing here reads a clock, a random number or the order of a folder.

Public: `building`, `encoder`, `index`, `local`, `postgres`, `retrieve`, `scoring`.
"""
