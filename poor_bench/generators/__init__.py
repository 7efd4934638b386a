"""Tests made by rule: as many as one wants, never seen by any model, each with its solution."""
