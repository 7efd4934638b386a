"""The web dashboard: pages over one workspace, with the runner inside."""
