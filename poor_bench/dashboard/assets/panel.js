// Brings the panel beside a list into view when it opens: it may stand below what is in sight, and
// what is drawn later above it may push it out again. It stays where the reader moves it.
(function () {
  "use strict";
  let shown = "";
  let isFollowed = false;
  const findTitle = () => document.querySelector(".details-title h2");
  const bring = () => {
    const title = isFollowed && findTitle();
    const panel = title && title.closest(".details");
    if (!panel) {
      return;
    }
    const { top } = title.getBoundingClientRect();
    if (top < 0 || top > window.innerHeight * 0.8) {
      panel.parentElement.scrollIntoView();
    }
  };
  const look = () => {
    const title = findTitle();
    // the panel of the next page may replace this one in one step, with the same title
    const opened = title ? `${title.closest("[id]").id} ${title.textContent}` : "";
    if (opened === shown) {
      return;
    }
    shown = opened;
    isFollowed = true;
    bring();
  };
  const release = () => {
    isFollowed = false;
  };
  for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"]) {
    window.addEventListener(moved, release, { capture: true, passive: true });
  }
  new ResizeObserver(bring).observe(document.body);
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, characterData: true, subtree: true });
})();
