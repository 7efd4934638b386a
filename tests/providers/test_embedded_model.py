from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.embedded import check_embedded, find_cached_model, obtain_model
from tests.providers.asking import make_llm
from tests.providers.fake_clock import FakeClock

CONTROL = CallControl(timeouts=Timeouts())


def services(workspace: Path, **environ: str) -> ProviderServices:
    environ = {"POOR_BENCH_CACHE": str(workspace / "cache")} | environ
    return ProviderServices(clock=FakeClock(), workspace=workspace, environ=environ)


def llm_from(model_path: str) -> LLM:
    return make_llm("embedded", name="mine", parameters={"model_path": model_path})


def test_model_path_starts_from_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"weights")

    assert obtain_model(llm_from("mine.gguf"), services(tmp_path), CONTROL).path == (
        tmp_path / "mine.gguf"
    )


def test_environment_names_a_file_for_every_embedded_llm(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"weights")
    llm = make_llm("embedded", name="smollm2-135m")

    found = obtain_model(llm, services(tmp_path, POOR_BENCH_EMBEDDED_GGUF=str(other)), CONTROL)

    assert found.path == other


def test_parameter_counts_more_than_the_environment(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"weights")
    lent = services(tmp_path, POOR_BENCH_EMBEDDED_GGUF="/elsewhere.gguf")

    assert obtain_model(llm_from("mine.gguf"), lent, CONTROL).path == tmp_path / "mine.gguf"


def test_digest_tells_contents_apart(tmp_path: Path) -> None:
    for name, content in {"a": b"one", "b": b"two", "c": b"one"}.items():
        (tmp_path / name).write_bytes(content)

    digests = [obtain_model(llm_from(n), services(tmp_path), CONTROL).digest for n in "abc"]

    assert digests[0] == digests[2] != digests[1]


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"missing\.gguf cannot be read") as caught:
        obtain_model(llm_from("missing.gguf"), services(tmp_path), CONTROL)

    assert caught.value.kind is FailureKind.MODEL_NOT_FOUND


@pytest.mark.parametrize(
    ("name", "way_out"),
    [("smollm2-136m", "did you mean 'smollm2-135m'?"), ("gpt-5", "known: smollm2-135m")],
)
def test_unknown_name_gets_the_nearest_one(tmp_path: Path, name: str, way_out: str) -> None:
    with pytest.raises(ProviderError, match=f"unknown embedded model '{name}'") as caught:
        obtain_model(make_llm("embedded", name=name), services(tmp_path), CONTROL)

    assert way_out in caught.value.hint
    assert "model_path" in caught.value.hint


def test_cache_without_the_model_has_no_file(tmp_path: Path) -> None:
    assert find_cached_model(environ={"POOR_BENCH_CACHE": str(tmp_path)}) is None


def test_check_says_that_the_file_will_be_fetched(tmp_path: Path) -> None:
    check = check_embedded(make_llm("embedded", name="smollm2-135m"), services(tmp_path))

    assert check.reachable
    assert check.model_present is None
    assert "92 MB" in check.message


def test_check_finds_a_file_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"weights")

    assert check_embedded(llm_from("mine.gguf"), services(tmp_path)).model_present


@pytest.mark.parametrize(
    ("llm", "message"),
    [
        (llm_from("missing.gguf"), "does not exist"),
        (make_llm("embedded", name="smollm2-136m"), "did you mean"),
    ],
    ids=["file", "name"],
)
def test_check_misses_what_is_not_there(tmp_path: Path, llm: LLM, message: str) -> None:
    check = check_embedded(llm, services(tmp_path))

    assert check.model_present is False
    assert message in check.message
