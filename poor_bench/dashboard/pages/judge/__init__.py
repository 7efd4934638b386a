"""Judge page: conversations, judgements and agreement with people."""
