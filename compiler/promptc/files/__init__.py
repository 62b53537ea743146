"""Files: read within a bound, written whole. Nothing that a stranger put in their place is waited for or followed."""
