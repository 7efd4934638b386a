"""Honest statistics of results: pure functions on plain numbers and on `Result` objects.

What every screen needs (`summarise`, the intervals it shows) uses nothing beyond the standard
library, so that a console command starts without the 60 MB and half a second of scipy; comparison,
power and item analysis import numpy or scipy when they are called.
"""
