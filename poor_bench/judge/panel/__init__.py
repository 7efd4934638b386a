"""Several judgements of one thing, by one judge or by a panel of them; pure."""
