"""`python -m promptc`: the command line."""

from promptc.cli.main import main

main()
