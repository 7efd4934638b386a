"""pytest plug-in: every test of a workspace, for every LLM, is a pytest item.

```
pytest -p poor_bench.pytest_plugin --poor-bench data
pytest -p poor_bench.pytest_plugin --poor-bench data --poor-bench-run -k "math and gemma3"
```

An item passes where the mean score reaches the pass score. A trial that failed to run, has no
result yet or is out of date is an error, never a failure: nothing is known of the LLM then.
Without `--poor-bench` the plug-in does nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from poor_bench.models.llm import LLM
    from poor_bench.models.result import Result
    from poor_bench.models.test import Test
    from poor_bench.pytest_bench import Bench


_TESTS_FILE = "tests.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; all begin with `--poor-bench`."""
    group = parser.getgroup("poor_bench", "poor_bench: tests of LLMs")
    group.addoption("--poor-bench", metavar="DIR", help="Workspace whose tests become items.")
    group.addoption("--poor-bench-run", action="store_true", help="Run pending tests first.")
    group.addoption(
        "--poor-bench-sandbox",
        type=_read_sandbox_level,
        metavar="LEVEL",
        help="Lowest sandbox level to accept: process, limits, isolated (default) or full.",
    )
    group.addoption(
        "--poor-bench-llm",
        action="append",
        default=[],
        metavar="ID",
        help="Model id or glob.",
    )
    group.addoption(
        "--poor-bench-pass-score",
        "--poor-bench-pass-mark",
        type=_read_pass_score,
        dest="poor_bench_pass_score",
        default=1.0,
        metavar="X",
        help="Mean score at which an item passes; 1.0 by default.",
    )
    group.addoption(
        "--poor-bench-trials", type=_read_trials, default=1, metavar="N", help="Trials per test."
    )


def _read_sandbox_level(name: str) -> str:
    from poor_bench.sandbox import parse_level

    try:
        return parse_level(name).label
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def pytest_configure(config: pytest.Config) -> None:
    """Collect the workspace: alone, or beside what is named on the command line."""
    tests_file = _find_tests_file(config)
    if tests_file is None:
        return
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []
    if str(tests_file) not in config.args and not any("::" in arg for arg in config.args):
        config.args.append(str(tests_file))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the file with the workspace's tests."""
    if file_path == _find_tests_file(parent.config):
        return TestsFileCollector.from_parent(parent, path=file_path)
    return None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Ask what is pending of the items that are left after `-k` and `-m`."""
    config = session.config
    items = [item for item in session.items if isinstance(item, BenchItem)]
    if items and config.getoption("--poor-bench-run") and not config.option.collectonly:
        with _release_output(config), _refuse_without_sandbox(config):
            items[0].bench.run_pending((item.llm, item.test) for item in items)


@contextmanager
def _refuse_without_sandbox(config: pytest.Config) -> Iterator[None]:
    """End the session where code of models may not be run."""
    from poor_bench.cli.sandbox import choose_sandbox
    from poor_bench.errors import ConfigError

    try:
        choose_sandbox(config.getoption("--poor-bench-sandbox"))
        yield
    except ConfigError as error:
        hint = error.hint.replace("--sandbox", "--poor-bench-sandbox")
        raise pytest.UsageError(f"{error}\n{hint}") from error


class TestsFileCollector(pytest.File):
    """The tests of a workspace."""

    def collect(self) -> Iterator[BenchItem]:
        """Yield an item for every LLM and test.

        Raises:
            CollectError: If the workspace is not valid or a filter matches nothing.
        """
        from poor_bench.errors import ConfigError, PoorBenchError
        from poor_bench.pytest_bench import Bench

        llms, trials = (self.config.getoption(f"--poor-bench-{name}") for name in ("llm", "trials"))
        try:
            bench = Bench(self.path.parent, llms, trials)
        except PoorBenchError as error:
            problems = error.problems if isinstance(error, ConfigError) else ()
            lines = [str(error), *(f"  {problem}" for problem in problems), error.hint]
            raise self.CollectError("\n".join(filter(None, lines))) from error
        for llm in bench.llms:
            for test in bench.tests:
                name = f"{test.class_id}/{test.test_id}[{llm.id}]"
                yield BenchItem.from_parent(self, name=name, bench=bench, llm=llm, test=test)


class BenchItem(pytest.Item):
    """One test for one LLM."""

    def __init__(self, *, bench: Bench, llm: LLM, test: Test, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bench = bench
        self.llm = llm
        self.test = test
        self.score = 0.0

    def setup(self) -> None:
        """Find the score; that there is none is an error, since pytest calls it so in a setup."""
        problem = self.bench.find_problem(self.llm, self.test)
        if problem:
            _fail(problem)
        self.score = self.bench.compute_score(self.llm, self.test)
        self.user_properties += [
            ("llm_id", self.llm.id), ("class_id", self.test.class_id), ("score", self.score),
        ]  # fmt: skip

    def runtest(self) -> None:
        """Compare the score with the pass score."""
        pass_score = self.config.getoption("poor_bench_pass_score")
        if self.score < pass_score:
            results = self.bench.list_results(self.llm, self.test)
            _fail(_explain(self.score, pass_score, results))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Locate the test."""
        return self.path, None, self.name


def _fail(text: str) -> None:
    """End an item without a traceback; what LLMs and servers said cannot command the terminal."""
    from poor_bench.messages import harmless

    pytest.fail(harmless(text), pytrace=False)


def _explain(score: float, pass_score: float, results: Iterable[Result]) -> str:
    lines = [f"score {score:.3f} is below {pass_score:g}"]
    for result in results:
        if result.score is not None and result.score < pass_score:
            told = {"response": result.response, "evaluation": result.details}
            lines += [f"--- {name}\n{text[:2000]}" for name, text in told.items() if text]
    return "\n".join(lines)


def _find_tests_file(config: pytest.Config) -> Path | None:
    folder = config.getoption("--poor-bench", default=None)
    return (config.invocation_params.dir / folder / _TESTS_FILE).resolve() if folder else None


def _release_output(config: pytest.Config) -> Any:
    """Build a context in which output reaches the terminal."""
    from contextlib import nullcontext

    manager = config.pluginmanager.getplugin("capturemanager")
    return manager.global_and_fixture_disabled() if manager else nullcontext()


def _read_pass_score(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(text)
    return value


def _read_trials(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value
