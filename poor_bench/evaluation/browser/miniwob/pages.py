"""MiniWoB++ as a suite: the pages of the package miniwob, a server for them, and the suite file.

`{server}/miniwob/click-button.html?seed=7` is a page of a suite. Tasks that differ only in what
they draw share a playbook. Playbooks read the instruction from the page, so that they work with any
seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.command_line import write_python_command
from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from flask import Flask


def find_pages() -> Path:
    """Find the folder of the package's pages; the package itself is not imported.

    Raises:
        MissingExtraError: If it is not installed.
    """
    spec = find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            "the benchmark MiniWoB++ needs the package miniwob",
            hint=write_python_command("-m pip install miniwob"),
        )
    return Path(spec.submodule_search_locations[0]) / "html"


def list_tasks() -> list[str]:
    """List the names of all tasks, such as `click-button`.

    Raises:
        MissingExtraError: If the package is not installed.
    """
    return sorted(path.stem for path in (find_pages() / "miniwob").glob("*.html"))


_LONGEST_EPISODE_MS = 3_600_000
RESULT = "poorBenchMiniwob"
_SCRIPT = f"""
<script>
window.addEventListener('load', () => {{
  const end = core.endEpisode;
  window.{RESULT} = {{done: false, reward: 0, success: false, reason: ''}};
  core.endEpisode = function () {{
    end.apply(core, arguments);
    if (!WOB_DONE_GLOBAL || window.{RESULT}.done) return;
    window.{RESULT} = {{
      done: true, reward: WOB_RAW_REWARD_GLOBAL, success: WOB_RAW_REWARD_GLOBAL > 0,
      reason: String(WOB_REWARD_REASON || ''),
    }};
  }};
  core.EPISODE_MAX_TIME = {_LONGEST_EPISODE_MS};
  Math.seedrandom(core.QueryString['seed'] || '1');
  core.startEpisodeReal();
  core.hideDisplay();
  core.startEpisode = () => {{}};
}});
</script>
"""
"""One episode per visit, whose first result counts; nothing but the agent's own steps limits it.
The display of rewards is not a part of a task, and is hidden."""


def create_app() -> Flask:
    """Make an application that serves the pages of the package.

    Raises:
        MissingExtraError: If the package miniwob is not installed.
    """
    from flask import Flask, Response, abort, send_from_directory
    from werkzeug.security import safe_join

    folder = find_pages()
    app = Flask(__name__, static_folder=None)

    @app.get("/miniwob/<name>.html")
    def task(name: str) -> str:
        path = Path(safe_join(str(folder), "miniwob", f"{name}.html") or abort(404))
        return path.read_text(encoding="utf-8") + _SCRIPT if path.is_file() else abort(404)

    @app.get("/<path:path>")
    def part(path: str) -> Response:
        return send_from_directory(folder, path)

    return app


PLAYBOOKS = {
    "choose-list": "miniwob_choose_list",
    "click-button": "miniwob_click_button",
    "click-button-sequence": "miniwob_click_button_sequence",
    "click-checkboxes": "miniwob_click_checkboxes",
    "click-checkboxes-large": "miniwob_click_checkboxes",
    "click-checkboxes-transfer": "miniwob_click_checkboxes",
    "click-collapsible": "miniwob_click_collapsible",
    "click-collapsible-nodelay": "miniwob_click_collapsible",
    "click-dialog": "miniwob_click_dialog",
    "click-dialog-2": "miniwob_click_dialog_2",
    "click-link": "miniwob_click_link",
    "click-option": "miniwob_click_option",
    "click-tab": "miniwob_click_tab",
    "click-tab-2-easy": "miniwob_click_link",
    "click-test": "miniwob_click_test",
    "click-test-2": "miniwob_click_test_2",
    "click-test-transfer": "miniwob_click_test_2",
    "click-widget": "miniwob_click_widget",
    "copy-paste": "miniwob_copy_paste",
    "email-inbox-delete": "miniwob_email_delete",
    "email-inbox-important": "miniwob_email_important",
    "enter-date": "miniwob_enter_date",
    "enter-password": "miniwob_enter_password",
    "enter-text": "miniwob_enter_text",
    "enter-text-dynamic": "miniwob_enter_text",
    "focus-text": "miniwob_focus_text",
    "focus-text-2": "miniwob_focus_text_2",
    "form-sequence-2": "miniwob_form_sequence_2",
    "login-user": "miniwob_login_user",
    "read-table": "miniwob_read_table",
    "scroll-text": "miniwob_scroll_text",
    "text-transform": "miniwob_text_transform",
    "unicode-test": "miniwob_click_button",
    "use-spinner": "miniwob_use_spinner",
}


_DIRECTIVE = (
    "The first line of the page is your instruction. Carry it out on this page, in as few actions "
    "as you can, and then choose done."
)


def make_miniwob_suite(
    tasks: Sequence[str] = (), *, n_seeds: int = 1, with_playbooks: bool = True
) -> str:
    """Write a suite file, as YAML.

    Args:
        tasks: Names such as `click-button`; those that have a playbook where empty.
        n_seeds: Cases per task, each with other names, texts and places on the page.
        with_playbooks: True if cases name their playbook, where one exists.

    Raises:
        MissingExtraError: If the package miniwob is not installed.
        ConfigError: If a task does not exist.
    """
    import yaml

    known = list_tasks()
    unknown = [task for task in tasks if task not in known]
    if unknown:
        hint = name_hint(unknown[0], known)
        raise ConfigError(f"MiniWoB++ task {unknown[0]!r} does not exist", hint=hint)
    suite = {
        "version": "1.0",
        "name": "MiniWoB++",
        "description": "Small web tasks; the reward of each page decides.",
        "server": "poor_bench.evaluation.browser.miniwob.pages:create_app",
        "cases": [
            _build_case(task, seed, with_playbooks=with_playbooks)
            for task in tasks or sorted(PLAYBOOKS)
            for seed in range(1, n_seeds + 1)
        ],
    }
    return yaml.safe_dump(suite, sort_keys=False, allow_unicode=True, width=100)


def _build_case(task: str, seed: int, *, with_playbooks: bool) -> dict[str, Any]:
    playbook = {"playbook": PLAYBOOKS[task]} if with_playbooks and task in PLAYBOOKS else {}
    return {
        "id": f"{task}.{seed}",
        "directive": _DIRECTIVE,
        **playbook,
        "benchmark_tags": ["miniwob", task],
        "start_url": f"{{server}}/miniwob/{task}.html?seed={seed}",
        "allow_private_networks": True,
        "max_steps": 20,
        "read_at_end": {
            "miniwob.success": f"{RESULT}.success",
            "miniwob.reward": f"{RESULT}.reward",
            "miniwob.reason": f"{RESULT}.reason",
        },
        "expect": {"must_succeed": False, "data_values_contain": {"miniwob.success": "true"}},
    }
