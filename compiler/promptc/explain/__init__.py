"""Why a prompt is as it is, for tools that ask.

`items` reports where items went, `output` what made each piece of the output, and `slack` which order of steps would have kept more of it.

Public: `items`, `output`, `slack`.
"""
