"""Frozen values that the passes take and return."""
