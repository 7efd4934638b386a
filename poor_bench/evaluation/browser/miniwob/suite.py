"""A suite file out of the tasks of MiniWoB++, with the playbooks that carry them out.

Tasks that differ only in what they draw share a playbook. Playbooks read the instruction from the
page, so that they work with any seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.evaluation.browser.miniwob.pages import RESULT, list_tasks

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
            _case(task, seed, with_playbooks=with_playbooks)
            for task in tasks or sorted(PLAYBOOKS)
            for seed in range(1, n_seeds + 1)
        ],
    }
    return yaml.safe_dump(suite, sort_keys=False, allow_unicode=True, width=100)


def _case(task: str, seed: int, *, with_playbooks: bool) -> dict[str, Any]:
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
