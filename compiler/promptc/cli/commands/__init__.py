"""The commands of `promptc`, those that belong together in one module, which is loaded when one of them is called.

Public: `test`
"""
