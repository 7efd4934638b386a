"""The rating bar of the result panel: thumbs, score, comment and tags of one answer."""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, dcc, html, no_update, set_props
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, icon, number_range
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import ShellIds, bind_script, on_data
from poor_bench.dashboard.services.services import Services
from poor_bench.labels.label import Label
from poor_bench.labels.ratings import find_rating, parse_tags
from poor_bench.models.result import Result
from poor_bench.results.table import TrialKey


class RatingIds(StrEnum):
    """What callbacks of the bar refer to; a page has one bar. `assets/rating.js` knows them."""

    BAR = "rating-bar"
    TARGET = "rating-target-store"
    """The result that is open: `[LLM id, test id, trial, is failure]`; pages write it."""
    READ = "rating-read-store"
    """What was read last, see `BarView.read`."""
    SHOWN = "rating-shown-store"
    """Answer and fields that the boxes were filled with, and an id of that: see `rating.fill`."""
    KEYED = "rating-key-store"
    """Score of a key and a moment: `[0.7, 123]`; null takes the rating back."""
    SENT = "rating-sent-store"
    """What a person did, see `rating.send`: number in order, id of what changed, score of the key,
    what the boxes hold, `SHOWN`."""
    DOWN = "rating-down-button"
    UP = "rating-up-button"
    SCORE = "rating-score-input"
    TAGS = "rating-tags-input"
    NOTE = "rating-note-input"
    WHO = "rating-who-input"
    CLEAR = "rating-clear-button"
    OTHERS = "rating-others-text"


_STORES = (
    RatingIds.TARGET, RatingIds.READ, RatingIds.SHOWN, RatingIds.KEYED, RatingIds.SENT,
)  # fmt: skip
_BOXES = (RatingIds.SCORE, RatingIds.NOTE, RatingIds.TAGS)
_ON, _OFF = "filled", "default"
_PRESSED = "aria-pressed"
_THUMBS = [
    (thumb, look) for look in ("variant", _PRESSED) for thumb in (RatingIds.DOWN, RatingIds.UP)
]


def build_rating_bar() -> Component:
    """Build the bar while no result is open."""
    return html.Div(
        [
            *map(dcc.Store, _STORES),
            html.Div(
                [
                    _thumb(RatingIds.DOWN, "thumb-down", "Rate 0 (-)"),
                    _thumb(RatingIds.UP, "thumb-up", "Rate 1 (+)"),
                    dmc.NumberInput(
                        id=RatingIds.SCORE,
                        **number_range(0, 1),
                        step=0.1,
                        decimalScale=2,
                        clampBehavior="strict",
                        debounce=True,
                        size="xs",
                        placeholder="Score",
                        **aria(label="Your score (0 to 1)"),
                    ),
                    _text_box(RatingIds.NOTE, "Comment", "Comment (C)"),
                    dmc.ActionIcon(
                        icon("close"),
                        id=RatingIds.CLEAR,
                        variant="subtle",
                        color="gray",
                        n_clicks=0,
                        **aria(label="Remove (Backspace)"),
                    ),
                ],
                className="rating-line",
            ),
            html.Div(
                [
                    _text_box(RatingIds.TAGS, "Tags", "Tags, with commas (T)"),
                    _text_box(
                        RatingIds.WHO,
                        "Your name",
                        f"Your name: {default_rater()}",
                        persistence=True,
                    ),
                ],
                className="rating-line",
            ),
            html.Div(id=RatingIds.OTHERS, className="rating-others"),
        ],
        id=RatingIds.BAR,
        className="rating-bar",
        role="group",
        hidden=True,
        **aria(label="Rating"),
    )


def _text_box(box_id: RatingIds, label: str, placeholder: str, **options: Any) -> Component:
    named = options | aria(label=label)
    box: Component = dmc.TextInput(
        id=box_id, debounce=True, size="xs", placeholder=placeholder, **named
    )
    return box


def _thumb(button_id: RatingIds, name: str, label: str) -> Component:
    button: Component = dmc.ActionIcon(
        icon(name),
        id=button_id,
        variant=_OFF,
        color="gray",
        n_clicks=0,
        **aria(label=label, pressed="false"),
    )
    return button


