"""Fitting a selection to its budgets: ladders of steps are walked notch by notch. What leaves is in `result`, frozen; the rest are
workings.

Public: `fit`, `result`, `steps`
"""
