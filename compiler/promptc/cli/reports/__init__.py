"""Verdicts and findings in the shapes that other programs read."""
