"""The version of promptc, and the address of its documentation."""

VERSION = "0.1.0"
DOCUMENTATION = "https://OWNER.github.io/promptc"
"""The published site, without a slash at the end. pyproject.toml contains the same address."""
