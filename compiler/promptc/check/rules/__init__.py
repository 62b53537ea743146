"""The rules of `check`, a file a topic; `check/registry` lists them and tells how to add one."""
