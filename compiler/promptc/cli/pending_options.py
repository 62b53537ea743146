"""How the commands about pending goldens are told which."""

import click

from promptc.cli.find_pending import ONLY as _KINDS

PATTERNS = click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
ALL = click.option("--all", "is_all", is_flag=True, help="All pending goldens.")
ONLY = click.option("--only", type=click.Choice(_KINDS), help="New goldens, or changed ones.")
DIR = click.option("--dir", "folder", metavar="DIR", type=click.Path(), help="Where to look. [the working folder]")
