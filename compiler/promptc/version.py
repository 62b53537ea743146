"""The version of promptc."""

VERSION = "0.1.0"
