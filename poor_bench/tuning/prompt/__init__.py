"""Better prompts: an LLM reads how a prompt failed and writes another; GEPA steers the search."""
