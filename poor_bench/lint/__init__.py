"""Find what is wrong with the tests themselves: unfair, contradictory, doubled, untested tests."""
