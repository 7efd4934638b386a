// Cells of tables. Text becomes text nodes only: nothing here makes HTML of a value.
(function () {
  "use strict";
  const cells = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  const element = window.React.createElement;
  const percent = (share) => `${(share * 100).toFixed(1)}%`;

  // Over how many tests or trials a figure is, below it.
  const basisOf = ({ data, colDef }) => {
    const basis = (data.ns || {})[colDef.field];
    return basis ? element("small", { className: "figure-n" }, basis) : null;
  };

  cells.Figure = function (params) {
    const text = (params.data.texts || {})[params.colDef.field];
    return text ? element("span", { className: "figure-cell" }, text, basisOf(params)) : "n/a";
  };

  cells.ScoreBar = function (params) {
    const { value, data } = params;
    if (value === null || value === undefined) {
      return "n/a";
    }
    const { low = value, high = value } = data;
    const interval = { left: percent(low), width: percent(Math.max(0, high - low)) };
    return element(
      "div",
      { className: "score-bar", title: `${low.toFixed(3)} to ${high.toFixed(3)}` },
      element("span", { className: "score-bar-value" }, value.toFixed(3)),
      element(
        "span",
        { className: "score-bar-track" },
        element("span", { className: "score-bar-fill", style: { width: percent(value) } }),
        element("span", { className: "score-bar-interval", style: interval })
      ),
      basisOf(params)
    );
  };

  cells.LatencySplit = function ({ value, data }) {
    if (value === null || value === undefined) {
      return "-";
    }
    const names = ["queue", "prompt", "generation", "other"];
    const parts = data.latency_parts.map((share, index) =>
      element("span", { key: index, className: `latency-${names[index]}`, style: { width: percent(share) } })
    );
    return element("div", { className: "latency", title: data.latency_text }, parts);
  };

  const badgesOf = (notes) =>
    (notes || []).map(([kind, text, meaning]) =>
      element("span", { key: kind, className: `trust-badge is-${kind}`, title: meaning }, text)
    );

  cells.Score = function ({ value, data }) {
    if (!data) {
      return null; // the row is loading: nobody knows yet
    }
    const badges = badgesOf(data.notes);
    if (value === null || value === undefined) {
      const failed = element("span", { className: "score-badge is-failed" }, "failed");
      return badges.length ? element("span", { className: "trust-badges" }, badges) : failed;
    }
    const style = { "--score": value.toFixed(3) };
    const score = element("span", { key: "score", className: "score-badge", style }, value.toFixed(2));
    return badges.length ? element("span", { className: "score-and-trust" }, score, badges) : score;
  };

  cells.TrustBadges = function ({ data }) {
    const badges = badgesOf(data.notes);
    if (badges.length && data.rerun) {
      const rerun = { key: "rerun", className: "trust-rerun", href: data.rerun, "data-page-link": "" };
      badges.push(element("a", rerun, "Re-run these"));
    }
    return element("span", { className: "trust-badges" }, badges);
  };

  // Most details are plain words, which the table draws by itself: Markdown is parsed in each row.
  const PLAIN = /^[\p{L}(][\p{L}\p{N} .,:;()'"%=/?…↵-]*$/u;
  const gridFunctions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  gridFunctions.chooseMarkdown = ({ value }) =>
    !value || PLAIN.test(value) ? undefined : { component: "markdown" };

  const nameOf = ({ value, data }) => {
    if (data.tip) {
      return element("span", { title: data.tip }, value);
    }
    const href = `/model?llm=${encodeURIComponent(data.id)}`;
    return element("a", { className: "model-link", href, "data-page-link": "" }, value);
  };
  const CARD_FACTS = 6;
  const textIn = (data, field) =>
    field === "latency_ms" ? data.latency_text : (data.texts || {})[field] || data[field];

  cells.ModelLink = function (params) {
    const columns = window.poor_bench.cardColumns(params.api);
    const known = columns.filter((column) => (textIn(params.data, column.getColId()) ?? "-") !== "-");
    if (!known.length) {
      return nameOf(params);
    }
    const facts = known.slice(0, CARD_FACTS).flatMap((column) => [
      element("dt", { key: `${column.getColId()}-name` }, column.getColDef().headerName),
      element("dd", { key: column.getColId() }, textIn(params.data, column.getColId())),
    ]);
    return element("div", { className: "row-card" }, nameOf(params), element("dl", null, facts));
  };
})();
