"""The commands of `promptc`; related commands share a module. `cli/group` imports a module when one of its commands is called."""
