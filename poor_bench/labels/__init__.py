"""Labels: what people say about conversations and answers."""
