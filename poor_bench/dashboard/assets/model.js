// The filters of the model page as a query of its address; `ModelUrl` reads it.
(function () {
  "use strict";
  const names = ["llm", "class", "level", "think", "outcome", "text", "rating", "issue"];
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const { no_update } = window.dash_clientside;
  functions.model = {
    collect: function (...controls) {
      const query = new URLSearchParams();
      names.forEach((name, index) => {
        for (const value of [controls[index] || []].flat()) {
          query.append(name, value);
        }
      });
      return query.has("llm") ? `?${query}` : no_update;
    },
    // The address: the filters, and the trial that is open.
    show: function (search, selected) {
      if (!search) {
        return no_update;
      }
      const query = new URLSearchParams(search);
      if (selected) {
        const [test, trial, isFailure] = selected;
        query.append("test", test);
        if (trial > 1) {
          query.append("trial", trial);
        }
        if (isFailure) {
          query.append("failed", "1");
        }
      }
      return functions.address.show(`?${query}`);
    },
    // Here and at once: an answer of the server would be dropped if the selection changed meanwhile.
    select_row: function (rows) {
      const [row] = rows || [];
      return row ? [row.test_id, row.trial, row.is_failure] : no_update;
    },
    // The rating bar is about the result that the panel shows.
    rate: function (open, llm) {
      return open && llm ? [llm, open[0], open[1], open[2]] : null;
    },
    // Passes the query on once the table has its rows: the chart and its script come after them.
    settle: function (_rows, search, settled) {
      return search && search !== settled ? search : no_update;
    },
  };
})();
