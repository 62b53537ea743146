"""Fitting a selection to its budgets: `fit` grants, and walks ladders of steps notch by notch until all goes in. What leaves is frozen
in `result`; `steps` says what each notch does.

Public: `fit`, `result`, `steps`.
"""
