// The address bar: which page it asks for, and the state of that page, without loading anything.
(function () {
  "use strict";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const here = () => window.location.pathname + window.location.search;
  let shown = "";
  const read = () => {
    shown = here();
    return { path: window.location.pathname, search: window.location.search };
  };
  const follow = () => {
    if (here() !== shown) {
      window.dash_clientside.set_props("shell-address-store", { data: read() });
    }
  };
  window.addEventListener("popstate", follow);
  window.addEventListener("_dashprivate_pushstate", follow);

  const withoutText = (search) => {
    const query = new URLSearchParams(search);
    query.delete("text");
    return `${query}`;
  };

  functions.address = {
    read,
    // Each view that was chosen is one step back; what a page starts with and each typed letter are not.
    show: function (search) {
      if (typeof search === "string" && search !== window.location.search) {
        const { triggered } = window.dash_clientside.callback_context;
        const isChosen =
          triggered.length > 0 && withoutText(search) !== withoutText(window.location.search);
        const change = isChosen ? "pushState" : "replaceState";
        window.history[change](window.history.state, "", window.location.pathname + search);
        shown = here();
      }
      return window.dash_clientside.no_update;
    },
  };
})();
