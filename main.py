"""Console entry: `python main.py COMMAND`; see `python main.py --help`."""

import sys

from poor_bench.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
