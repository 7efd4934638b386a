"""A child for systems that cannot fork: a new interpreter per program, with pipes to us."""

from __future__ import annotations

import os

from poor_bench.sandbox.inside.child import live
from poor_bench.sandbox.inside.preload import forget_project
from poor_bench.sandbox.inside.python_files import import_folders
from poor_bench.sandbox.inside.streams import Output
from poor_bench.sandbox.inside.walls import Walls
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.wire.channel import Channel, DescriptorConnection


def main() -> None:
    """Carry out the order that comes over stdin, with stdout for answers and stderr for output."""
    channel = Channel(DescriptorConnection(os.dup(0), os.dup(1)))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    forget_project(import_folders())
    walls = Walls(dict.fromkeys(Mechanism, ""), readable=())
    live(channel, walls, Output(), is_apart=True)
