"""The list of keys that work on pages without Ctrl, Alt or Meta."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.dashboard.components.tables import still

TO = "to"
"""Stands between the first and last key of a range."""
KEYS: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "All pages": (
        (("?",), "Keyboard shortcuts"),
        (("Escape",), "Close"),
    ),
    "Tables of Overview, Model": (
        (("↑", "↓", "←", "→"), "Move"),
        (("Enter",), "Open or sort"),
    ),
    "Open result, test or case": (
        (("J",), "Next"),
        (("K",), "Previous"),
    ),
    "Rating": (
        (("+",), "Rate 1"),
        (("-",), "Rate 0"),
        (("0", TO, "9"), "Rate 0.0 to 0.9"),
        (("Backspace",), "Remove"),
        (("C",), "Comment"),
        (("T",), "Tags"),
        (("Enter", "Escape"), "Leave field"),
    ),
    "Replay of a case": (
        (("↑", "↓", "←", "→"), "Previous, next"),
        (("Home", "End"), "First, last"),
        (("Space",), "Play, pause"),
    ),
}
"""Where keys work, to the keys and what they do; the scripts in `assets` bind them."""


def key_list(dialog_id: str) -> Component:
    """Build the dialog that lists all keys; it is closed."""
    content = [
        html.Div(
            [
                html.H2("Keyboard shortcuts"),
                html.Button(
                    "Close", type="button", className="choose-button", **data(close_keys="")
                ),
            ],
            className="card-head",
        ),
        html.Div([_group(*group) for group in KEYS.items()], className="key-groups"),
        html.Button(
            "Single-key shortcuts",
            type="button",
            role="switch",
            className="key-switch",
            **aria(checked="true"),
            **data(single_keys=""),
        ),
    ]
    return html.Dialog(
        still(content), id=dialog_id, className="key-dialog", **aria(label="Keyboard shortcuts")
    )


def _group(title: str, keys: tuple[tuple[tuple[str, ...], str], ...]) -> Component:
    lines = [
        html.Div(
            [
                html.Dt([f" {key} " if key == TO else html.Kbd(key) for key in names]),
                html.Dd(meaning),
            ]
        )
        for names, meaning in keys
    ]
    return html.Section([html.H3(title), html.Dl(lines)])
