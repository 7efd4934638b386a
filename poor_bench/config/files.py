"""Load one file of a workspace at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from poor_bench.config.document import Document, open_document
from poor_bench.config.entries import written_ids
from poor_bench.config.json_document import parse_json
from poor_bench.config.llm_checks import IsOwnProvider, check_llms, no_own_provider
from poor_bench.config.llm_entries import decode_llms
from poor_bench.config.loaded import Loaded, collect
from poor_bench.config.report import Report
from poor_bench.config.test_class_entries import decode_test_classes
from poor_bench.config.test_entries import decode_tests
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test, TestClass

TEST_CLASSES_FILE = "test_classes.yaml"
TESTS_FILE = "tests.json"
LLMS_FILE = "llms.json"


def llms_file(data_dir: Path) -> Path:
    """Return where the LLMs of a workspace stand; `$POOR_BENCH_LLMS` names another file."""
    return Path(os.environ.get("POOR_BENCH_LLMS") or data_dir / LLMS_FILE)


def load_test_classes(data_dir: Path) -> Loaded[TestClass]:
    """Return the test classes of a workspace, and what is wrong in their file."""
    document, report = open_document(data_dir / TEST_CLASSES_FILE, parse_yaml)
    return decode_test_classes_file(document, report)


def decode_test_classes_file(document: Document | None, report: Report) -> Loaded[TestClass]:
    """Return the test classes of a parsed file; the report takes what is wrong with them."""
    entries = decode_test_classes(document, report) if document else ()
    written = written_ids(document, "test_classes", "id") if document else frozenset()
    return collect(entries, lambda test_class: test_class.id, report, written_ids=written)


def load_tests(data_dir: Path, classes: Mapping[str, TestClass]) -> Loaded[Test]:
    """Return the tests of a workspace, and what is wrong in their file."""
    document, report = open_document(data_dir / TESTS_FILE, parse_json)
    return decode_tests_file(document, classes, report)


def decode_tests_file(
    document: Document | None, classes: Mapping[str, TestClass], report: Report
) -> Loaded[Test]:
    """Return the tests of a parsed file; the report takes what is wrong with them."""
    entries = decode_tests(document, classes, report) if document else ()
    return collect(entries, lambda test: test.test_id, report)


def load_llms(data_dir: Path, is_own_provider: IsOwnProvider = no_own_provider) -> Loaded[LLM]:
    """Return the LLMs of a workspace, and what is wrong in their file."""
    document, report = open_document(llms_file(data_dir), parse_json)
    return decode_llms_file(document, report, is_own_provider)


def decode_llms_file(
    document: Document | None, report: Report, is_own_provider: IsOwnProvider = no_own_provider
) -> Loaded[LLM]:
    """Return the LLMs of a parsed file; the report takes what is wrong with them."""
    entries = decode_llms(document, report) if document else ()
    hint = 'tell them apart by an `id` of their own, such as "id": "gemma-short"'
    llms = collect(entries, lambda llm: llm.id, report, hint=hint)
    check_llms(llms, is_own_provider)
    return llms
