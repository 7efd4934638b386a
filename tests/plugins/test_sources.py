"""The digest of the code that evaluators share."""

from pathlib import Path
from shutil import copytree

import pytest

from poor_bench.plugins import sources

PACKAGE = Path(sources.__file__).parents[1]


def test_code_digest_changes_with_the_phrases_of_refusals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("extraction", "scoring"):
        copytree(PACKAGE / name, tmp_path / name)
    before = sources.hash_code(None)
    monkeypatch.setattr(sources, "_PACKAGE", tmp_path)
    monkeypatch.setattr(sources, "_hash_shared_code", sources._hash_shared_code.__wrapped__)
    assert sources.hash_code(None) == before
    with (tmp_path / "extraction" / "refusal_phrases.toml").open("a") as phrases:
        phrases.write("# changed\n")
    assert sources.hash_code(None) != before
