"""Store and summarise judged runs."""
