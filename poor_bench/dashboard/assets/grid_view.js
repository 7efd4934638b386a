// What the reader chose in a table, in the address: sorting, columns, page and rows on a page.
// `GridUrl` reads it. And the list in which columns are chosen.
(function () {
  "use strict";
  const NAMES = ["table-sort", "table-columns", "table-rows", "table-page"];
  const NARROW = 760; // as in 80-narrow.css
  const isNarrow = () => window.innerWidth < NARROW;
  const frameOf = (id) => {
    const grid = document.getElementById(id);
    return grid && grid.closest("[data-grid-view]");
  };
  const split = (text) => (text ? text.split(",") : []);

  const readSort = (state) => {
    const sorted = state.filter(({ sort }) => sort).sort((one, two) => one.sortIndex - two.sortIndex);
    return sorted.map(({ colId, sort }) => (sort === "desc" ? `-${colId}` : colId)).join(",");
  };
  // What the table shows now, empty where it is what the table starts with.
  const readView = (api, { gridFields, gridColumns, gridSort, gridRows, gridSqueezed }) => {
    const fields = new Set(split(gridFields));
    const state = api.getColumnState().filter(({ colId }) => fields.has(colId));
    const squeezed = new Set(split(gridSqueezed)); // where room is short: `assets/grid.js`
    const isChosen = ({ colId, hide }) => !hide || squeezed.has(colId);
    const shown = state.filter(isChosen).map(({ colId }) => colId).join(",");
    const sort = readSort(state);
    const isPaged = api.getGridOption("pagination");
    const rows = isPaged ? `${api.paginationGetPageSize()}` : gridRows;
    const page = isPaged ? api.paginationGetCurrentPage() + 1 : 1;
    return [
      sort === gridSort ? "" : sort || "none",
      shown === gridColumns ? "" : shown,
      rows === gridRows ? "" : rows,
      page > 1 ? `${page}` : "",
    ];
  };
  const keep = (values, store) => {
    const query = new URLSearchParams(window.location.search);
    const view = new URLSearchParams();
    NAMES.forEach((name, index) => {
      query.delete(name);
      if (values[index]) {
        query.set(name, values[index]);
        view.set(name, values[index]);
      }
    });
    window.dash_clientside.set_props(store, { data: `${view}` ? `?${view}` : "" });
    window.dash_clientside.address.go(`${query}` ? `?${query}` : "");
  };

  // In a narrow window the first cell of a row holds what the other columns would.
  const frameAround = (api) => {
    const root = api.isDestroyed() ? null : document.querySelector(`[grid-id="${api.getGridId()}"]`);
    return root && root.closest("[data-grid-view]");
  };
  const setCards = (api) => {
    const frame = frameAround(api);
    const squeezed = split(frame && frame.dataset.gridSqueezed);
    if (!frame || isNarrow() === squeezed.length > 0) {
      return;
    }
    if (isNarrow()) {
      api.setColumnsPinned(api.getColumns(), null); // no column moves, so the address stays
    }
    const fields = new Set(split(frame.dataset.gridFields));
    const shown = api.getColumns().filter((one) => one.isVisible() && !one.getColDef().lockVisible);
    const next = isNarrow() ? shown.map((one) => one.getColId()).filter((id) => fields.has(id)) : [];
    frame.dataset.gridSqueezed = next.join(",");
    api.setColumnsVisible(next, false);
    api.setColumnsVisible(squeezed, true);
    api.redrawRows();
  };
  const arranged = new WeakSet();
  const cardColumns = (api) => {
    if (!arranged.has(api)) {
      arranged.add(api);
      setTimeout(() => setCards(api), 0); // once the rows stand
      api.addEventListener("gridSizeChanged", () => setCards(api));
    }
    const frame = frameAround(api);
    const squeezed = split(frame && frame.dataset.gridSqueezed);
    return isNarrow() ? api.getColumns().filter((one) => squeezed.includes(one.getColId())) : [];
  };

  const turned = new WeakSet();
  const gridFunctions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  // The page that the address names, once there are rows to turn.
  gridFunctions.turnPage = ({ api }, id) => {
    const page = Number(new URLSearchParams(window.location.search).get("table-page") || 1);
    if (page > 1 && frameOf(id)) {
      api.paginationGoToPage(page - 1);
    }
    if (isNarrow()) {
      api.setColumnsPinned(api.getColumns(), null); // pinned ones would leave no room for others
    }
    turned.add(api);
  };
  gridFunctions.keepView = ({ api, type }, id) => {
    const frame = frameOf(id);
    const isEarly = type === "paginationChanged" && !turned.has(api);
    if (!frame || api.isDestroyed() || isEarly) {
      return;
    }
    const values = readView(api, frame.dataset);
    const query = new URLSearchParams(window.location.search);
    if (NAMES.some((name, index) => (query.get(name) || "") !== values[index])) {
      keep(values, frame.dataset.gridView);
    }
  };

  const { createElement: element, useState } = window.React;
  const listColumns = (api) =>
    api
      .getColumns()
      .filter((column) => column.getColDef().headerName)
      .map((column) => ({
        id: column.getColId(),
        name: api.getDisplayNameForColumn(column, "header"),
        isShown: column.isVisible(),
        isFixed: Boolean(column.getColDef().lockVisible),
      }));

  const ColumnChooser = ({ grid }) => {
    const [columns, setColumns] = useState([]);
    const withGrid = (act) =>
      window.dash_ag_grid.getApiAsync(grid).then((api) => {
        if (!api.isDestroyed()) {
          act(api);
          setColumns(listColumns(api));
        }
      });
    const choose = (id, isShown) => withGrid((api) => api.setColumnsVisible([id], isShown));
    const reset = () => {
      const fields = split(frameOf(grid).dataset.gridColumns);
      withGrid((api) =>
        api.applyColumnState({
          state: [
            ...fields.map((colId) => ({ colId, hide: false })),
            ...listColumns(api)
              .filter(({ id }) => !fields.includes(id))
              .map(({ id }) => ({ colId: id, hide: true })),
          ],
          applyOrder: true,
        })
      );
    };
    const line = ({ id, name, isShown, isFixed }) =>
      element(
        "label",
        { key: id },
        element("input", {
          type: "checkbox",
          checked: isShown,
          disabled: isFixed,
          onChange: (event) => choose(id, event.target.checked),
        }),
        name
      );
    return element(
      window.poor_bench.Dropdown,
      { title: "Columns", onOpen: () => withGrid(() => {}) },
      element("fieldset", null, element("legend", null, "Columns"), ...columns.map(line)),
      element("button", { type: "button", className: "choose-button", onClick: reset }, "Reset")
    );
  };
  window.poor_bench = Object.assign(window.poor_bench || {}, { ColumnChooser, cardColumns });
})();
