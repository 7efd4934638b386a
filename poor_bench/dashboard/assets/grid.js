// Tables whose rows come from the server: ask for them again when filters or results change.
(function () {
  "use strict";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const rowId = ([testId, trial, isFailure]) => `${trial}${isFailure ? "f" : "s"}${testId}`;

  const openIn = (api) => (api.getGridOption("context") || {}).open;
  // Turns to the page of a row and scrolls to it, once the table knows that it has so many rows.
  const reveal = (api, open, place) => {
    if (api.isDestroyed() || openIn(api) !== open) {
      return true;
    }
    if (api.paginationGetRowCount() <= place) {
      return false;
    }
    api.paginationGoToPage(Math.floor(place / api.paginationGetPageSize()));
    api.ensureIndexVisible(place);
    return true;
  };
  const revealSoon = (api, open, place) => {
    if (!reveal(api, open, place)) {
      const again = () => {
        if (reveal(api, open, place)) {
          api.removeEventListener("modelUpdated", again);
        }
      };
      api.addEventListener("modelUpdated", again);
    }
  };

  // Rows that come after an answer without any can get lost within the component, which then waits
  // for them for ever, most of all where the browser is slow: they are asked for once more.
  const PAUSE_MS = 300;
  const watched = new WeakSet();
  const isLoading = (api) =>
    Object.values(api.getCacheBlockState()).some(({ pageStatus }) => pageStatus === "loading");
  const askOnceMoreAfterNone = (api) => {
    if (watched.has(api)) {
      return;
    }
    watched.add(api);
    let hadNone = false;
    let timer = null;
    const look = () => {
      if (api.isDestroyed()) {
        return;
      }
      hadNone = isLoading(api);
      if (hadNone) {
        api.refreshInfiniteCache();
      }
    };
    api.addEventListener("modelUpdated", () => {
      clearTimeout(timer);
      if (api.isDestroyed()) {
        return;
      }
      if (api.paginationGetRowCount() === 0) {
        hadNone = true;
      } else if (hadNone) {
        timer = setTimeout(look, PAUSE_MS);
      }
    });
  };

  // Hides the last of the chosen columns where not all have room; the address still names them.
  const fitColumns = (api) => {
    const root = api.isDestroyed() ? null : document.querySelector(`[grid-id="${api.getGridId()}"]`);
    const frame = root && root.closest("[data-grid-view]");
    if (!frame || !root.clientWidth) {
      return;
    }
    const squeezed = new Set((frame.dataset.gridSqueezed || "").split(","));
    const chosen = api.getAllGridColumns().filter((column) => column.isVisible() || squeezed.has(column.getColId()));
    let room = root.clientWidth;
    const isFull = chosen.map((column) => {
      const { width, minWidth, lockVisible } = column.getColDef();
      room -= minWidth || width || 0;
      return room < 0 && !lockVisible;
    });
    const first = isFull.indexOf(true);
    const hidden = chosen.filter((column, place) => first >= 0 && place >= first && !column.getColDef().lockVisible);
    frame.dataset.gridSqueezed = hidden.map((column) => column.getColId()).join(",");
    api.setColumnsVisible(chosen.filter((column) => !hidden.includes(column) && !column.isVisible()), true);
    api.setColumnsVisible(hidden.filter((column) => column.isVisible()), false);
  };

  const fitted = new WeakSet();
  const keepFitting = (api) => {
    if (!fitted.has(api)) {
      fitted.add(api);
      awaitRows(api);
      api.addEventListener("gridSizeChanged", () => fitColumns(api));
      api.addEventListener("firstDataRendered", () => fitColumns(api));
      fitColumns(api);
    }
  };

  // A row that was chosen while it was loading is selected once it is there.
  const waiting = new WeakMap(); // table to the place of that row
  const selectWaiting = (api) => {
    const node = waiting.has(api) && api.getDisplayedRowAtIndex(waiting.get(api));
    if (node && node.data) {
      waiting.delete(api);
      node.setSelected(true, true);
    }
  };
  const awaitRows = (api) => {
    api.addEventListener("rowClicked", ({ node }) =>
      node.data ? waiting.delete(api) : waiting.set(api, node.rowIndex)
    );
    api.addEventListener("paginationChanged", () => waiting.delete(api));
    api.addEventListener("modelUpdated", () => selectWaiting(api));
  };

  functions.grid = {
    mark_open: function (trial) {
      const { outputs_list } = window.dash_clientside.callback_context;
      const open = trial ? rowId(trial) : null;
      window.dash_ag_grid.getApiAsync(outputs_list.id).then((api) => {
        if (api.isDestroyed()) {
          return;
        }
        keepFitting(api);
        if (api.getSelectedNodes().some((node) => node.id !== open)) {
          api.deselectAll();
        }
        const isOther = openIn(api) !== open;
        api.setGridOption("context", { open });
        api.redrawRows();
        if (trial && isOther && trial[3] !== null) {
          revealSoon(api, open, trial[3]);
        }
      });
      return window.dash_clientside.no_update;
    },
    ask_again: function () {
      const { outputs_list, triggered } = window.dash_clientside.callback_context;
      const isOnlyNewer = triggered.length === 1 && triggered[0].prop_id.startsWith("shell-version");
      window.dash_ag_grid.getApiAsync(outputs_list.id).then((api) => {
        if (api.isDestroyed()) {
          return;
        }
        askOnceMoreAfterNone(api);
        const isOneBlock = Object.keys(api.getCacheBlockState()).length <= 1;
        if (!isOnlyNewer) {
          api.deselectAll();
          api.paginationGoToFirstPage();
        }
        // Refreshed rows are replaced where they stand, which is faster than taking all away first.
        if (isOnlyNewer || isOneBlock) {
          api.refreshInfiniteCache();
        } else {
          api.purgeInfiniteCache();
        }
      });
      return window.dash_clientside.no_update;
    },
  };
})();
