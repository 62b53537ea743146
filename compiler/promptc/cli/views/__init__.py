"""What `explain` shows: each view finds its figures as plain values and lays them out as text of a given width."""
