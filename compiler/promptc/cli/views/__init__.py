"""The views of commands: each collects its figures as plain values and renders them as text of a given width.

Public: `blockmap`, `difference`, `drawing`, `meter`, `story`, `verdict`.
"""
