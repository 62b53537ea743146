"""The command `promptc`: `main` runs a command line, `commands` are the commands, `views` how results look on a terminal.

`options` states what a render is asked and reads it without click, `group` is all that click sees; `shell` does what cases ask for.

Public: `findings`, `main`, `shell`, `terminal`, `views`.
"""
