"""Web entry: `python dashboard.py`, then http://127.0.0.1:8050; `--help` says more."""

import sys

from poor_bench.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["dashboard", *sys.argv[1:]]))
