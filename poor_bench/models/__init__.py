"""What things are: frozen data, no behaviour beyond derived values."""
