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

  const Dropdown = ({ title, onOpen, children }) =>
    element(
      "details",
      { className: "dropdown", onToggle: (event) => event.target.open && onOpen() },
      element("summary", { className: "choose-button" }, title),
      element("div", { className: "dropdown-list", tabIndex: -1 }, children)
    );
  window.poor_bench = Object.assign(window.poor_bench || {}, { Dropdown });
})();
