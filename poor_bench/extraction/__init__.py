"""From a raw response to its parts: thinking, answer, JSON, number, choice, list, code; all pure.

Every extraction returns the value and how it was found (`poor_bench.extraction.found`), so that
a wrong answer and a badly wrapped one can be told apart.
"""
