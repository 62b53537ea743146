"""What stands around items and what it all counts: the `layout` of a plan, a `ledger` of pieces, and one `section` on it while it is
fitted.

Public: `layout`, `ledger`, `section`
"""
