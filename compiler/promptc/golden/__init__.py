"""Cases and goldens: what a pack is expected to make of its fixtures, and whether it does."""
