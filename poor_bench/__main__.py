"""Console entry: `python -m poor_bench COMMAND`."""

from poor_bench.cli.main import console

if __name__ == "__main__":
    console()
