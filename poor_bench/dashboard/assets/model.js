// The filters of the model page as a query of its address; `pages/model/query.py` reads it.
(function () {
  "use strict";
  const names = ["llm", "class", "level", "think", "outcome", "text", "issue"];
  const functions = (window.dash_clientside = window.dash_clientside || {});
  functions.model = {
    collect: function (...controls) {
      const query = new URLSearchParams();
      names.forEach((name, index) => {
        for (const value of [controls[index] || []].flat()) {
          query.append(name, value);
        }
      });
      return query.has("llm") ? `?${query}` : window.dash_clientside.no_update;
    },
    // Passes the query on once the table has its rows: the chart and its script come after them.
    settle: function (_rows, search, settled) {
      return search && search !== settled ? search : window.dash_clientside.no_update;
    },
  };
})();
