// Pages ask for news by clocks (dcc.Interval). Dash throws an answer away once the same question is
// asked again: of a server that is slower than a clock, as on a machine that a model keeps busy, no
// answer would ever be shown. A clock that is due while an answer is awaited therefore ticks after it.
// An answer is awaited until all of it has come: on a busy machine its body comes long after its head.
// For a file nobody waits: it may take minutes, and no clock asks for it.
(function () {
  "use strict";
  const READING_MS = 50; // Dash still parses an answer that has just come
  const OF_FILE = /"output":"[a-z]+-file-download\./; // see table_files.py
  const ask = window.fetch.bind(window);
  const repeat = window.setInterval.bind(window);
  const forget = window.clearInterval.bind(window);
  const due = new Map();
  let nOpen = 0;

  const close = () => {
    nOpen -= 1;
    const ticks = nOpen === 0 ? [...due.values()] : [];
    ticks.forEach((tick) => tick());
  };

  const receive = async (answer) => {
    const body = await answer.arrayBuffer();
    return new Response(body.byteLength ? body : null, answer); // status and headers are the same
  };

  window.fetch = (address, options) => {
    const isAnswer = typeof address === "string" && address.includes("/_dash-update-component");
    if (!isAnswer || OF_FILE.test(options?.body)) {
      return ask(address, options);
    }
    nOpen += 1;
    return ask(address, options).then(receive).finally(() => window.setTimeout(close, READING_MS));
  };

  window.setInterval = (act, ms, ...more) => {
    const tick = () => {
      due.delete(id);
      act(...more);
    };
    const id = repeat(() => (nOpen > 0 ? due.set(id, tick) : tick()), ms);
    return id;
  };

  window.clearInterval = (id) => {
    due.delete(id);
    forget(id);
  };

  // A tab that has news tells the other tabs of the browser, which ask at once. What one of them
  // then finds it tells nobody, or two tabs would keep each other busy; nor is anything told while
  // a run goes on, as there are news all the time and clocks ask often.
  const AT_REST_MS = 4000; // CLOCK_IDLE_MS of page.py
  const tabs = new BroadcastChannel("poor_bench-news");
  const functions = (window.dash_clientside = window.dash_clientside || {});
  let known = null;
  let isTold = false;
  tabs.onmessage = ({ data }) => {
    if (known !== null && data !== known) {
      isTold = true;
      window.dash_clientside.set_props("shell-clock-interval", { n_intervals: Date.now() });
    }
  };
  functions.clocks = {
    tell: (version, pause) => {
      if (version && known !== null && !isTold && pause >= AT_REST_MS) {
        tabs.postMessage(version);
      }
      known = version;
      isTold = false;
      return window.dash_clientside.no_update;
    },
  };
})();
