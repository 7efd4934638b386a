"""What people think of judged conversations: kept, exchanged as CSV, set against the judges."""
