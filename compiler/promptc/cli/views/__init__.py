"""What commands show: each view finds its figures as plain values and lays them out as text of a given width.

Public: `blockmap`, `difference`, `drawing`, `meter`, `story`, `verdict`.
"""
