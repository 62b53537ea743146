"""What authors see, change and tune: how the files of a pack are laid out (`layout`), values changed at their place (`splice`), what is
found mended (`mend`), budgets over many states (`tune`), changes of files told (`watch`), a prompt on a page while its pack changes
(`view`, `page`, `server`), or on one that is a file (`static`), and what an editor is told of its packs (`editor`).

Public: `editor`, `layout`, `mend`, `page`, `server`, `splice`, `static`, `tune`, `watch`.
"""
