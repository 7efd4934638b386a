// Links that only change what the page shows: the reader stays in place, the page's store changes
// and, with it, the address. Escape, J (next) and K (previous) follow the links that ask for them.
(function () {
  "use strict";
  const go = (link) => {
    const search = new URL(link.href).search;
    window.dash_clientside.set_props(link.getAttribute("data-stay-store"), { data: search });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-stay-store]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      go(link);
    }
  });
  const keys = { Escape: "escape", k: "previous", j: "next" };
  document.addEventListener("keydown", (event) => {
    const link = keys[event.key] && document.querySelector(`a[data-key="${keys[event.key]}"]`);
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    if (link && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      go(link);
    }
  });
})();
