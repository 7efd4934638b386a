// Removes the plain page of the document (see web/first_paint.py) when the page itself is drawn.
(function () {
  "use strict";
  const sketch = document.querySelector("[data-first-paint]");
  if (!sketch) {
    return;
  }
  const LONGEST_MS = 10000;
  const DRAWN = "main .ag-row, main .test-row, main .empty-state, .problems > *";
  const end = () => {
    sketch.remove();
    watcher.disconnect();
  };
  const watcher = new MutationObserver(() => {
    if (document.querySelector(`#react-entry-point :is(${DRAWN})`)) {
      end();
    }
  });
  watcher.observe(document.body, { childList: true, subtree: true });
  window.setTimeout(end, LONGEST_MS);
})();
