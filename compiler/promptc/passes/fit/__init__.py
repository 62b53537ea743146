"""Fitting a selection to its budgets.

`fit` grants tokens and walks ladders of steps notch by notch until everything fits. `result` contains the frozen outcome; `steps` defines
what each notch does.

Public: `fit`, `result`, `steps`.
"""
