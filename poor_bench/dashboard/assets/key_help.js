// The list of keys: `?` or its button opens it, the browser closes it by Escape.
(function () {
  "use strict";
  const { keys } = window.poor_bench;
  const SWITCH = "[data-single-keys]";
  const show = (button, isOn) => button.setAttribute("aria-checked", `${isOn}`);
  const open = () => {
    const list = document.getElementById("shell-keys-dialog");
    show(list.querySelector(SWITCH), !keys.store.isOff());
    list.showModal();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && keys.isCommand(event)) {
      event.preventDefault();
      open();
    }
  });
  document.addEventListener("click", (event) => {
    const isOutside = event.target.matches("#shell-keys-dialog"); // its backdrop
    if (event.target.closest("[data-open-keys]")) {
      open();
    } else if (isOutside || event.target.closest("[data-close-keys]")) {
      document.getElementById("shell-keys-dialog").close();
    } else if (event.target.closest(SWITCH)) {
      const isOn = keys.store.isOff();
      keys.store.keep(isOn);
      show(event.target.closest(SWITCH), isOn);
    }
  });
})();
