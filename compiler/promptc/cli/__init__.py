"""The command `promptc`: `main` runs a command line, `commands` has the commands, `views` shows results on a terminal.

`options` declares the options of a render and reads them without click, and `group` has everything that click sees. `shell` runs what
cases call for.

Public: `main`, `shell`, `terminal`, `views`.
"""
