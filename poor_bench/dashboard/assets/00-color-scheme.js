// Sets the colour scheme before the first paint: what the address asks for (`?theme=dark`), else the
// user's choice, from where Mantine keeps it. A link changes no choice; the switch does, and the
// address follows it.
(function () {
  "use strict";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const SCHEMES = ["light", "dark"];
  const ATTRIBUTE = "data-mantine-color-scheme";
  const KEY = "mantine-color-scheme-value";
  const asked = new URLSearchParams(window.location.search).get("theme");
  const forced = SCHEMES.includes(asked) ? asked : undefined;
  let chosen = null;
  try {
    chosen = window.localStorage.getItem(KEY);
  } catch (error) {
    chosen = null; // storage is switched off: follow the system
  }
  if (!SCHEMES.includes(chosen)) {
    chosen = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  chosen = forced || chosen;
  document.documentElement.setAttribute(ATTRIBUTE, chosen);
  functions.theme = { force: () => forced || window.dash_clientside.no_update };
  const choose = (scheme) => {
    window.dash_clientside.set_props("shell-theme-provider", { forceColorScheme: scheme });
    functions.address.put("theme", scheme);
    try {
      window.localStorage.setItem(KEY, scheme);
    } catch (error) {
      return; // storage is switched off: the address alone keeps it
    }
  };
  const change = (event) => {
    if (event.target.closest("[data-theme-switch]")) {
      event.stopPropagation(); // Mantine's own switch does nothing where a scheme is forced
      choose(document.documentElement.getAttribute(ATTRIBUTE) === "dark" ? "light" : "dark");
    }
  };
  document.addEventListener("click", change, { capture: true });
})();
