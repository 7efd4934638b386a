// Page Compare: a search or filter of the tests leaves what stands above them (`CompareUrl.head`,
// `CompareUrl.class_head`).
(function () {
  "use strict";
  const head = ["llm", "base", "alike", "left", "right", "prompts", "table", "columns"];
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const split = (search, names) => {
    const pairs = [...new URLSearchParams(search || "")];
    return [pairs.filter(([name]) => names.includes(name)), pairs.filter(([name]) => !names.includes(name))];
  };
  const keep = (search, known, names) => {
    const [now] = split(search, names);
    const [before, further] = split(known, names);
    if (JSON.stringify(now) === JSON.stringify(before)) {
      return window.dash_clientside.no_update;
    }
    return `?${new URLSearchParams([...now, ...further])}`;
  };
  functions.compare = {
    keep_head: (search, known) => keep(search, known, head),
    keep_class_head: (_drawn, search, known) => keep(search, known, [...head, "class"]),
  };
})();
