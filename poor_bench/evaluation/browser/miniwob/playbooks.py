"""Which playbook carries out which task; tasks that differ only in what they draw share one.

The playbooks read the instruction from the page, so that they work with any seed.
"""

from __future__ import annotations

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
