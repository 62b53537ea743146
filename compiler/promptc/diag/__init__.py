"""What can be said about a pack, template or state: places, findings, their codes, and the errors that carry them."""
