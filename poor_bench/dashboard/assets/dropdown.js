// A button that opens a list: native `details`, closed by Escape and by leaving it.
(function () {
  "use strict";
  const element = window.React.createElement;
  const around = (node) => node instanceof Element && node.closest("details.dropdown[open]");
  const closeOthers = (kept) =>
    document.querySelectorAll("details.dropdown[open]").forEach((box) => {
      box.open = box === kept;
    });
  document.addEventListener("pointerdown", (event) => closeOthers(around(event.target)));
  document.addEventListener("focusout", (event) => {
    const box = around(event.target);
    if (box && !box.contains(event.relatedTarget)) {
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

  // A choice draws its list anew: it stays open, and the choice keeps the focus.
  const PATIENCE_MS = 5000;
  let chosen = null;
  const open = () => {
    const box = chosen && document.querySelector(`details.dropdown[data-list="${chosen.list}"]`);
    if (!box || box === chosen.box) {
      return;
    }
    box.open = true;
    [...box.querySelectorAll("a")].find((link) => link.textContent === chosen.text)?.focus();
    drawn.disconnect();
  };
  const drawn = new MutationObserver(open);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("details.dropdown[data-list] a");
    const box = link && around(link);
    if (box) {
      chosen = { box, list: box.dataset.list, text: link.textContent };
      drawn.observe(document.body, { childList: true, subtree: true });
      setTimeout(() => drawn.disconnect(), PATIENCE_MS);
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
