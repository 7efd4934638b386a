"""Text from models and files, harmless and readable where it is shown."""
