"""Two prompts, section by section: what a golden, a case or another version of a pack gave, against what is given now."""
