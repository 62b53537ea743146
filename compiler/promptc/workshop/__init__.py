"""Tools for authors, to view, edit and tune their packs.

`layout` lays out the files of a pack, `splice` changes values in place, `mend` fixes findings, `tune` measures budgets over many states,
and `watch` waits for files to change. `view`, `page` and `server` show a prompt on a page while its pack changes, or write that page to one
file, and `editor` answers an editor's questions about packs.

Public: `editor`, `layout`, `mend`, `page`, `server`, `splice`, `tune`, `watch`.
"""
