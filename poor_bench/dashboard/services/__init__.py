"""What pages may ask: plain typed data, nothing of Dash."""
