// Links to other pages that are no components of Dash: the page changes without being loaded anew.
(function () {
  "use strict";
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-page-link]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      window.history.pushState({}, "", link.href);
      window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
      window.scrollTo(0, 0);
    }
  });
})();
