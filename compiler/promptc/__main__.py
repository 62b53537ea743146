"""`python -m promptc`: the command line."""

import sys

from promptc.cli.main import main

sys.exit(main())
