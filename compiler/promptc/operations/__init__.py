"""State operations (language.md §9): what a pack can do to a state besides rendering it. All pure; files are written by what stands here
and says so."""
