// Tells a store when its element comes into view: heavy charts are loaded only then, or to be printed.
(function () {
  "use strict";
  const attribute = "data-seen-store";
  const PATIENCE_MS = 20_000; // the charting library may have to be loaded first
  const told = new WeakSet();
  const show = (target) => {
    told.add(target);
    window.dash_clientside.set_props(target.getAttribute(attribute), { data: true });
  };
  const tell = (entries, observer) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      observer.unobserve(entry.target);
      show(entry.target);
    }
  };
  const observer = new IntersectionObserver(tell, { rootMargin: "120px" });
  const observeNew = () => {
    for (const target of document.querySelectorAll(`[${attribute}]:not([data-observed])`)) {
      target.setAttribute("data-observed", "");
      observer.observe(target);
    }
  };
  new MutationObserver(observeNew).observe(document.body, { childList: true, subtree: true });

  const findUntold = () => [...document.querySelectorAll(`[${attribute}]`)].filter((each) => !told.has(each));
  const isDrawn = (place) => place.querySelector(".main-svg") && !place.querySelector(".dash-graph--pending");
  const printDrawn = (places, until) => {
    if (places.every(isDrawn) || performance.now() > until) {
      window.print();
    } else {
      setTimeout(printDrawn, 100, places, until);
    }
  };
  // The menu of the browser tells only when paper is laid out: what it misses is there when it is used again.
  window.addEventListener("beforeprint", () => findUntold().forEach(show));
  document.addEventListener("keydown", (event) => {
    const isPrint = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "p";
    const places = isPrint ? findUntold() : [];
    if (places.length) {
      event.preventDefault();
      places.forEach(show);
      printDrawn(places, performance.now() + PATIENCE_MS);
    }
  });
})();
