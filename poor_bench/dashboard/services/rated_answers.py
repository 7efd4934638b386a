"""People's ratings of answers: which results have one, and new ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from poor_bench.dashboard.services.computations import Kept
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import ConfigError
from poor_bench.issues.detect import detect_issues
from poor_bench.issues.detector import Detector, Issue, IssueContext
from poor_bench.labels.label import Label
from poor_bench.labels.ratings import (
    AnswerRatings,
    compute_people_scores,
    edit_rating,
    find_next_moment,
    group_ratings,
)
from poor_bench.labels.storage import extend_labels, fingerprint_labels, read_labels
from poor_bench.models.result import Result
from poor_bench.results.query import RatingFilter
from poor_bench.results.table import ResultTable, TrialKey

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEPT_LLMS = 64
_RATED_TEXTS = ("response", "thinking", "prompt", "system_prompt")


def _now() -> datetime:
    return datetime.now(UTC)


class RatedAnswers:
    """Ratings of the stored answers; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace, results or labels cannot be read.
    """

    def __init__(
        self, files: WorkspaceWatch, results: StoredResults, clock: Callable[[], datetime] = _now
    ) -> None:
        """Read nothing yet.

        Args:
            files: The workspace.
            results: Its results.
            clock: Returns the present time, UTC.
        """
        self._files = files
        self._results = results
        self._clock = clock
        self._ratings: Kept[dict[str, AnswerRatings]] = Kept(1)
        self._rows: Kept[dict[int, AnswerRatings]] = Kept(_KEPT_LLMS)

    def version(self) -> Hashable:
        """Fingerprint that changes with every rating."""
        data_dir = self._files.config().data_dir
        return str(data_dir), *fingerprint_labels(data_dir)

    def of_answer(self, result: Result) -> AnswerRatings:
        """Look up the current ratings of an answer; there may be none."""
        return self._load(self.version()).get(result.answer_id, AnswerRatings(()))

    def read_answer(self, llm_id: str, trial: TrialKey) -> Result | None:
        """Read a stored result with its texts; None if it is not stored."""
        table = self._results.read_stored()
        row = table.find(llm_id, trial)
        return None if row is None else next(table.whole([row]))

    def of_llm(self, llm_id: str) -> dict[int, AnswerRatings]:
        """Find the rows of `StoredResults.read_stored` with a rated answer of an LLM."""
        table, version = self._results.read_stored(), self.version()
        return self._rows.get(
            (llm_id, table.version, version),
            lambda: _find_rated(table, table.find_rows(llm_id), self._load(version)),
        )

    def select(
        self, table: ResultTable, llm_id: str, rows: NDArray[np.int64], wanted: RatingFilter
    ) -> NDArray[np.int64]:
        """Keep the rows that a filter wants, in their order."""
        import numpy as np

        rated = self.of_llm(llm_id)
        if wanted is RatingFilter.DISPUTED:
            rated = {
                row: given
                for row, given in rated.items()
                if given.disagrees_with(table.number("score", row))
            }
        is_rated = np.isin(rows, np.fromiter(rated, dtype=np.int64, count=len(rated)))
        kept: NDArray[np.int64] = rows[~is_rated if wanted is RatingFilter.UNRATED else is_rated]
        return kept

    def rate(
        self, llm_id: str, trial: TrialKey, answer_id: str, who: str, edits: Mapping[str, Any]
    ) -> Result:
        """Change a person's rating of an answer; the same as before is not stored again.

        Args:
            llm_id: The model.
            trial: Which of its results.
            answer_id: The answer that the person sees.
            who: Name of the person.
            edits: What changes of `score`, `note` and `tags`, see `rate_answer`. The rest stays as
                it is stored: another tab may have written it.

        Raises:
            ConfigError: If the answer is not the stored one any more, or a value cannot be used.
            StoreError: If it cannot be stored.
        """
        result = self.read_answer(llm_id, trial)
        if result is None or result.answer_id != answer_id:
            raise ConfigError(
                f"{trial.test_id} has a new answer; rating not stored",
                hint="Rate it.",
            )

        def choose(stored: list[Label]) -> list[Label]:
            given = [each for each in stored if each.about == answer_id]
            when = find_next_moment(given, self._clock())
            return edit_rating(result, given, edits, who=who, when=when)

        try:
            extend_labels(self._files.config().data_dir, choose)
        except ValueError as error:
            raise ConfigError(str(error)) from error
        return result

    def issues(
        self, table: ResultTable, llm_ids: Sequence[str], detectors: Sequence[Detector]
    ) -> list[Issue]:
        """Find where people disagree with the evaluators of some LLMs.

        Args:
            table: The results that count.
            llm_ids: The LLMs.
            detectors: Those of `issues.across_trials.PEOPLE`.
        """
        ratings = self._load(self.version())
        context = IssueContext(people=compute_people_scores(ratings))
        if not context.people:
            return []
        rows = [
            row
            for llm_id in llm_ids
            for row in _find_rated(table, table.find_rows(llm_id), ratings)
        ]
        rated = table.whole(rows, _RATED_TEXTS)
        return [*detect_issues(rated, context, detectors=detectors)]

    def _load(self, version: Hashable) -> dict[str, AnswerRatings]:
        """Read the ratings; `version` is theirs."""
        data_dir = self._files.config().data_dir
        return self._ratings.get(version, lambda: group_ratings(read_labels(data_dir)))


def _find_rated(
    table: ResultTable, rows: NDArray[np.int64], ratings: dict[str, AnswerRatings]
) -> dict[int, AnswerRatings]:
    """Find rated answers among rows; only texts of rated tests are read."""
    tests = {given.labels[0].test_id for given in ratings.values()}
    if not tests:
        return {}
    among = rows[table.find_entries("test_id", tests.__contains__)[rows]].tolist()
    found = {}
    for row, result in zip(among, table.whole(among, _RATED_TEXTS), strict=True):
        given = ratings.get(result.answer_id)
        if given is not None and result.can_be_scored:
            found[row] = given
    return found
