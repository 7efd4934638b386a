"""What an LLM has to do in a run, seen by whoever hands it out: answering, or judging."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from poor_bench.errors import RecordedError
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.runner.events import RunEvent

Item = TypeVar("Item")
Item_contra = TypeVar("Item_contra", contravariant=True)
Item_co = TypeVar("Item_co", covariant=True)


class Work(Protocol[Item_co]):
    """The items of one LLM."""

    @property
    def llm(self) -> LLM:
        """Who is asked."""

    def __len__(self) -> int:
        """Return how many items there are."""

    def items(self) -> Iterator[Item_co]:
        """Yield them."""


class Execute(Protocol[Item_contra]):
    """Does one item."""

    def execute(
        self, item: Item_contra, run_id: str, cancelled: Callable[[], bool]
    ) -> tuple[Result, RecordedError | None]:
        """Return the result, and the error where it is a failure that was foreseen.

        Raises:
            RunCancelledError: If `cancelled()` turned true.
        """


class Sink(Protocol):
    """Takes what becomes of the items; called from several threads."""

    @property
    def run_id(self) -> str:
        """The run that the results belong to."""

    def store(self, result: Result) -> None:
        """Store a result.

        Raises:
            StoreError: If it could not be stored.
        """

    def tell(self, event: RunEvent) -> None:
        """Tell the listener."""

    def abort(self, error: Exception) -> None:
        """Remember why the run cannot go on."""
