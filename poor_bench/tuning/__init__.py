"""Improve a model's score: other prompts (`prompt`), other parameters (`params`).

Both search on the tests of the workspace, say honestly whether what they found is better, and
change no file of the user's before the user accepts it.
"""
