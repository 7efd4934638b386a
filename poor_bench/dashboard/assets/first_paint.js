// The plain page that stands above the page being drawn (see web/first_paint.py): of the document, or
// of the page that a link leads to. It goes when the page itself is drawn.
(function () {
  "use strict";
  const LONGEST_MS = 10000;
  const DRAWN = `.ag-row, .test-row, .cause, .tests-sheet, .llm-table, .empty-state, .run-table,
    [data-page="/judge"] .sheet, [data-page="/suites"] .sheet`;
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const COVERED = "data-covered"; // the document has it on what its own sketch covers
  let sketch = null;

  const isComputing = (page) => page?.querySelector(".loading-state");
  // A table gives its columns their share of its width some frames after it has drawn the rows.
  const isLaidOut = (grid) => {
    const columns = window.dash_ag_grid.getApi(grid.id).getAllDisplayedColumns();
    const width = columns.reduce((sum, column) => sum + column.getActualWidth(), 0);
    return width <= grid.clientWidth || !columns.some((each) => each.getFlex() && each.getActualWidth() > each.getMinWidth());
  };
  const isDrawn = (path) => {
    const page = document.querySelector(`#react-entry-point [data-page="${path}"]`);
    const isFilled = page?.querySelector(DRAWN) && !page.querySelector(".tiles-frame > .loading-state");
    return isFilled || (isComputing(sketch) && isComputing(page)) || document.querySelector("#react-entry-point .problems > *");
  };
  const end = () => {
    sketch?.remove();
    sketch = null;
    document.querySelectorAll(`[${COVERED}]`).forEach((each) => each.removeAttribute(COVERED));
    watcher.disconnect();
  };
  const endWhenLaidOut = (element) => {
    const grid = document.querySelector("#react-entry-point .grid:has(.ag-row)");
    if (sketch === element && (!grid || isLaidOut(grid))) {
      end();
    } else if (sketch === element) {
      window.requestAnimationFrame(() => endWhenLaidOut(element));
    }
  };
  const watcher = new MutationObserver(() => {
    if (isDrawn(sketch.dataset.firstPaint)) {
      watcher.disconnect();
      endWhenLaidOut(sketch);
    }
  });
  const begin = (element) => {
    sketch = element;
    watcher.observe(document.body, { childList: true, subtree: true, attributeFilter: ["data-page"] });
    window.setTimeout(() => sketch === element && end(), LONGEST_MS);
  };
  // A page in the background is not painted, and nobody waits for it.
  const painted = () =>
    new Promise((done) => {
      window.requestAnimationFrame(() => window.setTimeout(done));
      window.setTimeout(done, 100);
    });

  const ofDocument = document.querySelector("[data-first-paint]");
  if (ofDocument) {
    begin(ofDocument);
  }
  functions.first_paint = {
    end,
    // Shows a sketch and waits until it can be seen: what the page needs to be drawn comes after it.
    show: async function (html, path) {
      end();
      const page = document.getElementById("shell-page-main");
      const isLeft = window.location.pathname !== path;
      if (!html || isLeft || document.querySelector(`[data-page="${path}"]`)) {
        return;
      }
      document.body.insertAdjacentHTML("beforeend", html);
      document.body.lastElementChild.style.top = `${page.offsetTop}px`;
      page.setAttribute(COVERED, "");
      begin(document.body.lastElementChild);
      await painted();
    },
  };
})();
