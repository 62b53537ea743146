"""The tests, as a package: one of the same name comes with a tool, and would be found first."""
