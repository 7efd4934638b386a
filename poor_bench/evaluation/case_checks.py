"""Checks of a case beyond the form of each of its keys."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from poor_bench.config.report import Place, Report
from poor_bench.errors import PoorBenchError
from poor_bench.evaluation.factories import import_factory
from poor_bench.evaluation.models import SERVER, EvalCase
from poor_bench.evaluation.playbook_files import find_playbook, missing_playbook_hint

DEFAULT_PROFILE = "default"
UNKNOWN_PLAYBOOK = "unknown-playbook"
"""Code of the problem that a playbook does not exist."""
_ANY_SERVER = "http://127.0.0.1:80"
_FACTORY = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChecks:
    """Checks cases of one suite in their surroundings."""

    has_server: bool
    data_dir: Path
    suite_folder: Path
    imports: bool = False
    """Import what the suite names as `package.module:function`."""
    _imported: dict[str, PoorBenchError | None] = field(default_factory=dict)

    def check(self, case: EvalCase, place: Place, report: Report) -> None:
        """Report everything about a case that cannot work."""
        self._check_urls(case, place, report)
        self._check_playbook(case, place, report)
        self._check_profile(case.profile, (*place, "profile"), report)
        _check_schema(case, (*place, "output_schema"), report)
        _check_expectations(case, (*place, "expect"), report)

    def _check_urls(self, case: EvalCase, place: Place, report: Report) -> None:
        if case.start_url is not None:
            self._check_url(case.start_url, (*place, "start_url"), report)
        for name, origin in (case.credentials or {}).items():
            where = (*place, "credentials", name)
            if not _ENVIRONMENT_NAME.fullmatch(name):
                report.error(where, "must be the name of an environment variable", code="bad-name")
            url = self._check_url(origin, where, report)
            if url is not None and (url.path not in {"", "/"} or url.query or url.fragment):
                hint = "write scheme, host and port, such as https://shop.example"
                report.error(where, "must be an origin without a path", hint=hint, code="bad-url")

    def _check_url(self, written: str, place: Place, report: Report) -> SplitResult | None:
        if SERVER in written and not self.has_server:
            report.error(place, f"`{SERVER}` needs the key `server` of the suite", code="no-server")
            return None
        url = split_web_url(written.replace(SERVER, _ANY_SERVER, 1))
        if url is None:
            hint = "write it like https://shop.example/search"
            report.error(place, f"`{written}` is not an http(s) URL", hint=hint, code="bad-url")
        return url

    def _check_playbook(self, case: EvalCase, place: Place, report: Report) -> None:
        if case.playbook is None:
            if case.execution_mode == "playbook_only":
                message = "`playbook_only` needs the key `playbook`"
                report.error((*place, "execution_mode"), message, code="no-playbook")
        elif find_playbook(case.playbook, self.data_dir, self.suite_folder) is None:
            message = f"playbook `{case.playbook}` does not exist"
            hint = missing_playbook_hint(case.playbook, self.data_dir)
            report.error((*place, "playbook"), message, hint=hint, code=UNKNOWN_PLAYBOOK)

    def _check_profile(self, profile: str, place: Place, report: Report) -> None:
        if profile == DEFAULT_PROFILE or split_web_url(profile):
            return
        if _FACTORY.fullmatch(profile):
            self.check_import(profile, place, report)
            return
        hint = f"use `{DEFAULT_PROFILE}`, `package.module:factory`, or an http(s) URL"
        report.error(place, f"`{profile}` is not a profile", hint=hint, code="bad-profile")

    def check_import(self, factory: str, place: Place, report: Report) -> None:
        """Warn of a factory that cannot be imported, if imports are to be tried at all."""
        if self.imports and factory not in self._imported:
            self._imported[factory] = _import_error(factory)
        error = self._imported.get(factory)
        if error is not None:
            report.warning(place, str(error), hint=error.hint, code="not-importable")


def split_web_url(text: str) -> SplitResult | None:
    """Split an http(s) URL with a host; None for any other text.

    Example:
        >>> split_web_url("file:///etc/passwd") is None
        True
    """
    try:
        url = urlsplit(text)
        is_usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        return None
    has_space = any(character.isspace() for character in text)
    return url if is_usable and not has_space else None


def _import_error(factory: str) -> PoorBenchError | None:
    try:
        import_factory(factory)
    except PoorBenchError as error:
        return error
    return None


def _check_schema(case: EvalCase, place: Place, report: Report) -> None:
    if case.output_schema is None:
        return
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(case.output_schema)
    except SchemaError as error:
        inside = (*place, *error.path)
        report.error(inside, f"is not a JSON Schema: {error.message}", code="bad-schema")


def _check_expectations(case: EvalCase, place: Place, report: Report) -> None:
    expect = case.expect
    can_hand_off = case.execution_mode == "hybrid_auto" and case.playbook is not None
    if expect.handoff == "require" and not can_hand_off:
        message = "only a `hybrid_auto` case with a playbook can hand off"
        report.error((*place, "handoff"), message, code="impossible")
    least, most = expect.min_actions, expect.max_actions
    if least is not None and most is not None and least > most:
        report.error((*place, "min_actions"), "exceeds `max_actions`", code="impossible")
    has_price = case.input_token_cost_per_million_usd or case.output_token_cost_per_million_usd
    if expect.max_estimated_cost_usd is not None and not has_price:
        message = "needs a price: the case does not have one, nor may its LLM in llms.json"
        report.warning((*place, "max_estimated_cost_usd"), message, code="no-price")
