// Links that only change what the page shows: the reader stays in place, the page's store changes
// and, with it, the address. Escape, J (next) and K (previous) follow the links that ask for them,
// else those of the rows beside the open row of a table.
(function () {
  "use strict";
  const ROW_LINK = "a[data-stay-store]:not([role='checkbox'])";
  // What the link was made to change, applied to what the page shows now: the answer to an earlier
  // click may still be under way.
  const changed = (link) => {
    const next = new URLSearchParams(new URL(link.href).search);
    if (!link.hasAttribute("data-stay-from")) {
      return next;
    }
    const from = new URLSearchParams(link.getAttribute("data-stay-from"));
    const now = new URLSearchParams(window.location.search);
    const isTick = link.getAttribute("role") === "checkbox";
    for (const name of new Set([...from.keys(), ...next.keys()])) {
      const [before, after] = [from.getAll(name), next.getAll(name)];
      if (`${before}` !== `${after}`) {
        const isKept = (value) => isTick && (!before.includes(value) || after.includes(value));
        const isNew = (value) => !isTick || !before.includes(value);
        const values = [...now.getAll(name).filter(isKept), ...after.filter(isNew)];
        now.delete(name);
        values.forEach((value) => now.append(name, value));
      }
    }
    return now;
  };
  const go = (link) => {
    const search = `${changed(link)}`;
    const store = link.getAttribute("data-stay-store");
    window.dash_clientside.set_props(store, { data: search ? `?${search}` : "" });
  };
  // The row that J or K went to: it is marked as open only once the server has answered.
  let asked = null;
  const name = (row) => row.querySelector(ROW_LINK)?.textContent;
  const findOpen = () =>
    asked?.row.isConnected && name(asked.row) === asked.name
      ? asked.row
      : document.querySelector(".sheet tr.is-open");
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-stay-store]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      asked = link.getAttribute("role") === "checkbox" ? asked : null;
      go(link);
    }
  });
  const keys = { Escape: "escape", k: "previous", j: "next" };
  const beside = { k: "previousElementSibling", j: "nextElementSibling" };
  const findInTable = (key) => {
    const row = beside[key] && findOpen()?.[beside[key]];
    return row?.querySelector(ROW_LINK);
  };
  document.addEventListener("keydown", (event) => {
    const key = window.poor_bench.keys.read(event);
    const way = keys[key];
    const named = way && document.querySelector(`a[data-key="${way}"]`);
    const link = way && (named || findInTable(key));
    if (link && window.poor_bench.keys.isCommand(event)) {
      event.preventDefault();
      link.click();
      const row = named ? null : link.closest("tr");
      asked = row && { row, name: name(row) };
    }
  });
})();
