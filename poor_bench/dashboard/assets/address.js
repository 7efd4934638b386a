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
      const address = read();
      functions.first_answers?.expect(address);
      window.dash_clientside.set_props("shell-address-store", { data: address });
    }
  };
  window.addEventListener("popstate", follow);
  window.addEventListener("_dashprivate_pushstate", follow);

  // What tables and the colour scheme keep in the address stays, whatever else a page shows.
  const STAYING = ["table-sort", "table-columns", "table-rows", "table-page", "theme"];
  const withStaying = (search) => {
    const query = new URLSearchParams(search);
    const now = new URLSearchParams(window.location.search);
    const staying = STAYING.filter((name) => now.has(name) && !query.has(name));
    staying.forEach((name) => query.set(name, now.get(name)));
    return staying.length > 0 ? `?${query}` : search;
  };

  const withoutText = (search) => {
    const query = new URLSearchParams(search);
    query.delete("text");
    return `${query}`;
  };

  // Until the page that a link leads to is there, the one before it still changes what it shows.
  const isLeft = () => {
    const page = document.querySelector("#react-entry-point [data-page]")?.dataset.page;
    return page !== undefined && page !== window.location.pathname.replace(/(.)\/$/, "$1");
  };
  const write = (search, isStep) => {
    if (search !== window.location.search) {
      const change = isStep ? "pushState" : "replaceState";
      window.history[change](window.history.state, "", window.location.pathname + search);
      shown = here();
      functions.title.update();
    }
  };

  functions.address = {
    read,
    // Each view that was chosen is one step back; what a page starts with and each typed letter are not.
    show: function (search) {
      if (typeof search === "string" && !isLeft()) {
        const { triggered } = window.dash_clientside.callback_context;
        const next = withStaying(search);
        write(next, triggered.length > 0 && withoutText(next) !== withoutText(window.location.search));
      }
      return window.dash_clientside.no_update;
    },
    // Writes what controls hold into a query: other values begin at the first page of each list.
    choose: function (names, steps, values) {
      const query = new URLSearchParams(values[names.length] || "");
      const isChanged = names.map((name, index) => {
        const value = values[index];
        const texts = [value ?? []].flat().map((each) => `${each}`.trim()).filter(Boolean);
        const before = query.getAll(name);
        const isSame =
          typeof value === "number" ? Number(before[0] ?? NaN) === value : `${texts}` === `${before}`;
        if (!isSame) {
          query.delete(name);
          texts.forEach((text) => query.append(name, text));
        }
        return !isSame;
      });
      if (!isChanged.includes(true)) {
        return window.dash_clientside.no_update;
      }
      steps.forEach((name) => query.delete(name));
      return query.size > 0 ? `?${query}` : "";
    },
    go: (search) => isLeft() || write(search, true),
    put: function (name, value) {
      const query = new URLSearchParams(window.location.search);
      query.set(name, value);
      write(`?${query}`, false);
    },
  };
})();
