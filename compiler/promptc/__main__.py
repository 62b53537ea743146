"""`python -m promptc` is the command `promptc`."""

import sys

from promptc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
