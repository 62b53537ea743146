"""Explains a prompt, for tools that show why it is as it is.

`items` reports where items went, `output` what made each piece of the output, and `slack` which order of steps would have kept more.

Public: `items`, `output`, `slack`.
"""
