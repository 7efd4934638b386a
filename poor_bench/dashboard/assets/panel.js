// Brings the panel beside a list into view when it opens: it may stand below what is in sight.
(function () {
  "use strict";
  let shown = "";
  const look = () => {
    const title = document.querySelector(".details-title h2");
    const name = title ? title.textContent : "";
    if (name === shown) {
      return;
    }
    shown = name;
    const panel = title && title.closest(".details");
    const { top, bottom } = panel ? panel.getBoundingClientRect() : { top: 0, bottom: Infinity };
    if (panel && (top > window.innerHeight * 0.8 || bottom < window.innerHeight * 0.2)) {
      panel.parentElement.scrollIntoView();
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, characterData: true, subtree: true });
})();
