"""A process that is killed at a line of a journal, for tests of what is left behind."""

KILLED = """
import os, signal, sys
from pathlib import Path
from poor_bench.runs.journal import JournalWriter
write, n_left = JournalWriter._write, [int(sys.argv[1])]
def counted(self, line):
    if not n_left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    n_left[0] -= 1
    write(self, line)
JournalWriter._write = counted
"""
"""Code for `python -c`: its first argument is the number of lines that are written before."""

KILLED_CONSOLE = f"{KILLED}\nfrom poor_bench.cli.main import main\nmain(sys.argv[2:])"
"""The same for the console; the other arguments are its own."""
