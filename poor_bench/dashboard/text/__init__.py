"""Text from models and files, made harmless for the place where it is shown."""
