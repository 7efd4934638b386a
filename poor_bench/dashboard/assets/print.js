// Paper: a plain table of all rows stands in for a table that scrolls or has pages. One whose rows come
// from the server is printed as far as they were read. Texts become text nodes only.
// Charts are as wide as the window; on paper they shrink to its width.
(function () {
  "use strict";
  const PICTURES = new Set(["LatencySplit"]); // their column has no figure of its own
  const BASED = /^(Figure|ScoreBar)$/; // cells that say over how many they are
  const LONGEST_FIGURE = 16;
  const UNSEEN = "Loading: print again.";
  // Not by what is drawn alone: there may be nothing to draw.
  const NOT_DRAWN = "[data-seen-store]:is(:has(.loading-state), :has(.chart-place):not(:has(.main-svg)))";
  let printed = [];
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  // What the screen shows beside or below a figure: its interval, and over how many it is.
  const trust = ({ low, high, ns }, { field, cellRenderer }) => {
    const hasInterval = cellRenderer === "ScoreBar" && typeof low === "number";
    const basis = BASED.test(cellRenderer) && ns?.[field];
    return [hasInterval && `${low.toFixed(2)} to ${high.toFixed(2)}`, basis].filter(Boolean);
  };
  const write = (api, node, column) => {
    const field = column.getColDef().field;
    const value = node.data.texts?.[field] ?? api.getCellValue({ rowNode: node, colKey: column, useFormatter: true });
    const isScore = column.getColDef().cellRenderer === "Score" && typeof node.data[field] === "number";
    const text = isScore ? node.data[field].toFixed(2) : value;
    const notes = field === "score" ? (node.data.notes || []).map(([, note]) => note) : [];
    const cell = make("td", [text, ...notes].filter((part) => part != null && part !== "").join(", "));
    cell.classList.toggle("is-long", cell.textContent.length > LONGEST_FIGURE);
    cell.append(...trust(node.data, column.getColDef()).map((part) => make("small", part)));
    return cell;
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
  const fit = (chart) => {
    const { offsetWidth: width, offsetHeight: height } = chart;
    chart.style.setProperty("--printed-ratio", `${width} / ${height}`);
    for (const picture of chart.querySelectorAll(":scope > .main-svg")) {
      picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    }
  };
  const tellUnseen = (place) => {
    const note = make("p", UNSEEN);
    note.className = "printed";
    place.before(note);
    printed.push(note);
  };
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll(".grid[id]").forEach(lay);
    document.querySelectorAll(".js-plotly-plot .svg-container").forEach(fit);
    document.querySelectorAll(NOT_DRAWN).forEach(tellUnseen);
  });
  window.addEventListener("afterprint", () => {
    printed.forEach((part) => part.remove());
    for (const picture of document.querySelectorAll(".svg-container > .main-svg")) {
      picture.removeAttribute("viewBox");
    }
    printed = [];
  });
})();
