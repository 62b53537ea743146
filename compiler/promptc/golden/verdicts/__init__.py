"""What came of cases: `judge` judges one, or many in processes (`workers`), by their claims (`expect`) and their goldens (`verdict`).

A golden that differs is `pending` until someone accepts or rejects it.

Public: `expect`, `judge`, `pending`, `verdict`.
"""
