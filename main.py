"""Console entry: `python main.py COMMAND`; see `python main.py --help`."""

import sys


def start() -> None:
    """Run the command line; Ctrl-C while it is still loading ends it as quietly as later on."""
    try:
        from poor_bench.cli.main import console
    except KeyboardInterrupt:
        sys.exit(130)
    console()


if __name__ == "__main__":
    start()
