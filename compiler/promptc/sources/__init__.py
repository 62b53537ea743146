"""Where content comes from that is neither in the pack's templates nor in the state: stores of segments, retrieval over indexes.

`address` says where a database is, `database` opens it (a server by `server`). `segments` are the rows of a store, `segment_store` reads
and writes them; `retrieval` finds chunks; `kept` finds in the cache what any of them gave before.

Public: `address`, `database`, `kept`, `retrieval`, `segment_store`, `segments`.
"""
