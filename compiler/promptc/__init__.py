"""A compiler for prompts: a pack and a state in, a prompt within its token budget and an account of every token out."""
