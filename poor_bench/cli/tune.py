"""`tune`: find better prompts and parameters."""

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
  {program} tune list                        searches so far
  {program} tune show last                   result of the newest search
  {program} tune accept last                 write its result to the workspace
"""
)


@click.group(epilog=_EPILOG)
def command() -> None:
    """Find a better prompt or better parameters, and test whether the gain is significant.

    Your files change only when you accept a result.
    """


command.add_command(tune_prompt)
command.add_command(tune_params)
command.add_command(list_searches)
command.add_command(show)
command.add_command(accept)
