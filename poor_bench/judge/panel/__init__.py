"""Several judgements of one subject, by one judge or a panel; pure."""
