"""The files of a workspace: read, checked, and turned into the models."""
