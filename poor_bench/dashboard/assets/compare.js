// Page Compare: a search or filter of the tests leaves what stands above them (`CompareUrl.head`).
(function () {
  "use strict";
  const names = new Set(["llm", "base", "class", "alike", "left", "right", "prompts", "table", "columns"]);
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const split = (search) => {
    const pairs = [...new URLSearchParams(search || "")];
    return [pairs.filter(([name]) => names.has(name)), pairs.filter(([name]) => !names.has(name))];
  };
  functions.compare = {
    keep_head: function (search, known) {
      const [head] = split(search);
      const [before, further] = split(known);
      if (JSON.stringify(head) === JSON.stringify(before)) {
        return window.dash_clientside.no_update;
      }
      return `?${new URLSearchParams([...head, ...further])}`;
    },
  };
})();
