// Tables whose rows come from the server: ask for them again when filters or results change.
(function () {
  "use strict";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const rowId = ([testId, trial, isFailure]) => `${trial}${isFailure ? "f" : "s"}${testId}`;

  functions.grid = {
    mark_open: function (selected) {
      const { outputs_list } = window.dash_clientside.callback_context;
      const open = selected ? rowId(selected) : null;
      window.dash_ag_grid.getApiAsync(outputs_list.id).then((api) => {
        if (api.getSelectedNodes().some((node) => node.id !== open)) {
          api.deselectAll();
        }
        api.setGridOption("context", { open });
        api.redrawRows();
      });
      return window.dash_clientside.no_update;
    },
    ask_again: function () {
      const { outputs_list, triggered } = window.dash_clientside.callback_context;
      const isOnlyNewer = triggered.length === 1 && triggered[0].prop_id.startsWith("shell-version");
      window.dash_ag_grid.getApiAsync(outputs_list.id).then((api) => {
        if (isOnlyNewer) {
          api.refreshInfiniteCache();
        } else {
          api.deselectAll();
          api.purgeInfiniteCache();
        }
      });
      return window.dash_clientside.no_update;
    },
  };
})();
