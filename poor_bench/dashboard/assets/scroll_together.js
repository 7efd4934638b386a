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