def default_rater() -> str:
    """Name of a person who gives none: the user of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may have no user
        return "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class BarView:
    """What the bar shows of one answer."""

    answer: list[Any] | None
    """`RatingIds.TARGET`, the id of its answer, and the person; None if nothing can be rated."""
    own: Label | None = None
    others: Component | None = None
    sent: Sequence[Any] | None = None
    """What the boxes held when they were last saved, where they were not filled since."""

    @property
    def fields(self) -> tuple[Any, str, str]:
        """Score, comment and tags as the boxes hold them."""
        if self.own is None:
            return "", "", ""
        score = find_rating(self.own)
        return "" if score is None else score, self.own.note, ", ".join(self.own.tags)

    @property
    def read(self) -> list[Any]:
        """As `RatingIds.READ`."""
        return [self.answer, self.fields, self.sent]

    @property
    def thumbs(self) -> tuple[str, str]:
        """Variants of the buttons down and up."""
        score = None if self.own is None else find_rating(self.own)
        return _ON if score == 0.0 else _OFF, _ON if score == 1.0 else _OFF

    @property
    def pressed(self) -> tuple[str, str]:
        """The same for screen readers: values of `aria-pressed`."""
        down, up = ("true" if variant == _ON else "false" for variant in self.thumbs)
        return down, up


def view_bar(services: Services, target: list[Any] | None, who: str | None) -> BarView:
    """Read what the bar shows.

    Args:
        services: Where it is found.
        target: As `RatingIds.TARGET`.
        who: The person; the user of this machine where empty.
    """
    if not target:
        return BarView(answer=None)
    llm_id, test_id, trial, is_failure = target
    result = services.ratings.read_answer(llm_id, TrialKey(test_id, trial, is_failure))
    if result is None or not result.can_be_scored:
        return BarView(answer=None)
    return _view(services, target, result, (who or "").strip() or default_rater())


def _view(services: Services, target: list[Any], result: Result, who: str) -> BarView:
    given = services.ratings.of_answer(result).labels
    return BarView(
        answer=[*target, result.answer_id, who],
        own=next((label for label in given if label.who == who), None),
        others=_others([label for label in given if label.who != who]),
    )


def _others(labels: list[Label]) -> Component | None:
    if not labels:
        return None
    return html.Ul([html.Li(describe_rating(label)) for label in labels])


def describe_rating(label: Label) -> str:
    """Write a rating on one line.

    Example:
        >>> describe_rating(Label(about="answer-0", score=5.0, who="Ann", when="", note="Close"))
        'Ann: 0.50. Close'
    """
    score = find_rating(label)
    said = "no score" if score is None else f"{score:.2f}"
    tags = " ".join(f"[{tag}]" for tag in label.tags)
    return " ".join(part for part in (f"{label.who}: {said}.", label.note, tags) if part)


def save_rating(services: Services, answer: list[Any], edits: Mapping[str, Any]) -> BarView:
    """Store what a person changed, see `RatedAnswers.rate`.

    Raises:
        ConfigError: If the answer is not the stored one any more, or a value cannot be used.
        StoreError: If it cannot be stored.
    """
    *target, answer_id, who = answer
    llm_id, test_id, trial, is_failure = target
    key = TrialKey(test_id, trial, is_failure)
    result = services.ratings.rate(llm_id, key, answer_id, who, edits)
    return _view(services, target, result, who)


class SentBoxes:
    """What boxes held when they were last saved, by the id of what they were filled with.

    Until they are filled anew they differ from that, though nobody edits them any more: sent again,
    they would overwrite what another tab has stored since.
    """

    def __init__(self, most: int = 256) -> None:
        """Know of no boxes; of more than `most` the oldest are forgotten."""
        self._most = most
        self._held: dict[str, tuple[int, list[Any]]] = {}
        self.saving = Lock()
        """Held from the look at what was sent until that is noted: requests may overtake."""

    def of(self, shown: Sequence[Any] | None) -> tuple[int, list[Any] | None]:
        """Look up what was sent last since the boxes were filled with `RatingIds.SHOWN`.

        Its number comes first: what was sent before it and comes after it has nothing new.
        """
        return self._held.get(shown[2], (0, None)) if shown else (0, None)

    def note(
        self, shown: Sequence[Any], number: int, held: Sequence[Any], edits: Mapping[str, Any]
    ) -> list[Any]:
        """Keep and return what the boxes held, with the edits of a button or key."""
        score, note, tags = (read_boxes(held) | dict(edits)).values()
        sent = [score, note, ", ".join(tags)]
        self._held[shown[2]] = number, sent
        for oldest in list(self._held)[: -self._most]:
            self._held.pop(oldest, None)
        return sent


def save_boxes(services: Services, sent: SentBoxes, done: Sequence[Any]) -> BarView | None:
    """Store what a person did, as in `RatingIds.SENT`; None if a later state was stored before.

    Raises:
        ConfigError: As `save_rating`.
        StoreError: As `save_rating`.
    """
    number, trigger, key, held, shown = done
    answer, saved, _ = shown
    with sent.saving:
        newest, known = sent.of(shown)
        if number < newest:
            return None
        edits = choose_edits(trigger, key, held, saved, known)
        view = save_rating(services, answer, edits)
        return replace(view, sent=sent.note(shown, number, held, edits))


def register_rating_bar(app: Dash, services: Services) -> None:
    """Bind the handlers; a page only writes `RatingIds.TARGET`."""
    sent = SentBoxes()
    _register_view(app, services, sent)
    _register_saving(app, services, sent)
    # In the browser: an answer of the server may be older than what a person did meanwhile.
    bind_script(
        app,
        "rating",
        "fill",
        Output(RatingIds.SHOWN, "data"),
        Output(RatingIds.BAR, "hidden"),
        *(Output(box, "value") for box in _BOXES),
        Input(RatingIds.READ, "data"),
        State(RatingIds.SHOWN, "data"),
        *(State(box, "value") for box in _BOXES),
        prevent_initial_call=True,
    )


def _register_view(app: Dash, services: Services, sent: SentBoxes) -> None:
    @on_data(
        app,
        Output(RatingIds.READ, "data"),
        *(Output(*each) for each in _THUMBS),
        Output(RatingIds.OTHERS, "children"),
        Input(RatingIds.TARGET, "data"),
        Input(RatingIds.WHO, "value"),
        State(RatingIds.SHOWN, "data"),
        prevent_initial_call=True,
    )
    def _show(target: list[Any] | None, who: str | None, shown: list[Any] | None) -> Any:
        _, known = sent.of(shown)  # before the rating is read: what is read then has it
        view = replace(view_bar(services, target, who), sent=known)
        return view.read, *view.thumbs, *view.pressed, still(view.others)


def read_boxes(boxes: Sequence[Any] | None) -> dict[str, Any]:
    """Read score, comment and tags, as `RatedAnswers.rate` takes them.

    Args:
        boxes: What the boxes hold; None is empty boxes.
    """
    score, note, tags = boxes or ("", "", "")
    return {
        "score": None if score in {None, ""} else score,
        "note": note or "",
        "tags": parse_tags(tags or ""),
    }


def _register_saving(app: Dash, services: Services, sent: SentBoxes) -> None:
    # In the browser, which knows what came first: requests to the server may overtake each other.
    bind_script(
        app,
        "rating",
        "send",
        Output(RatingIds.SENT, "data"),
        *(Input(button, "n_clicks") for button in (RatingIds.DOWN, RatingIds.UP, RatingIds.CLEAR)),
        Input(RatingIds.KEYED, "data"),
        # Only what a person does: a value may also change because another answer is shown.
        *(Input(box, event) for box in _BOXES for event in ("n_blur", "n_submit")),
        *(State(box, "value") for box in _BOXES),
        State(RatingIds.KEYED, "data"),
        State(RatingIds.SHOWN, "data"),
        State(RatingIds.TARGET, "data"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output(RatingIds.READ, "data", allow_duplicate=True),
        *(Output(*each, allow_duplicate=True) for each in _THUMBS),
        Input(RatingIds.SENT, "data"),
        State(ShellIds.VERSION, "data"),
        prevent_initial_call=True,
    )
    def _save(done: list[Any], version: str) -> Any:
        view = save_boxes(services, sent, done)
        if view is None:
            return (no_update,) * 5
        now = services.version()
        if now != version:
            set_props(ShellIds.VERSION, {"data": now})
        return view.read, *view.thumbs, *view.pressed


def choose_edits(
    trigger: str,
    key: float | None,
    held: Sequence[Any],
    saved: Sequence[Any],
    sent: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """Choose what to change of a rating after a button, a key or an edit.

    Args:
        trigger: Id of what changed.
        key: Score of the last key; None takes the rating back.
        held: What the boxes hold now.
        saved: What the boxes were filled with: one that still holds this was not edited.
        sent: What they held when they were last saved, in place of `saved`: that is stored, or
            another tab has changed it since.
    """
    known = read_boxes(saved if sent is None else sent)
    edits = {name: value for name, value in read_boxes(held).items() if value != known[name]}
    if trigger == RatingIds.CLEAR or (trigger == RatingIds.KEYED and key is None):
        return read_boxes(None) | edits  # a box may be edited before the server hears of the key
    scores = {RatingIds.DOWN: 0.0, RatingIds.UP: 1.0, RatingIds.KEYED: key}
    return edits | ({"score": scores[RatingIds(trigger)]} if trigger in scores else {})
