// Keys of the panel beside a table: J next, K previous, Escape closes it. Enter on a cell of a table
// does what a click does.
(function () {
  "use strict";
  const buttons = { j: "next", k: "previous", Escape: "close" };
  document.addEventListener("keydown", (event) => {
    const name = buttons[window.poor_bench.keys.read(event)];
    if (!name || !window.poor_bench.keys.isCommand(event)) {
      return;
    }
    const panel = document.querySelector("[data-keys]");
    const button = panel && panel.querySelector(`button[id$="-${name}-button"]:not([disabled])`);
    if (button) {
      event.preventDefault();
      button.click();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches(".ag-cell")) {
      (event.target.querySelector("a") || event.target).click();
    }
  });
})();
