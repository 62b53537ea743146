"""The frozen values that passes accept and return: packs, states, the content of sources, and the stages between the passes.

Public: `budget`, `calibration`, `media`, `messages`, `pack`, `section`, `sources`, `stages`, `state`, `tools`.
"""
