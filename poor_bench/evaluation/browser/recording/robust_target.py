"""How a playbook can find an element again: in the way that changes of the page break least."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from poor_bench.evaluation.browser.playbook.locate import matches
from poor_bench.evaluation.browser.playbook.models import Target
from poor_bench.evaluation.browser.session.session import BrowserSession

if TYPE_CHECKING:
    from playwright.sync_api import ElementHandle, Locator

_MOST_MATCHES = 20
_LONGEST_NAME = 80
_FACTS = """element => {
  const path = node => {
    if (node.id && document.querySelectorAll('#' + CSS.escape(node.id)).length === 1)
      return '#' + CSS.escape(node.id);
    if (!node.parentElement) return node.tagName.toLowerCase();
    const alike = [...node.parentElement.children].filter(one => one.tagName === node.tagName);
    const place = alike.length > 1 ? `:nth-of-type(${alike.indexOf(node) + 1})` : '';
    return path(node.parentElement) + ' > ' + node.tagName.toLowerCase() + place;
  };
  const label = element.labels && element.labels[0];
  return {
    label: label ? [...label.childNodes].filter(one => one.nodeType === 3)
      .map(one => one.textContent).join(' ').trim() : '',
    placeholder: element.placeholder || '',
    text: element.childElementCount ? '' : (element.textContent || '').trim(),
    css: path(element),
    inFrame: window !== window.top,
  };
}"""


def robust_target(
    session: BrowserSession, element: Locator, description: str | None
) -> dict[str, Any] | None:
    """A target that finds exactly this element on the page as it is now.

    Tried in this order: role and name, label, placeholder, text, and a CSS path; where others fit
    as well, with the place among them. Elements of a frame within a frame have none.

    Args:
        session: Its page is looked at; element references stay valid.
        element: Which element.
        description: Its role and name as the accessibility tree shows them; see `described`.
    """
    with session.errors():
        handle = element.element_handle()
        facts, frame = handle.evaluate(_FACTS), _frame_of(handle)
        if frame is None:
            return None
        for target in _candidates(*_role_and_name(description or ""), facts):
            found = _with_place(session, target.model_copy(update=frame), handle)
            if found is not None:
                return found.model_dump(exclude_unset=True)
    return None


def _frame_of(handle: ElementHandle) -> dict[str, str] | None:
    """Frame of an element in the form of a target; None where that is impossible."""
    frame = handle.owner_frame()
    if frame is None or frame.parent_frame is None:
        return {}
    if frame.parent_frame.parent_frame is not None:
        return None
    return {"frame": frame.frame_element().evaluate(_FACTS)["css"]}


def css_target(element: Locator) -> dict[str, Any] | None:
    """A target by the place of an element in the page; None for those within frames."""
    facts = element.evaluate(_FACTS)
    return None if facts["inFrame"] else {"css": facts["css"]}


def _role_and_name(description: str) -> tuple[str, str]:
    role, _, rest = description.partition(" ")
    is_plain = rest.startswith('"') and rest.endswith('"') and "\\" not in rest
    return role, rest[1:-1] if is_plain else ""


def _candidates(role: str, name: str, facts: dict[str, Any]) -> Iterator[Target]:
    if role.isalpha() and name and role not in {"text", "generic"}:
        yield Target(role=role, name=name[:_LONGEST_NAME], exact=len(name) <= _LONGEST_NAME)
    for way in ("label", "placeholder", "text"):
        if facts[way] and len(facts[way]) <= _LONGEST_NAME:
            yield Target.model_validate({way: facts[way]})
    yield Target(css=facts["css"])


def _with_place(session: BrowserSession, target: Target, wanted: ElementHandle) -> Target | None:
    """The target, with its place among several matches; None if it does not find `wanted`."""
    found = matches(session.page, target)
    n_found = found.count()
    for at in range(min(n_found, _MOST_MATCHES)):
        other = found.nth(at).element_handle()
        if wanted.evaluate("(one, other) => one === other", other):
            return target if n_found == 1 else target.model_copy(update={"nth": at + 1})
    return None
