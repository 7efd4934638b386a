"""Judge: agents' conversations, what judges make of them, and what the judges are worth."""
