"""Labels by people: stored, exchanged as CSV, compared with judges."""
