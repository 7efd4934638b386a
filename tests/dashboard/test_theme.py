from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from poor_bench.dashboard import theme
from poor_bench.dashboard.theme import SERIES, faint, ink_on_series, series_style

Vector = NDArray[np.float64]
_TO_XYZ = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
_WHITE = [0.9505, 1.0, 1.0889]
SIGHTS = {
    "full": np.eye(3).tolist(),
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""Linear RGB as it is seen: Machado, Oliveira and Fernandes 2009, severity 1.0."""
LEAST_DISTANCE = 20.0
GROUNDS = ("#ffffff", "#13151a")


def linear(color: str) -> Vector:
    value = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: Vector) -> Vector:
    xyz = np.array(_TO_XYZ) @ np.clip(rgb, 0, 1) / np.array(_WHITE)
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = root
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(first: str, second: str) -> float:
    low, high = sorted(float(np.array(_TO_XYZ)[1] @ linear(color)) for color in (first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sight", SIGHTS)
def test_any_two_series_are_told_apart(sight: str) -> None:
    seen = [lab(np.array(SIGHTS[sight]) @ linear(color)) for color in SERIES]
    distances = [float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)]
    assert min(distances) > LEAST_DISTANCE


@pytest.mark.parametrize("ground", GROUNDS)
def test_series_stand_out_from_the_ground_of_both_schemes(ground: str) -> None:
    assert min(contrast(color, ground) for color in SERIES) > 2.2


def test_numbers_on_the_marks_of_llms_can_be_read() -> None:
    for index, color in enumerate(SERIES):
        assert contrast(color, ink_on_series(index)) > 4.5


def test_further_series_take_the_colours_again_with_hatching() -> None:
    styles = [series_style(index) for index in range(3 * len(SERIES))]
    assert len(set(styles)) == len(styles)


def test_a_faint_colour_is_the_same_colour() -> None:
    assert faint("#0072B2") == "rgba(0, 114, 178, 0.14)"


def tokens(scheme: str) -> dict[str, str]:
    """Return the colours of a scheme by their names in the style sheet."""
    sheet = (Path(theme.__file__).parent / "assets" / "10-tokens.css").read_text()
    light, dark = (re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", part) for part in _halves(sheet))
    return dict(light) | (dict(dark) if scheme == "dark" else {})


def _halves(sheet: str) -> tuple[str, str]:
    light, dark = sheet.split("@media screen")
    return light, dark


TEXTS = ("ink", "ink-soft", "ink-faint", "accent", "warning")
SURFACES = ("ground", "surface", "raised", "sunken")
ON_COLOUR = (
    ("surface", "accent"), ("surface", "warning"), ("ink", "mark"), ("ink", "accent-soft"),
    ("ink-soft", "accent-soft"), ("accent", "accent-soft"), ("ink", "warning-soft"),
    ("warning", "warning-soft"), ("ink", "score-low"), ("ink", "score-middle"),
    ("ink", "score-high"),
)  # fmt: skip
LEAST_TEXT, LEAST_SIGN = 4.5, 3.0
"""WCAG 2.2, success criteria 1.4.3 and 1.4.11."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(scheme: str) -> None:
    colour = tokens(scheme)
    pairs = [*((text, behind) for text in TEXTS for behind in SURFACES), *ON_COLOUR]
    measured = {pair: contrast(colour[pair[0]], colour[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in measured.items() if ratio < LEAST_TEXT} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_signs_and_the_frame_of_the_focus_stand_out(scheme: str) -> None:
    colour = tokens(scheme)
    pairs = [(sign, behind) for sign in ("good", "bad", "accent") for behind in SURFACES]
    measured = {pair: contrast(colour[pair[0]], colour[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in measured.items() if ratio < LEAST_SIGN} == {}
