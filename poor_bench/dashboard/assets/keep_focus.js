// Who uses the keyboard stays where they are: when the control in focus is drawn anew, as after a sort
// by its heading, its successor takes the focus: same kind and name, in the same part of the page.
(function () {
  "use strict";
  let last = null;
  const nameOf = (element) =>
    (element.getAttribute("aria-label") || element.textContent || "").replace(/[^\p{L}\p{N} ]/gu, "").trim();
  const alike = (part, { tag, name }) =>
    [...part.querySelectorAll(tag)].filter((each) => nameOf(each) === name);

  document.addEventListener("focusin", ({ target }) => {
    const part = target.parentElement?.closest("[id]");
    last = part && { target, part: part.id, tag: target.localName, name: nameOf(target) };
    if (last) {
      last.place = alike(part, last).indexOf(target);
    }
  });
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    queueMicrotask(() => {
      if (target.isConnected && !relatedTarget && last?.target === target) {
        last = null; // the reader left it
      }
    });
  });
  new MutationObserver(() => {
    if (!last || last.target.isConnected || document.activeElement !== document.body) {
      return;
    }
    const part = document.getElementById(last.part);
    const found = part && alike(part, last);
    if (found && found.length > 0) {
      (found[last.place] || found[0]).focus({ preventScroll: true });
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
