"""Tests: what is asked, what is wrong with it, and how hard it proves to be."""
