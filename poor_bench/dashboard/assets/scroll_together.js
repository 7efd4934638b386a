// Columns of one group scroll together: each by its own share, as their texts differ in length.
(function () {
  "use strict";
  const follow = new WeakSet();
  const share = (column) => column.scrollTop / Math.max(1, column.scrollHeight - column.clientHeight);
  document.addEventListener(
    "scroll",
    (event) => {
      const column = event.target;
      const group = column.closest && column.closest("[data-scroll-group='answers']");
      if (!group || !column.classList.contains("answer-column-body")) {
        return;
      }
      if (follow.delete(column)) {
        return; // moved by another column, not by the reader
      }
      for (const other of group.querySelectorAll(".answer-column-body")) {
        const top = Math.round(share(column) * (other.scrollHeight - other.clientHeight));
        if (other !== column && Math.abs(other.scrollTop - top) > 1) {
          follow.add(other);
          other.scrollTop = top;
        }
      }
    },
    true,
  );
})();

// The heads of a heat map stay in view while the window scrolls: the frame that scrolls the map
// sideways keeps them at its own edge, which leaves the window.
(function () {
  "use strict";
  const bottom = (part) => part.getBoundingClientRect().bottom;
  const keep = () => {
    for (const frame of document.querySelectorAll(".heat-map-frame")) {
      const above = Math.max(0, ...[...document.querySelectorAll(".header, .connection-banner")].map(bottom));
      const { top, bottom: end } = frame.getBoundingClientRect();
      const hidden = end > above ? Math.max(0, above - top) : 0; // none: a picture of the whole page shows the map
      frame.style.setProperty("--heads-top", `${hidden}px`);
    }
  };
  document.addEventListener("scroll", keep, { capture: true, passive: true });
  window.addEventListener("resize", keep);
})();
