// Buttons that put a value into a store: drawn anew at any time, they lose no click.
(function () {
  "use strict";
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-choose-store]");
    if (button) {
      const { chooseStore, chooseValue } = button.dataset;
      window.dash_clientside.set_props(chooseStore, { data: chooseValue });
    }
  });
})();
