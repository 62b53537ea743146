"""Why a prompt is as it is, for tools that ask: where items went (`items`), and what made each piece of the output (`output`).

Public: `items`, `output`.
"""
