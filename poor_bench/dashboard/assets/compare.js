// Page Compare: a search or filter of the tests leaves what stands above them (`CompareUrl.head`).
(function () {
  "use strict";
  const names = new Set(["llm", "base", "class", "alike", "left", "right", "prompts", "table"]);
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const pick = (search) => [...new URLSearchParams(search || "")].filter(([name]) => names.has(name));
  functions.compare = {
    keep_head: function (search, known) {
      const head = pick(search);
      if (JSON.stringify(head) === JSON.stringify(pick(known))) {
        return window.dash_clientside.no_update;
      }
      return `?${new URLSearchParams([...head, ["page", "2"], ["test", "-"]])}`;
    },
  };
})();
