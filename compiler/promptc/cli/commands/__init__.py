"""The commands of `promptc`, those that belong together in one module. `cli/group` loads a module when one of its commands is called."""
