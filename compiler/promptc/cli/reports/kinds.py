"""The shapes that other programs read."""

KINDS = ("json", "junit", "sarif", "github", "markdown")
WHOLE = ("json", "junit")
"""Those that tell of cases that passed, too."""
