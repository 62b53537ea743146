"""Retrieval: chunks of files or of a list in the state, found by words and by meaning, with scores that can be explained.

    frontend.open_corpus.open_corpus(index, counter, version) -> the LoadedIndexes of a corpus index that hold that version, checked
    index_state.index_state(name, matching, entries, encoder) -> the LoadedIndex of a list in the state
    retriever.Retriever().ask(indexes, Request(query, ...))   -> Retrieved: found (Found: chunk, index, score), is_sparse, notes ...

One `Retriever` belongs to a pack and remembers. `Found.describe()` is the item a template sees. A `where` or `boost` is a `Condition`: a
callable over `describe_chunk(chunk)`, and a key of all that decides what it says (its expression and the values it reads), without which no
answer is kept. Scores are whole millionths; nothing here reads a clock, a random number or the order of a folder.
"""
