"""How far judges and people agree, and how far a judge agrees with itself; pure statistics."""
