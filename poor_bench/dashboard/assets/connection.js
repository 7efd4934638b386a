// Tells in a banner when the server does not answer, asks again until it does, and then has
// everything drawn anew. Dash alone tells nobody: its requests fail in the console.
(function () {
  "use strict";
  const ALIVE = "/_alive";
  const PAUSE_MS = 1500;
  const AGAIN_MS = 400;
  const PATIENCE_MS = 15000;
  let start = "";
  let state = "";
  let isMissed = false;

  const show = (next) => {
    state = next;
    const banner = document.getElementById("shell-connection-banner");
    if (banner) {
      banner.setAttribute("data-state", next);
    }
  };

  // Links that were followed meanwhile changed the address only: the page has to follow it.
  const isElsewhere = () => {
    const link = document.querySelector(".nav-link.is-active");
    return link === null || link.getAttribute("href") !== window.location.pathname;
  };

  const catchUp = () => {
    const { set_props: set } = window.dash_clientside;
    set("shell-notices-container", { hideNotifications: ["old-tab"] });
    set("shell-version-store", { data: null }); // versions of another start mean nothing
    set("shell-clock-interval", { n_intervals: Date.now() });
    if (isElsewhere()) {
      set("shell-address-store", { data: window.dash_clientside.address.read() });
    }
  };

  const ask = async () => {
    const answer = await fetch(ALIVE, {
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (answer.status === 401) {
      return "refused";
    }
    const told = answer.ok ? await answer.text() : "";
    const isNew = told !== "" && start !== "" && told !== start;
    start = told || start;
    return isNew ? "restarted" : "";
  };

  const look = async () => {
    let found = "stopped";
    try {
      found = await ask();
    } catch {
      if (!isMissed && state === "") {
        isMissed = true; // one lost request is not yet a stopped server
        window.setTimeout(look, AGAIN_MS);
        return;
      }
    }
    isMissed = false;
    const wasAway = state !== "";
    show(found === "restarted" ? "" : found);
    if (found === "restarted" || (wasAway && found === "")) {
      catchUp();
    }
    window.setTimeout(look, PAUSE_MS);
  };
  window.setTimeout(look, PAUSE_MS);
})();
