"""Sources of content outside the pack's templates and the state: stores of segments, retrieval from indexes, and tables of Arrow.

`address` parses the URL of a database, and `database` opens it (a server through `server`). `segments` defines the rows of a store;
`segment_store` reads and writes them. `retrieval` finds chunks. `kept` caches what any of them returned. `arrow`
reads states from columns, and makes columns of rows.

Public: `address`, `arrow`, `database`, `kept`, `retrieval`, `segment_store`, `segments`.
"""
