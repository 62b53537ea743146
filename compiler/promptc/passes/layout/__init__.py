"""What stands around items and what it all counts: the `layout` of a plan, a `ledger` of pieces with its exact count, and one `section`
while it is fitted.

Public: `layout`, `ledger`, `section`.
"""
