"""MiniWoB++, a public benchmark of small web tasks, as a suite.

The pages come from the PyPI package `miniwob` (MIT licence) and are served as they are, with one
script added: it starts the episode with the seed of the URL and keeps the reward that the page's
own code gives.
"""
