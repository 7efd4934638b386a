"""From the target of a step to the element on the page, and from an element to a robust target.

A playbook finds an element again by the target that changes of the page break least.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from poor_bench.evaluation.browser.playbook_file import Target
from poor_bench.evaluation.browser.session import ActionError, BrowserSession

if TYPE_CHECKING:
    from playwright.sync_api import ElementHandle, FrameLocator, Locator, Page


_PATIENCE_MS = 6_000
_LOOK_MS = 500


def locate_all(page: Page, target: Target) -> Locator:
    """Locate all elements that match a target, ignoring `nth`."""
    root: Page | FrameLocator = page.frame_locator(target.frame) if target.frame else page
    if target.role is not None:
        role: Any = target.role
        return root.get_by_role(role, name=target.name, exact=target.exact)
    if target.label is not None:
        return root.get_by_label(target.label, exact=target.exact)
    if target.placeholder is not None:
        return root.get_by_placeholder(target.placeholder, exact=target.exact)
    if target.text is not None:
        return root.get_by_text(target.text, exact=target.exact)
    return root.locator(target.css or "body")


def find_element(session: BrowserSession, target: Target) -> Locator:
    """Wait for the one element of a target to be visible.

    Raises:
        ActionError: If there is none, or several and no `nth`.
    """
    for _ in range(_PATIENCE_MS // _LOOK_MS):
        with session.errors():
            found = locate_all(session.page, target)
            element = found.first if target.nth is None else found.nth(target.nth - 1)
            if not _is_visible_soon(element):
                continue
            n_found = found.count()
        if target.nth is None and n_found > 1:
            raise ActionError(
                f"{n_found} elements match {describe_target(target)}; select one with `nth`"
            )
        return element
    raise ActionError(f"{describe_target(target)} does not exist")


def _is_visible_soon(element: Locator) -> bool:
    """Wait for a moment only: the tab that is shown may change meanwhile."""
    from playwright.sync_api import TimeoutError as TookTooLongError

    try:
        element.wait_for(state="visible", timeout=_LOOK_MS)
    except TookTooLongError:
        return False
    return True


def wait_until_absent(session: BrowserSession, target: Target) -> None:
    """Wait until no element of a target is visible.

    Raises:
        ActionError: If it does not go away.
    """
    from playwright.sync_api import TimeoutError as TookTooLongError

    with session.errors():
        try:
            locate_all(session.page, target).first.wait_for(state="hidden", timeout=_PATIENCE_MS)
        except TookTooLongError:
            raise ActionError(f"{describe_target(target)} still exists") from None


def is_visible(session: BrowserSession, target: Target) -> bool:
    """True if an element of a target is visible just now."""
    with session.errors():
        return any(element.is_visible() for element in locate_all(session.page, target).all())


def describe_target(target: Target) -> str:
    """Describe a target in words.

    Example:
        >>> describe_target(Target(role="button", name="Search"))
        'button "Search"'
    """
    if target.role is not None:
        words = target.role if target.name is None else f'{target.role} "{target.name}"'
    else:
        words = next((f'{way} "{getattr(target, way)}"' for way in target.ways), "page")
    return words if target.nth is None else f"{words}, number {target.nth}"


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


def find_robust_target(
    session: BrowserSession, element: Locator, description: str | None
) -> dict[str, Any] | None:
    """Find a target for exactly this element on the page as it is now.

    Tried in this order: role and name, label, placeholder, text, and a CSS path; where others fit
    as well, with the place among them. Elements of a frame within a frame have none.

    Args:
        session: Its page is looked at; element references stay valid.
        element: Which element.
        description: Its role and name as the accessibility tree shows them; see `describe_element`.
    """
    with session.errors():
        handle = element.element_handle()
        facts, frame = handle.evaluate(_FACTS), _find_frame(handle)
        if frame is None:
            return None
        for target in _list_candidates(*_read_role_and_name(description or ""), facts):
            found = _add_place(session, target.model_copy(update=frame), handle)
            if found is not None:
                return found.model_dump(exclude_unset=True)
    return None


def _find_frame(handle: ElementHandle) -> dict[str, str] | None:
    """Frame of an element in the form of a target; None where that is impossible."""
    frame = handle.owner_frame()
    if frame is None or frame.parent_frame is None:
        return {}
    if frame.parent_frame.parent_frame is not None:
        return None
    return {"frame": frame.frame_element().evaluate(_FACTS)["css"]}


def find_css_target(element: Locator) -> dict[str, Any] | None:
    """Find a target by the place of an element in the page; None for elements in frames."""
    facts = element.evaluate(_FACTS)
    return None if facts["inFrame"] else {"css": facts["css"]}


def _read_role_and_name(description: str) -> tuple[str, str]:
    role, _, rest = description.partition(" ")
    is_plain = rest.startswith('"') and rest.endswith('"') and "\\" not in rest
    return role, rest[1:-1] if is_plain else ""


def _list_candidates(role: str, name: str, facts: dict[str, Any]) -> Iterator[Target]:
    if role.isalpha() and name and role not in {"text", "generic"}:
        yield Target(role=role, name=name[:_LONGEST_NAME], exact=len(name) <= _LONGEST_NAME)
    for way in ("label", "placeholder", "text"):
        if facts[way] and len(facts[way]) <= _LONGEST_NAME:
            yield Target.model_validate({way: facts[way]})
    yield Target(css=facts["css"])


def _add_place(session: BrowserSession, target: Target, wanted: ElementHandle) -> Target | None:
    """Add the place among several matches; None if the target does not find `wanted`."""
    found = locate_all(session.page, target)
    n_found = found.count()
    for at in range(min(n_found, _MOST_MATCHES)):
        other = found.nth(at).element_handle()
        if wanted.evaluate("(one, other) => one === other", other):
            return target if n_found == 1 else target.model_copy(update={"nth": at + 1})
    return None


_LONGEST_VALUE = 200
_MOST_VALUES = 30


def locate_values(session: BrowserSession, data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Find a target for each dotted path whose value is the text of exactly one element."""
    found = {}
    for path, text in list(_leaves(data, ""))[:_MOST_VALUES]:
        try:
            with session.errors():
                element = session.page.get_by_text(text, exact=True)
                target = find_css_target(element) if element.count() == 1 else None
        except ActionError:
            continue
        if target is not None:
            found[path] = target
    return found


def _leaves(data: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}.")
        elif isinstance(value, str | int | float) and 0 < len(str(value)) <= _LONGEST_VALUE:
            yield path, str(value)
