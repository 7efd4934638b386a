"""Console entry: `python main.py COMMAND`; see `python main.py --help`."""

import sys


def start() -> int:
    """Run the command line; Ctrl-C while it is still loading ends it as quietly as later on."""
    try:
        from poor_bench.cli.main import main
    except KeyboardInterrupt:
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(start())
