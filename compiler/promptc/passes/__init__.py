"""The passes of the compiler, each a function from one frozen stage to the next: `bind`, `strain` (which selects, and gathers what that
needs), `fit`, `assemble`; `report` describes what came of them, and `redact` puts placeholders in the place of what sections may not see.

Rooms: `items` (one section of items), `layout` (pieces and their counts), `fit` (budgets), `payload` (request bodies).

Public: `assemble`, `bind`, `fit`, `gather`, `items`, `memory`, `payload`, `redact`, `report`, `select`, `strain`.
"""
