"""What came of cases: `judge` judges one, by its claims (`expect`) and its goldens (`verdict`), and `suite` many, in processes (`workers`).

A golden that differs is `pending` until someone accepts or rejects it.

Public: `expect`, `judge`, `pending`, `suite`, `verdict`.
"""
