// Paper: a plain table of all rows stands in for a table that scrolls or has pages. One whose rows come
// from the server is printed as far as they were read. Texts become text nodes only.
(function () {
  "use strict";
  const PICTURES = new Set(["LatencySplit"]); // their column has no figure of its own
  let printed = [];
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const write = (api, node, column) => {
    const field = column.getColDef().field;
    const text = node.data.texts?.[field] ?? api.getCellValue({ rowNode: node, colKey: column, useFormatter: true });
    return make("td", text ?? "");
  };
  const fill = (section, cells) => {
    const row = document.createElement("tr");
    row.append(...cells);
    section.append(row);
  };
  const lay = (grid) => {
    const api = window.dash_ag_grid?.getApi(grid.id);
    if (!api || api.isDestroyed()) {
      return;
    }
    const columns = api.getAllDisplayedColumns().filter((column) => {
      const { field, cellRenderer } = column.getColDef();
      return field && !PICTURES.has(cellRenderer);
    });
    const table = make("table", "");
    table.className = "sheet printed";
    fill(table.createTHead(), columns.map((column) => make("th", column.getColDef().headerName)));
    const body = table.createTBody();
    const add = (node) => node.data && fill(body, columns.map((column) => write(api, node, column)));
    if (api.getGridOption("rowModelType") === "infinite") {
      api.forEachNode(add);
    } else {
      api.forEachNodeAfterFilterAndSort(add);
    }
    grid.after(table);
    printed.push(table);
  };
  window.addEventListener("beforeprint", () => document.querySelectorAll(".grid[id]").forEach(lay));
  window.addEventListener("afterprint", () => {
    printed.forEach((table) => table.remove());
    printed = [];
  });
})();
