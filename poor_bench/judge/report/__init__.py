"""What runs of agents say, as sentences, JSON and one HTML file; pure."""
