// The title of the window: what is open, on which page. The address says it; the shell sends names.
(function () {
  "use strict";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const NAMED = 2; // of several models
  let pages = {};
  let models = {};
  const join = (names) =>
    names.length > NAMED
      ? `${names.slice(0, NAMED).join(", ")} +${names.length - NAMED}`
      : names.join(", ");
  const update = () => {
    const query = new URLSearchParams(window.location.search);
    const path = window.location.pathname.replace(/(.)\/$/, "$1");
    const { title = "Not found", shows = [] } = pages[path] || {};
    const open = shows.map((name) => join(query.getAll(name).map((id) => models[id] || id)));
    document.title = [...open.filter(Boolean), title, "poor_bench"].join(" · ");
  };
  functions.title = {
    update,
    show: (_address, shell, names) => {
      pages = shell || {};
      models = names || {};
      update();
      return window.dash_clientside.no_update;
    },
  };
})();
