"""The passes of the compiler, each a function from one frozen stage to the next.

The order is `bind`, `strain` (which selects, and gathers what the selection needs), `fit`, `assemble`. `report` describes the result, and
`redact` replaces values that sections must not see with placeholders.

Packages: `items` (one section of items), `layout` (pieces and their counts), `fit` (budgets), `payload` (request bodies).

Public: `assemble`, `bind`, `fit`, `gather`, `items`, `memory`, `payload`, `redact`, `report`, `select`, `strain`.
"""
