"""This process's side of the sandbox: starting children, and ending them for certain."""
