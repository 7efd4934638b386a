from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from poor_bench.judge.agreement import measure_agreement
from poor_bench.judge.corrected import choose_next, collect_answers, correct_scores
from poor_bench.judge.judged_run import JudgeRun
from poor_bench.judge.labels import collect_judged_items, make_label
from poor_bench.labels.label import Label
from tests.judge.run_builders import conversation_of, fallback, judgement_of, run_of

N = 60


def judged(scores: Sequence[Sequence[float]], **fields: object) -> JudgeRun:
    """Build a run with one judgement per list of scores."""
    talks = tuple(conversation_of(f"c{n}", "Hi", f"answer {n}") for n in range(len(scores[0])))
    judgements = [
        judgement_of(5, cases={f"c{n}": score for n, score in enumerate(given)}) for given in scores
    ]
    return run_of(*judgements, conversations=talks, n_cases=len(talks), **fields)


def label(run: JudgeRun, case_id: str, score: float, weight: float | None = None) -> Label:
    return make_label(
        run, case_id=case_id, dimension="overall", score=score, who="Ann", when="", weight=weight
    )


def kind_run() -> JudgeRun:
    """Build a run whose judge is 2 points too kind, and unsure about the first 12 answers."""
    rng = random.Random(1)
    first = [2.0 + n % 7 for n in range(N)]
    second = [score + (rng.uniform(-2, 2) if n < 12 else 0) for n, score in enumerate(first)]
    return judged([first, second])


def test_a_kind_judge_is_corrected_by_a_few_labels() -> None:
    run = kind_run()
    labels = [label(run, f"c{n}", n % 7) for n in range(0, N, 5)]
    [score] = correct_scores([run], labels)
    assert (score.judge, score.llm_id, score.n_judged, score.n_labelled) == ("a", "seller", N, 12)
    assert score.corrected is not None
    truth = sum(n % 7 for n in range(N)) / N
    assert score.corrected.low < truth < score.corrected.high < score.judge_mean


def test_few_labels_correct_nothing() -> None:
    run = kind_run()
    [score] = correct_scores([run], [label(run, "c1", 3)])
    assert score.corrected is None


def test_next_answers_have_no_label_and_are_rather_uncertain_ones() -> None:
    run = kind_run()
    drawn = choose_next([run], [label(run, "c0", 3)], 100)
    assert len(drawn) == N - 1
    assert "c0" not in {item.answer.case_id for item in drawn}
    weights = {item.answer.case_id: item.weight for item in drawn}
    assert max(weights, key=weights.__getitem__) in {f"c{n}" for n in range(12)}
    assert min(weights.values()) > 0


def test_the_order_goes_on_where_it_stopped() -> None:
    run = kind_run()
    whole = [item.answer.case_id for item in choose_next([run], [], 10)]
    labels = [label(run, item.answer.case_id, 3, item.weight) for item in choose_next([run], [], 4)]
    assert [item.answer.case_id for item in choose_next([run], labels, 6)] == whole[4:]


def test_drawn_labels_are_weighted_and_chosen_ones_beside_them_speak_for_themselves() -> None:
    run = kind_run()
    drawn = choose_next([run], [], 12)
    labels = [
        label(run, item.answer.case_id, int(item.answer.case_id[1:]) % 7, item.weight)
        for item in drawn
    ]
    rest = [f"c{n}" for n in range(N) if f"c{n}" not in {item.answer.case_id for item in drawn}]
    # A person picks the worst answers: they must not pull the mean down.
    worst = [name for name in rest if int(name[1:]) % 7 == 0]
    [alone] = correct_scores([run], labels)
    [both] = correct_scores([run], [*labels, *(label(run, name, 0) for name in worst)])
    assert alone.corrected is not None
    assert both.corrected is not None
    truth = sum(n % 7 for n in range(N)) / N
    assert alone.corrected.low <= truth <= alone.corrected.high
    assert abs(both.corrected.value - truth) < 0.4


def test_a_newer_score_does_not_undo_how_the_answer_was_drawn() -> None:
    run = kind_run()
    drawn = choose_next([run], [], 20)
    labels = [label(run, item.answer.case_id, n % 7, item.weight) for n, item in enumerate(drawn)]
    again = [label(run, item.answer.case_id, n % 7) for n, item in enumerate(drawn)]
    assert correct_scores([run], [*labels, *again]) == correct_scores([run], labels)
    assert correct_scores([run], again) != correct_scores([run], labels)


def test_models_are_kept_apart_and_fallbacks_count_nothing() -> None:
    one, two = judged([[1.0, 2.0]]), judged([[3.0, 4.0]], run_id="later", llm_id="other")
    failed = run_of(fallback(cases={"hello": 5.0}), llm_id="third")
    assert list(collect_answers([one, two, failed])) == [("sales", "seller"), ("sales", "other")]
    assert [score.judge_mean for score in correct_scores([one, two], [])] == [1.5, 3.5]


def test_conversations_of_one_group_are_not_independent() -> None:
    run = kind_run()
    grouped = replace(
        run,
        conversations=tuple(
            replace(talk, group=f"g{place % 7}") for place, talk in enumerate(run.conversations)
        ),
    )
    labels = [label(run, f"c{n}", n % 7 + n % 2) for n in range(20)]
    [alone], [together] = correct_scores([run], labels), correct_scores([grouped], labels)
    assert alone.corrected is not None
    assert together.corrected is not None
    assert (alone.corrected.n, together.corrected.n, together.corrected.n_all) == (20, 7, 20)
    assert together.corrected.margin > alone.corrected.margin
    agreed = measure_agreement(collect_judged_items([grouped], labels)["a"], 8.0)
    assert agreed.bias is not None
    assert (agreed.bias.n, agreed.bias.n_all) == (7, 20)


def test_conversations_about_one_case_are_one_group() -> None:
    runs = [judged([[5.0, 6.0, 7.0, 8.0, 9.0]], run_id=f"r{n}") for n in range(2)]
    again = replace(
        runs[1],
        conversations=tuple(
            replace(talk, turns=(*talk.turns, talk.turns[0])) for talk in runs[1].conversations
        ),
    )
    labels = [label(run, f"c{n}", n + 1) for run in (runs[0], again) for n in range(5)]
    [score] = correct_scores([runs[0], again], labels)
    assert score.corrected is not None
    assert (score.corrected.n, score.corrected.n_all) == (5, 10)
