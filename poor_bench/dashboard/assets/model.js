// The filters of the model page as a query of its address; `pages/model/query.py` reads it.
(function () {
  "use strict";
  const names = ["llm", "class", "level", "think", "outcome", "text", "issue"];
  const SETTLED_MS = 300;
  const functions = (window.dash_clientside = window.dash_clientside || {});
  let newest = 0;
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
    // Passes the query on once it stays the same for a moment: the table comes first, then the chart.
    settle: function (search) {
      newest += 1;
      const mine = newest;
      const { no_update: nothing } = window.dash_clientside;
      return new Promise((resolve) => {
        setTimeout(() => resolve(mine === newest && search ? search : nothing), SETTLED_MS);
      });
    },
  };
})();
