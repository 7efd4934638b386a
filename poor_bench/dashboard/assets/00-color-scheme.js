// Sets the colour scheme before the first paint: what the address asks for (`?theme=dark`), else the
// user's choice, from where Mantine keeps it. A link changes no choice; the switch ends its scheme.
(function () {
  "use strict";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const SCHEMES = ["light", "dark"];
  const asked = new URLSearchParams(window.location.search).get("theme");
  const forced = SCHEMES.includes(asked) ? asked : undefined;
  let chosen = null;
  try {
    chosen = window.localStorage.getItem("mantine-color-scheme");
  } catch (error) {
    chosen = null; // storage is switched off: follow the system
  }
  if (!SCHEMES.includes(chosen)) {
    chosen = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  chosen = forced || chosen;
  document.documentElement.setAttribute("data-mantine-color-scheme", chosen);
  functions.theme = { force: () => forced || window.dash_clientside.no_update };
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-switch]")) {
      window.dash_clientside.set_props("shell-theme-provider", { forceColorScheme: undefined });
      functions.address.drop("theme");
    }
  });
})();
