// The filters of the model page as a query of its address; `ModelUrl` reads it.
(function () {
  "use strict";
  const names = [
    "llm", "class", "level", "think", "outcome", "cause", "min_score", "max_score", "min_s", "max_s",
    "stale", "rating", "text", "issue",
  ];
  const further = ["think", "cause", "min_score", "max_score", "min_s", "max_s", "stale", "rating"];
  const isSet = (value) => value !== null && value !== undefined && value !== "";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const same = () => window.dash_clientside.no_update; // Dash defines it with its first call
  functions.model = {
    collect: function (...controls) {
      const query = new URLSearchParams();
      names.forEach((name, index) => {
        for (const value of [controls[index]].flat().filter(isSet)) {
          query.append(name, value);
        }
      });
      return query.has("llm") ? `?${query}` : same();
    },
    // The address: the filters, the order of classes, and the trial that is open.
    show: function (search, order, selected) {
      if (!search) {
        return same();
      }
      const query = new URLSearchParams(search);
      new URLSearchParams(order || "").forEach((value, name) => query.append(name, value));
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
    count_more: function (search) {
      const query = new URLSearchParams(search || "");
      const n = further.filter((name) => query.has(name)).length;
      return n ? `More filters (${n})` : "More filters";
    },
    // A cell of the summary: its class and level become the filters.
    drill: function (place) {
      if (!place) {
        return [same(), same()];
      }
      const query = new URLSearchParams(place);
      return [query.getAll("class"), query.getAll("level")];
    },
    // Here and at once: an answer of the server would be dropped if the selection changed meanwhile.
    select_row: function (rows) {
      const [row] = rows || [];
      return row ? row.key : same();
    },
    // The rating bar is about the result that the panel shows.
    rate: function (open, llm) {
      return open && llm ? [llm, open[0], open[1], open[2]] : null;
    },
    // Passes the query on once the table has its rows: the chart and its script come after them, and
    // an open panel, whose place among the rows is another one, as it is after a sort.
    settle: function (_rows, _sort, search, settled, selected, follow) {
      const { triggered } = window.dash_clientside.callback_context;
      const isSorted = triggered.some(({ prop_id: id }) => id === "model-sort-store.data");
      const isNew = search && search !== settled;
      const isMoved = settled && selected && (isNew || isSorted);
      return [isNew ? search : same(), isMoved ? (follow || 0) + 1 : same()];
    },
  };
})();
