"""Frozen values that all else takes and returns: what a pack declares, a state, what sources hold, and the stages between the passes.

Public: `budget`, `calibration`, `media`, `messages`, `pack`, `section`, `sources`, `stages`, `state`, `tools`.
"""
