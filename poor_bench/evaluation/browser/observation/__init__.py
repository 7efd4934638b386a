"""View of a page for an agent."""
