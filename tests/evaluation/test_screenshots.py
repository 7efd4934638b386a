from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.evaluation import stored_run
from poor_bench.evaluation.stored_run import read_screenshot

PNG = b"\x89PNG\r\n\x1a\n and more"


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "case" / "trial-1").mkdir(parents=True)
    (folder / "case" / "trial-1" / "step.png").write_bytes(PNG)
    (tmp_path / "outside.png").write_bytes(PNG)
    return folder


def test_images_are_known_by_how_they_begin(run_folder: Path) -> None:
    trial = run_folder / "case" / "trial-1"
    (trial / "step.jpg").write_bytes(b"\xff\xd8\xff\xe0 jpeg")
    (trial / "page.png").write_bytes(b"<html><script>alert(1)</script>")
    (trial / "drawing.svg").write_bytes(b"<svg onload='alert(1)'/>")
    image = read_screenshot(run_folder, "case/trial-1", "step.png")
    assert image is not None
    assert (image.content_type, image.data) == ("image/png", PNG)
    jpeg = read_screenshot(run_folder, "case/trial-1", "step.jpg")
    assert jpeg is not None
    assert jpeg.content_type == "image/jpeg"
    assert read_screenshot(run_folder, "case/trial-1", "page.png") is None
    assert read_screenshot(run_folder, "case/trial-1", "drawing.svg") is None


@pytest.mark.parametrize(
    ("artifacts", "name"),
    [
        ("case/trial-1", "../../../outside.png"),
        ("case/trial-1", "..\\outside.png"),
        ("..", "outside.png"),
        ("../..", "etc"),
        ("/etc", "passwd"),
        ("case/trial-1", "missing.png"),
        ("case/trial-1", ""),
        ("", "step.png"),
        ("case", "trial-1"),
        ("case/trial-1", "step.png\0.txt"),
    ],
)
def test_nothing_outside_of_a_trial_is_read(run_folder: Path, artifacts: str, name: str) -> None:
    assert read_screenshot(run_folder, artifacts, name) is None


def test_links_that_lead_outside_are_not_followed(run_folder: Path, tmp_path: Path) -> None:
    (run_folder / "case" / "trial-1" / "link.png").symlink_to(tmp_path / "outside.png")
    (run_folder / "away").symlink_to(tmp_path)
    assert read_screenshot(run_folder, "case/trial-1", "link.png") is None
    assert read_screenshot(run_folder, "away", "outside.png") is None


def test_huge_files_are_left_alone(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_run, "MOST_BYTES", len(PNG) - 1)
    assert read_screenshot(run_folder, "case/trial-1", "step.png") is None
