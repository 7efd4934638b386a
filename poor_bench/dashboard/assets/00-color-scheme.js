// Sets the colour scheme before the first paint, from where Mantine keeps the user's choice.
(function () {
  "use strict";
  let chosen = null;
  try {
    chosen = window.localStorage.getItem("mantine-color-scheme");
  } catch (error) {
    chosen = null; // storage is switched off: follow the system
  }
  if (chosen !== "light" && chosen !== "dark") {
    chosen = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.setAttribute("data-mantine-color-scheme", chosen);
})();
