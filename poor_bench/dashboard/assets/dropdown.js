// A button that opens a list: native `details`, closed by Escape and by leaving it. A click elsewhere
// closes it only once it is done: a page that gets shorter moves, and what is clicked with it.
(function () {
  "use strict";
  const element = window.React.createElement;
  const around = (node) => node instanceof Element && node.closest("details.dropdown[open]");
  const closeOthers = (kept) =>
    document.querySelectorAll("details.dropdown[open]").forEach((box) => {
      box.open = box === kept;
    });
  let isPressed = false;
  document.addEventListener("pointerdown", () => { isPressed = true; }, true);
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => { isPressed = false; }, true);
  }
  document.addEventListener("click", (event) => closeOthers(around(event.target)), true);
  document.addEventListener("focusout", (event) => {
    const box = around(event.target);
    if (box && !isPressed && !box.contains(event.relatedTarget)) {
      box.open = false;
    }
  });
  const closeByKey = (event) => {
    const box = event.key === "Escape" && around(event.target);
    if (box) {
      event.stopPropagation(); // no key of the page
      box.open = false;
      box.querySelector("summary").focus();
    }
  };
  document.addEventListener("keydown", closeByKey, true);

  // A list may be drawn anew, by a choice in it or as figures come: it stays open, and a choice keeps the focus.
  const PATIENCE_MS = 5000;
  let kept = null;
  const forget = (box) => {
    if (kept?.box === box) {
      kept = null;
      drawn.disconnect();
    }
  };
  const openAgain = () => {
    const { box, text } = kept;
    if (box.isConnected) {
      return;
    }
    setTimeout(forget, PATIENCE_MS, box);
    const anew = document.querySelector(`details.dropdown[data-list="${box.dataset.list}"]`);
    if (anew) {
      kept = { box: anew, text: "" };
      anew.open = true;
      text && [...anew.querySelectorAll("a")].find((link) => link.textContent === text)?.focus();
    }
  };
  const drawn = new MutationObserver(openAgain);
  const keep = (box, text) => {
    kept = { box, text };
    drawn.observe(document.body, { childList: true, subtree: true });
  };
  const follow = ({ target }) => {
    if (target.open && kept?.box !== target && target.matches("details.dropdown[data-list]")) {
      keep(target, "");
    } else if (!target.open) {
      forget(target);
    }
  };
  document.addEventListener("toggle", follow, true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("details.dropdown[data-list] a");
    const box = link && around(link);
    if (box) {
      keep(box, link.textContent);
    }
  });

  const Dropdown = ({ title, onOpen, children }) =>
    element(
      "details",
      { className: "dropdown", onToggle: (event) => event.target.open && onOpen() },
      element("summary", { className: "choose-button" }, title),
      element("div", { className: "dropdown-list", tabIndex: -1 }, children)
    );
  window.poor_bench = Object.assign(window.poor_bench || {}, { Dropdown });
})();
