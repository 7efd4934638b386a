"""What a browser under test may reach, keep and say; everything else is refused."""
