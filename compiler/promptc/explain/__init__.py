"""Why a prompt is as it is, for tools that ask: where items went (`items`), what made each piece of the output (`output`), and which
order of steps would have kept more of it (`slack`).

Public: `items`, `output`, `slack`.
"""
