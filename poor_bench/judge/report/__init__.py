"""Reports of judged runs: text, JSON and HTML; pure."""
