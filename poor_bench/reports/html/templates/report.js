"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // Light and dark
  const theme = byId("theme");
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  nameTheme();

  // One tooltip for everything
  const tip = byId("tip");
  document.addEventListener("pointermove", (event) => {
    const told = event.target.closest("[data-tip]");
    tip.hidden = !told;
    if (!told) return;
    tip.textContent = told.dataset.tip;
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const y = event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${y}px`;
  });
  document.addEventListener("pointerleave", () => { tip.hidden = true; });

  // Sorting by a click on a heading
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    const number = parseFloat(text.replace(/[$,]/g, ""));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      if (heading.dataset.sort === "none") return;
      heading.tabIndex = 0;
      const sort = () => {
        const falls = heading.getAttribute("aria-sort") !== "descending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].sort((a, b) => {
          const [first, second] = [valueOf(a, column), valueOf(b, column)];
          const order = typeof first === typeof second
            ? (first > second) - (first < second)
            : typeof first === "number" ? 1 : -1;
          return falls ? -order : order;
        });
        body.append(...rows);
      };
      heading.addEventListener("click", sort);
      heading.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
  }

  // Filters of the tests
  const filters = byId("filters");
  if (!filters) return;
  const list = byId("list");
  const tests = [...list.children];
  const field = (name) => filters.elements[name];
  const shows = {
    "": () => true,
    lost: (test) => Number(test.dataset.mean) < 1,
    apart: (test) => Number(test.dataset.spread) > 0,
    failed: (test) => "failed" in test.dataset,
  };
  const orders = {
    "": () => 0,
    mean: (a, b) => a.dataset.mean - b.dataset.mean,
    spread: (a, b) => b.dataset.spread - a.dataset.spread,
  };
  const apply = () => {
    const text = field("text").value.trim().toLowerCase();
    let count = 0;
    for (const test of tests) {
      const found = test.dataset.id.includes(text) || (text.length > 2 && test.textContent.toLowerCase().includes(text));
      const inClass = !field("class").value || test.dataset.class === field("class").value;
      test.hidden = !(found && inClass && shows[field("state").value](test));
      count += !test.hidden;
    }
    filters.querySelector("output").textContent = `${count} of ${tests.length}`;
    list.append(...[...tests].sort(orders[field("order").value]));
  };
  filters.hidden = false;
  filters.addEventListener("input", apply);
  filters.addEventListener("submit", (event) => event.preventDefault());
  byId("fold").addEventListener("click", () => {
    for (const open of list.querySelectorAll("details[open]")) open.open = false;
  });
  document.addEventListener("click", (event) => {
    const chosen = event.target.closest(".heat [data-class], [data-find]");
    if (!chosen) return;
    event.preventDefault();
    filters.reset();
    if (chosen.dataset.find) field("text").value = chosen.dataset.find;
    else field("class").value = chosen.dataset.class;
    apply();
    byId("tests").scrollIntoView();
  });
  apply();
})();
