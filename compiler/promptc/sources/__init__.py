"""Sources of content outside the pack's templates and the state: stores of segments, and retrieval from indexes.

`address` parses the URL of a database, and `database` opens it (a server through `server`). `segments` defines the rows of a store;
`segment_store` reads and writes them. `retrieval` finds chunks. `kept` caches what any of them returned.

Public: `address`, `database`, `kept`, `retrieval`, `segment_store`, `segments`.
"""
