"""The version of this compiler; it is in every report."""

VERSION = "0.1.0"
