"""Agreement among judges and people, and of a judge with itself; pure statistics."""
