"""`tune`: better prompts and better parameters."""

from __future__ import annotations

import click

from poor_bench.cli.tune_accept import accept
from poor_bench.cli.tune_kept import list_searches, show
from poor_bench.cli.tune_params import tune_params
from poor_bench.cli.tune_prompt import tune_prompt
from poor_bench.command_line import examples

_EPILOG = examples(
    """
  {program} tune prompt math_problems --llm ollama:gemma3:1b --reflection-llm openai:gpt-5
  {program} tune params all --llm ollama:gemma3:1b --param temperature=0,0.4,0.8
  {program} tune list                        the searches so far
  {program} tune show last                   what the newest one found
  {program} tune accept last                 write what it found into the workspace
"""
)


@click.group(epilog=_EPILOG)
def command() -> None:
    """Find a better prompt or better parameters, and prove that they are better.

    Nothing is changed before you accept it.
    """


command.add_command(tune_prompt)
command.add_command(tune_params)
command.add_command(list_searches)
command.add_command(show)
command.add_command(accept)
