"""Verdicts on cases: `judge` judges one case, or many in processes (`workers`), by their claims (`expect`) and their goldens (`verdict`).

A golden that differs is `pending` until somebody accepts or rejects it.

Public: `expect`, `judge`, `pending`, `verdict`.
"""
